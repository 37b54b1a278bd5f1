"""Each format that is read, on small files written here: what is taken from it."""

import gzip
import io
import json
import math
import zipfile
from dataclasses import replace

import evaluated
import pytest

import sigtest
from sigtest.comparison.comparison import parse_comparison
from sigtest.errors import InputError
from sigtest.files.file import File
from sigtest.files.folders import EvalSet
from sigtest.files.gathering import read_bytes, read_path
from sigtest.files.join import Joining, join
from sigtest.files.material import metrics_of
from sigtest.files.registry import FORMATS_READ, format_of

SOURCES = ["Das ist Haus eins.", "Das ist Haus zwei.", "Das ist Haus drei."]
REFERENCES = ["This is house one.", "This is house two.", "This is house three."]
OUTPUTS = {
    "aspen": ["This is house one.", "That is house two.", "This is house three."],
    "birch": ["This is a house.", "This is two.", "Three."],
}
SCORES = {"aspen": [0.9, 0.8, 0.7], "birch": [0.5, 0.0, -0.0]}


def sgml(kind, lines, system="ref", doc="d1"):
    segments = "\n".join(f'<seg id="{i}"> {line} </seg>' for i, line in enumerate(lines, 1))
    return (
        f'<{kind} setid="t" srclang="de" trglang="en">\n<DOC sysid="{system}" sysid="x" '
        f'docid="{doc}" genre="news">\n<hl>\n{segments}\n</hl>\n</DOC>\n</{kind}>\n'
    )


def jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def lm_rows(**metrics):
    return [
        {"doc_id": i, "doc": {"q": i}, "target": "x", "arguments": [], "resps": [["x"]],
         "filtered_resps": ["x"], "doc_hash": f"h{i}", **{m: v[i] for m, v in metrics.items()}}
        for i in range(3)
    ]  # fmt: skip


def inspect_log(**changes):
    samples = [
        {"id": i, "epoch": epoch, "scores": {"match": {"value": value}}}
        for epoch, values in ((1, "CIP"), (2, "CCN"))
        for i, value in reversed(list(enumerate(values, 1)))
    ]
    return {
        "version": 2, "status": "success", "plan": {}, "samples": samples,
        "eval": {"task": "arc", "model": "org/elm"}, **changes,
    }  # fmt: skip


def packed(log):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", "{}")
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", "{}")
        archive.writestr("summaries.json", json.dumps(log["samples"]))
        archive.writestr(
            "header.json", json.dumps({k: v for k, v in log.items() if k != "samples"})
        )
    return data.getvalue()


PLAIN = "".join(f"{line}\n" for line in OUTPUTS["aspen"])
COMET = {
    f"out/{name}.en": [
        {"src": s, "mt": o, "ref": r, "COMET": v}
        for s, o, r, v in zip(SOURCES, OUTPUTS[name], REFERENCES, SCORES[name], strict=True)
    ]
    for name in OUTPUTS
}
COMET_TEXT = "".join(
    f"out/{name}.en\tSegment {i}\tscore: {SCORES[name][i]:.4f}\n"
    for i in range(3)
    for name in SCORES
) + "".join(f"out/{n}.en\tscore: {sum(v) / 3:.4f}\n" for n, v in SCORES.items())
COMPARE = {
    "model": "m", "statistical_results": [], "source": SOURCES, "reference": REFERENCES,
    "translations": [{"name": f"{n}.en", "mt": OUTPUTS[n], "scores": SCORES[n]} for n in OUTPUTS],
}  # fmt: skip
ROWS = [
    {"id": f"q{i}", "system": name, "metric": "comet", "score": SCORES[name][i]}
    for i in (2, 0, 1)
    for name in SCORES
]
CSV = "id,system,metric,score\n" + "".join(
    f"{row['id']},{row['system']},comet,{row['score']}\n" for row in ROWS
)
WMT25 = [
    {"doc_id": f"de-en_#_news_#_{name}", "hypothesis": "\n\n".join(lines)}
    for name, lines in (("d1", OUTPUTS["aspen"][:2]), ("d2", ["Line\nbreak."]))
]
WMT25_SCORES = [
    {"language_pair": "de-en", "domain": "speech", "document_id": "x1",
     "metric_scores": {"chrF": [50, 60], "MetricX": [-1.5, None]}}
]  # fmt: skip
XML = (
    '<?xml version="1.0" encoding="utf8"?>\n<dataset id="t"><doc id="d1" origlang="de">'
    '<src lang="de"><p><seg id="1">Häuser</seg></p></src>'
    '<hyp system="aspen" lang="en"><p><seg id="1">Houses</seg></p></hyp></doc></dataset>'
)

# format: (name of the file, content)
FILES = {
    "wmt-xml": ("t.xml", XML),
    "sgml": ("aspen.sgm", sgml("tstset", OUTPUTS["aspen"], "aspen")),
    "wmt25": ("aspen.jsonl", jsonl(WMT25)),
    "inspect-json": ("log.json", json.dumps(inspect_log())),
    "lm-eval": ("samples_arc_2025-01-01T00-00-00.1.jsonl", jsonl(lm_rows(acc=[1.0, 0.0, 1]))),
    "comet-json": ("comet.json", json.dumps(COMET, indent=4)),
    "comet-compare": ("compare.json", json.dumps(COMPARE)),
    "comet-text": ("comet.txt", COMET_TEXT),
    "sacrebleu-sentences": ("aspen.txt", "".join(f"BLEU|nrefs:1 = {i}.5 1/2\n" for i in range(3))),
    "meteor": ("meteor-seg.scr", "".join(f"t\taspen\td1\t{i}\t0.{i}\n" for i in (1, 2, 3))),
    "seg-score": ("de-en.ESA.seg.score", "aspen\t80\naspen\tNone\nbirch\t0\nbirch\t70.5\n"),
    "split": (
        "table.json",
        json.dumps({"columns": ["id", "bleu"], "data": [["q1", 0.5], ["q2", 0.7]]}, indent=1),
    ),
    "trn": ("aspen.trn", "aspen elm (spk-utt_1)\nbirch oak (spk-utt_2)\n"),
    "columns": ("comet.csv", CSV),
    "numbers": ("aspen.num", "0.5\n0\nNone\n"),
    "text-columns": ("both.tsv", "a b c\td e\nf\tg\nh\ti\n"),
    "text": ("aspen.en", PLAIN),
    **evaluated.FILES,
}


@pytest.mark.parametrize("name", FORMATS_READ)
def test_a_format_is_recognised_by_its_content(name):
    file, content = FILES[name]
    assert format_of(File(file, content.encode())).name == name
    assert format_of(File("upload", content.encode())).name == name


@pytest.mark.parametrize("name", FORMATS_READ)
def test_gzip_a_mark_and_windows_line_ends_change_nothing(name):
    file, content = FILES[name]
    found = read_bytes(content.encode(), file)
    assert read_bytes(gzip.compress(content.encode()), f"{file}.gz") == found
    assert read_bytes(b"\xef\xbb\xbf" + content.encode(), file) == found
    assert read_bytes(content.replace("\n", "\r\n").encode(), file) == found


def tables(material):
    return {(s.system, s.label): s.runs for s in material.scores}


def test_sgml_brings_texts_by_document_and_segment():
    found = read_bytes(
        sgml("tstset", [*OUTPUTS["birch"], "a &amp; b &quot;"], "birch").encode(), "b"
    )
    assert found.systems == (("birch", ((*OUTPUTS["birch"], 'a & b "'),)),)
    assert found.ids == ("d1#1", "d1#2", "d1#3", "d1#4")
    assert found.labels == ("news",) * 4
    source = read_bytes(sgml("srcset", SOURCES).encode(), "s")
    reference = read_bytes(sgml("refset", REFERENCES).encode(), "r")
    output = read_bytes(sgml("tstset", OUTPUTS["aspen"], "aspen").encode(), "a")
    joined = join([source, reference, output])
    assert joined.sources == tuple(SOURCES)
    assert joined.references == (tuple(REFERENCES),)
    assert dict(joined.systems)["aspen"] == (tuple(OUTPUTS["aspen"]),)


def test_sgml_joins_plain_lines_by_its_order():
    reference = read_bytes(sgml("refset", REFERENCES).encode(), "r")
    output = read_bytes(PLAIN.encode(), "aspen.en").as_systems("aspen")
    joined = join([reference, output])
    assert joined.ids == ("d1#1", "d1#2", "d1#3")
    assert joined.systems == (("aspen", (tuple(OUTPUTS["aspen"]),)),)


BAD_SGML = {
    "segment not closed": ('<seg id="2"> ', '<seg id="2"> x <seg id="9">', "segment '2' is not"),
    "segment twice": ('<seg id="2">', '<seg id="1">', "segment '1' of document 'd1' twice"),
    "no segment id": ('<seg id="2">', "<seg>", "segment without id"),
    "no document id": ('docid="d1"', "", "document without id"),
    "cut": ("</seg>\n</hl>\n</DOC>\n</tstset>\n", "", "ends within a segment"),
    "no end of the document": ("</DOC>\n</tstset>\n", "", "ends within a document"),
    "entities": ("<tstset", '<!DOCTYPE x [<!ENTITY a "b">]>\n<tstset', "declares entities"),
    "no segments": ("seg", "sog", "without segments"),
    "CDATA": ('<seg id="2"> ', '<seg id="2"> <![CDATA[', "CDATA, which is not read"),
}


@pytest.mark.parametrize(("old", "new", "part"), BAD_SGML.values(), ids=BAD_SGML)
def test_bad_sgml_is_one_message(old, new, part):
    content = sgml("tstset", OUTPUTS["aspen"], "aspen").replace(old, new)
    with pytest.raises(InputError) as raised:
        read_bytes(content.encode(), "x.sgm")
    assert part in str(raised.value)
    assert "x.sgm" in str(raised.value)


def test_references_of_one_sgml_file_are_told_apart_by_refid():
    """As mteval-v13a's own example has them."""
    sets = [sgml("refset", lines).replace('sysid="ref" sysid="x" ', "") for lines in (["a"], ["b"])]
    content = "".join(
        text.replace("<refset", f'<refset refid="ref{i}"') for i, text in enumerate(sets)
    )
    found = read_bytes(f"<mteval>{content}</mteval>".encode(), "refs.xml")
    assert found.references == (("a",), ("b",))


def test_submissions_in_xml_join_references_in_another_file():
    reference = XML.replace("<hyp ", '<ref lang="en" translator="A"><p><seg id="1">H</seg></p>'
                            "</ref><hyp ").replace("aspen", "birch")  # fmt: skip
    joined = join([read_bytes(reference.encode(), "r.xml"), read_bytes(XML.encode(), "h.xml")])
    assert joined.references == (("H",),)
    assert joined.sources == ("Häuser",)
    assert [name for name, _ in joined.systems] == ["birch", "aspen"]


def test_wmt25_segments_are_paragraphs_with_the_same_ids_everywhere():
    found = read_bytes(FILES["wmt25"][1].encode(), "deep/aspen.jsonl")
    assert found.systems == (("aspen", ((*OUTPUTS["aspen"][:2], "Line break."),)),)
    assert found.ids == (
        "de-en_#_news_#_d1 1/2", "de-en_#_news_#_d1 2/2", "de-en_#_news_#_d2 1/1"
    )  # fmt: skip
    assert found.testsets == ("de-en",) * 3
    assert found.labels == ("news",) * 3
    scores = read_bytes(jsonl(WMT25_SCORES).encode(), "aspen.jsonl")
    assert tables(scores) == {
        ("aspen", "chrF"): ((50.0, 60.0),),
        ("aspen", "MetricX"): ((-1.5, None),),
    }
    speech = jsonl([{"doc_id": "de-en_#_speech_#_vid_x1", "hypothesis": "a\n\nb"}])
    assert read_bytes(speech.encode(), "a").ids == scores.ids
    testset = {"doc_id": "de-en_#_speech_#_vid_x1", "src_text": "a\n\nb",
               "refs": {"refA": {"ref": "c\n\nd"}}}  # fmt: skip
    found = read_bytes(jsonl([testset]).encode(), "t.jsonl")
    assert (found.sources, found.references, found.ids) == (("a", "b"), (("c", "d"),), scores.ids)
    testset["refs"]["refA"]["ref"] = "c"
    with pytest.raises(InputError, match="'source': 2, 'reference refA': 1"):
        read_bytes(jsonl([testset]).encode(), "t.jsonl")


def test_documents_cut_differently_share_no_paragraph():
    three = [{**WMT25[0], "hypothesis": "a\n\nb\n\nc"}, WMT25[1]]
    parts = [read_bytes(jsonl(rows).encode(), name) for name, rows in (("a", WMT25), ("b", three))]
    with pytest.raises(InputError, match="d1 1/2"):
        join(parts)
    joined = join(parts, how=Joining(missing="drop"))
    assert joined.ids == ("de-en_#_news_#_d2 1/1",)
    assert "dropped" in joined.notes[0]


@pytest.mark.parametrize("name", ["comet-json", "comet-compare", "comet-text"])
def test_comet_in_all_its_forms_brings_the_same_scores(name):
    found = read_bytes(FILES[name][1].encode(), FILES[name][0])
    assert tables(found) == {(n, "COMET"): (tuple(v),) for n, v in SCORES.items()}
    assert all(scores.higher_is_better for scores in found.scores)
    if name != "comet-text":
        assert found.references == (tuple(REFERENCES),)
        assert found.sources == tuple(SOURCES)
        assert dict(found.systems)["birch"] == (tuple(OUTPUTS["birch"]),)


def test_a_line_of_comet_score_that_is_gone_shows_in_the_mean():
    gone = COMET_TEXT.replace("out/aspen.en\tSegment 2\tscore: 0.7000\n", "")
    with pytest.raises(InputError, match="no line for Segment 2"):
        read_bytes(gone.encode(), "comet.txt")
    with pytest.raises(InputError, match=r"mean 0\.8333, its own line says 0\.8000"):
        read_bytes(COMET_TEXT.replace("0.7000", "0.8000").encode(), "comet.txt")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"COMET": None}, "'aspen' has no 'COMET' score for 1 of 3 segments (segment 2)"),
        ({"COMET": "0.8x"}, "entry 2 of 'out/aspen.en', column 'COMET': '0.8x' is not a number"),
        ({}, "comet.json: no segments of 'out/aspen.en'"),
    ],
)
def test_what_comet_score_did_not_score_is_told(change, said):
    first, second, third = COMET["out/aspen.en"]
    entries = [first, second | change, third] if change else []
    content = json.dumps(COMET | {"out/aspen.en": entries}).encode()
    with pytest.raises(InputError) as error:
        join([read_bytes(content, "comet.json")], Joining(wanted={"comet": 0}))
    assert said in str(error.value)


def test_segment_scores_tell_missing_from_zero_and_are_named_by_the_file():
    found = read_bytes(FILES["seg-score"][1].encode(), "x/de-en.ESA.seg.score")
    assert tables(found) == {("aspen", "ESA"): ((80.0, None),), ("birch", "ESA"): ((0.0, 70.5),)}
    assert found.ids is None
    with pytest.raises(InputError, match="'aspen' has no 'ESA' score for 1 of 2"):
        join([found])
    joined = join([found], how=Joining(missing="drop"))
    assert tables(joined)[("birch", "ESA")] == ((0.0,),)
    assert "1 of 2 segments are dropped" in joined.notes[0]


def test_words_with_a_whole_number_are_text_unless_the_name_says_that_they_are_scores():
    data = b"Chapter 1\nChapter 2\nChapter 3\n"
    assert read_bytes(data, "reference.txt").texts == (("Chapter 1", "Chapter 2", "Chapter 3"),)
    (found,) = read_bytes(data, "de-en.X.seg.score").scores
    assert (found.system, found.values) == ("Chapter", (1, 2, 3))


def test_words_with_fractions_are_segment_scores():
    (found,) = read_bytes(b"aspen 0.5\naspen 1\naspen -0.25\n", "x.txt").scores
    assert (found.system, found.values) == ("aspen", (0.5, 1, -0.25))


def test_a_wrong_segment_score_behind_an_empty_line_is_named_with_its_line():
    with pytest.raises(InputError, match=r"line 4.*'1/2'"):
        read_bytes(b"aspen\t0.5\n\naspen\t1\naspen\t1/2\n", "de-en.X.seg.score")


def test_segment_scores_of_models_of_hubs_are_called_as_files_of_theirs():
    found = read_bytes(b"org/big\t1.5\norg/big\t2\nB\t3\nB\t4\n", "de-en.X.seg.score")
    assert tables(found) == {("org__big", "X"): ((1.5, 2.0),), ("B", "X"): ((3.0, 4.0),)}


def test_every_system_tells_which_of_its_segments_made_others_drop():
    rows = {"A": range(60), "B": range(6, 60), "C": range(50)}
    table = "".join(f"q{i},{name},{i % 7}\n" for name, own in rows.items() for i in own)
    whole = read_bytes(f"id,system,score\n{table}".encode(), "long.csv")
    (note,) = (n for n in join([whole], how=Joining(missing="drop")).notes if "dropped" in n)
    assert note == (
        "16 of 60 segments are dropped for all systems because something is missing: "
        "system 'B' has no 'long' score for 6 ('q0', 'q1', 'q2' and 3 more); "
        "system 'C' has no 'long' score for 10 ('q50', 'q51', 'q52' and 7 more); "
        "44 are compared."
    )


def test_two_files_of_one_name_both_tell_what_was_dropped():
    texts = ("id,system,score\n1,A,1\n2,A,0\n3,A,1\n", "id,system,score\n2,B,1\n3,B,0\n9,B,0\n")
    parts = [read_bytes(text.encode(), "scores.csv") for text in texts]
    (note,) = join(parts, how=Joining(missing="drop")).notes
    assert "1 of scores.csv ('1'); 1 of scores.csv ('9'); 2 are compared" in note


@pytest.mark.parametrize("text", ["nan", "NaN", "None", "", "N/A", "n.a.", "null", "-"])
def test_words_for_missing_scores_are_no_zeros(text):
    found = read_bytes(f"0\n{text}\n0.5\n".encode(), "aspen.num")
    assert tables(found) == {("aspen", "scores"): ((0.0, None, 0.5),)}


def test_numbers_may_be_tuples():
    found = read_bytes(b"[1, 2]\n[3, 4]\n", "aspen.num")
    assert tables(found) == {("aspen", "scores"): (((1.0, 2.0), (3.0, 4.0)),)}
    assert read_bytes(b"1\t2\n3\t4\n", "aspen.num") == found
    assert tables(read_bytes(b"[1, null,\n3]\n", "a")) == {("a", "scores"): ((1.0, None, 3.0),)}


def test_lm_eval_reads_the_model_and_directions_beside_the_samples(tmp_path):
    time = "2025-01-01T00-00-00.1"
    results = {
        "results": {}, "configs": {}, "versions": {}, "model_name": "org/elm",
        "higher_is_better": {"arc": {"acc": True, "mae": False}},
        "n-samples": {"arc": {"effective": 3}},
    }  # fmt: skip
    rows = lm_rows(acc=[1.0, 0, True], mae=[0.5, 1.5, float("nan")], f1=[["a", "b"]] * 3)
    for row in rows:
        row |= {"metrics": ["acc", "mae", "f1"], "filter": "none"}
    (tmp_path / f"samples_arc_{time}.jsonl").write_text(jsonl(rows))
    (tmp_path / f"results_{time}.json").write_text(json.dumps(results))
    (tmp_path / "results_2024-01-01T00-00-00.1.json").write_text("{}")
    found = read_path(tmp_path / f"samples_arc_{time}.jsonl")
    assert tables(found) == {
        ("org__elm", "acc"): ((1.0, 0.0, 1.0),),
        ("org__elm", "mae"): ((0.5, 1.5, None),),
    }
    assert [scores.higher_is_better for scores in found.scores] == [True, False]
    assert (found.ids, found.testsets) == (("0", "1", "2"), ("arc",) * 3)
    assert "f1 is no number for single items" in found.notes[0]
    assert read_path(tmp_path) == found


def test_logs_of_several_tasks_are_several_test_sets(tmp_path):
    """Each task counts its items from 0: what is under one id is not the same item."""
    for task, items in (("arc", 3), ("boolq", 2)):
        rows = [
            row | {"doc_hash": f"{task}{row['doc_id']}"} for row in lm_rows(acc=[1, 0, 1])[:items]
        ]
        for model in ("org__elm", "org__oak"):
            (tmp_path / model).mkdir(exist_ok=True)
            name = f"samples_{task}_2025-01-01T00-00-00.1.jsonl"
            (tmp_path / model / name).write_text(jsonl(rows))
    with pytest.raises(InputError, match=r"2 test sets \('arc', 'boolq'\).*--testset"):
        read_path(tmp_path)
    assert len(read_path(tmp_path, how=Joining(testset="boolq"))) == 2


def test_lm_eval_names_filters_where_there_are_several():
    rows = [
        row | {"filter": name, "metrics": ["em"]}
        for name in ("strict", "flexible")
        for row in lm_rows(em=[0, 1, name == "strict"])
    ]
    found = read_bytes(jsonl(rows).encode(), "elm.jsonl")
    assert tables(found) == {
        ("elm", "em,strict"): ((0.0, 1.0, 1.0),),
        ("elm", "em,flexible"): ((0.0, 1.0, 0.0),),
    }


def test_logged_log_likelihoods_are_the_perplexities_of_the_harness(tmp_path):
    # lm_eval/api/metrics.py: perplexity exp(-mean(items)), weighted_perplexity
    # exp(-weighted_mean(items)), bits_per_byte -weighted_mean(items) / log(2)
    alone = {"near": [-1.5, -0.25, -3.0], "far": [-2.5, -4.25, -3.5]}
    words = [4, 9, 2]
    for name, logged in alone.items():
        pairs = [[10 * item, n] for item, n in zip(logged, words, strict=True)]
        rows = lm_rows(perplexity=logged, word_perplexity=pairs, bits_per_byte=pairs)
        for row in rows:
            row["metrics"] = ["perplexity", "word_perplexity", "bits_per_byte"]
        (tmp_path / f"{name}.jsonl").write_text(jsonl(rows))
    paths = [tmp_path / "far.jsonl", tmp_path / "near.jsonl"]
    report = sigtest.compare(from_=paths, resamples=99)
    assert metrics_of(join([*map(read_path, paths)])) == [
        {"name": "perplexity", "of": "perplexity", "higher": False},
        {"name": "perplexity", "of": "word_perplexity", "higher": False},
        {"name": "ratio", "of": "bits_per_byte", "higher": False},
    ]
    for system in report.systems:
        mean = sum(alone[system.name]) / 3
        weighted = 10 * sum(alone[system.name]) / sum(words)
        assert {label: own.score for label, own in system.scores.items()} == pytest.approx(
            {
                "perplexity": math.exp(-mean),
                "word_perplexity": math.exp(-weighted),
                "bits_per_byte": -weighted / math.log(2),
            },
            rel=1e-12,
        )
    greater = sigtest.compare(from_=paths, resamples=99, alternative="greater")
    # near is better on all three items: one of 2**3 exchanges is as extreme, and all are for far
    claims = {(pair.a, pair.p_value) for pair in greater.pairs}
    assert claims == {("near", 1 / 8), ("far", 1.0)}


def test_runs_of_perplexities_have_no_mean():
    found = read_bytes(jsonl(lm_rows(perplexity=[-1.5, -0.25, -3.0])).encode(), "elm.jsonl")
    with pytest.raises(InputError, match=r"'elm' brings 2 runs of 'perplexity', which .* no mean"):
        join([found, found], how=Joining(runs=True))


def test_perplexities_that_are_no_log_likelihoods_stay_as_they_are():
    found = read_bytes(jsonl(lm_rows(perplexity=[12.5, 1.0, 3.25])).encode(), "elm.jsonl")
    assert tables(found) == {("elm", "perplexity"): ((12.5, 1.0, 3.25),)}
    assert metrics_of(found) == [{"name": "scores", "of": "perplexity"}]


def test_old_lm_eval_has_words_for_numbers():
    rows = [{"doc_id": i, "prompt_0": "x", "logit_0": "-1.5", "truth": "1", "acc": str(i > 0)}
            for i in range(3)]  # fmt: skip
    found = read_bytes(json.dumps(rows).encode(), "elm.arc_write_out_info.json")
    assert tables(found) == {("elm.arc", "acc"): ((0.0, 1.0, 1.0),)}


def test_items_under_one_id_must_be_the_same():
    one = read_bytes(jsonl(lm_rows(acc=[1, 1, 0])).encode(), "a.jsonl")
    other = jsonl(lm_rows(acc=[0, 1, 0])).replace('"h1"', '"other"')
    with pytest.raises(InputError, match="another item under '1'"):
        join([one, read_bytes(other.encode(), "b.jsonl")])


@pytest.mark.parametrize("data", [json.dumps(inspect_log()).encode(), packed(inspect_log())])
def test_inspect_epochs_are_runs_and_letters_are_numbers(data):
    found = read_bytes(data, "log.eval")
    assert tables(found) == {("org__elm", "match"): ((1.0, 0.0, 0.5), (1.0, 1.0, 0.0))}
    assert found.ids == ("1", "2", "3")
    assert found.testsets == ("arc",) * 3
    assert found.scores[0].values == (1.0, 0.5, 0.25)


@pytest.mark.parametrize("wrap", [lambda log: json.dumps(log).encode(), packed])
def test_a_sample_of_inspect_that_ended_in_an_error_has_no_score(wrap):
    log = inspect_log()
    log["samples"][1] |= {"scores": None, "error": {"message": "timed out"}}
    found = read_bytes(wrap(log), "log.eval")
    assert tables(found) == {("org__elm", "match"): ((1.0, None, 0.5), (1.0, 1.0, 0.0))}
    with pytest.raises(InputError, match=r"no 'match' score for 1 of 3 segments \('2'\).*drop"):
        join([found])


def test_inspect_logs_without_scores_or_samples_are_refused():
    unscored = inspect_log(samples=[{"id": 1, "epoch": 1, "scores": {}}])
    with pytest.raises(InputError, match="1 samples, none of them scored"):
        read_bytes(json.dumps(unscored).encode(), "x.json")
    empty = inspect_log(samples=[], status="cancelled")
    with pytest.raises(InputError, match=r"no samples \(status cancelled\)"):
        read_bytes(json.dumps(empty).encode(), "x.json")


@pytest.mark.parametrize("value", [int("9" * 400), "1e999"])
def test_numbers_beyond_all_floats_are_no_scores(value):
    files = {
        "a.jsonl": jsonl([{"id": 1, "score": value}, {"id": 2, "score": 1}]),
        "log.json": json.dumps(inspect_log()).replace('"C"', json.dumps(value), 1),
        "samples_arc.jsonl": jsonl(lm_rows(acc=[value, 0.0, 1])),
        "x.seg.score": f"a\t0.5\na\t{value}\nb\t1\nb\t2\n",
    }
    for name, content in files.items():
        with pytest.raises(InputError, match=f"{name}") as error:
            read_bytes(content.encode(), name)
        assert "finite" in error.value.message or "stands for no number" in error.value.message
        assert error.value.message.count(name) == 1


def test_a_packed_log_that_is_no_utf8_names_the_member():
    with zipfile.ZipFile(out := io.BytesIO(), "w") as archive:
        archive.writestr("header.json", b'{"eval": "\xe9"}')
        archive.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(InputError, match=r"header\.json, line 1: invalid UTF-8"):
        read_bytes(out.getvalue(), "x.eval")


def test_inspect_values_with_several_numbers_are_several_scores():
    samples = [{"id": "a", "epoch": 1, "scores": {"judge": {"value": {"x": 1, "y": "I"}}}}]
    found = read_bytes(json.dumps(inspect_log(samples=samples)).encode(), "x.json")
    assert tables(found) == {
        ("org__elm", "judge.x"): ((1.0,),), ("org__elm", "judge.y"): ((0.0,),)
    }  # fmt: skip


def test_columns_in_any_order_and_form_bring_the_same():
    by_tab = CSV.replace(",", "\t")
    renamed = CSV.replace("id,system", "Segment ID,Model", 1).replace("score", "value", 1)
    found = read_bytes(CSV.encode(), "x.csv")
    assert tables(found) == {
        ("aspen", "comet"): ((0.7, 0.9, 0.8),), ("birch", "comet"): ((-0.0, 0.5, 0.0),)
    }  # fmt: skip
    assert found.ids == ("q2", "q0", "q1")
    wide = "id\tsystem\tcomet\n" + "".join(
        f"{r['id']}\t{r['system']}\t{r['score']}\n" for r in ROWS
    )
    systems = "id;metric;aspen;birch\n" + "".join(
        f"q{i};comet;{SCORES['aspen'][i]};{SCORES['birch'][i]}\n" for i in (2, 0, 1)
    )
    pandas = "".join(f"{i - 1 if i else ''},{line}\n" for i, line in enumerate(CSV.splitlines()))
    for content in (by_tab, renamed, jsonl(ROWS), json.dumps(ROWS), wide, systems, pandas):
        assert read_bytes(content.encode(), "x") == found


def test_columns_may_bring_texts_runs_documents_and_domains():
    rows = [
        {"id": i, "system": name, "run": run, "cluster": f"d{i // 2}", "domain": "news",
         "source": SOURCES[i], "reference": REFERENCES[i], "hypothesis": f"{OUTPUTS[name][i]}{run}",
         "acc": i == run}
        for name in OUTPUTS for run in (2, 10, 1) for i in range(3)
    ]  # fmt: skip
    found = read_bytes(jsonl(rows).encode(), "x.jsonl")
    assert found.references == (tuple(REFERENCES),)
    assert found.sources == tuple(SOURCES)
    assert found.documents == ("d0", "d0", "d1")
    assert found.labels == ("news",) * 3
    assert dict(found.systems)["aspen"][2] == tuple(f"{line}10" for line in OUTPUTS["aspen"])
    assert tables(found)[("birch", "acc")] == ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


def test_a_scores_file_without_a_system_is_that_of_its_file():
    found = read_bytes(b"id,score\nq1,1\nq2,0\n", "runs/aspen.csv")
    assert tables(found) == {("aspen", "scores"): ((1.0, 0.0),)}
    named = found.named(system="elm", label="acc")
    assert tables(named) == {("elm", "acc"): ((1.0, 0.0),)}


def test_names_win_over_those_inside():
    found = read_bytes(CSV.encode(), "x.csv")
    assert set(tables(found.named(system="birch", label="COMET"))) == {("birch", "COMET")}
    with pytest.raises(InputError, match=r"2 systems \(aspen, birch\), none of them 'elm'"):
        found.named(system="elm")


def test_joined_scores_are_a_comparison():
    parts = [read_bytes(jsonl([r for r in ROWS if r["system"] == s]).encode(), s) for s in SCORES]
    body = join(parts).as_json()
    assert body["systems"][0] == {"name": "aspen", "scores": {"comet": [0.7, 0.9, 0.8]}}
    comparison = parse_comparison({**body, "metrics": ["scores:of=comet"]})
    assert comparison.entries[0].testset.segments == 3


def test_scores_join_texts_by_ids_that_count_lines():
    scores = "id,system,score\n" + "".join(f"{i},aspen,0.{i}\n" for i in (3, 1, 2))
    text = read_bytes(PLAIN.encode(), "aspen.en").as_systems("aspen")
    joined = join([text, read_bytes(scores.encode(), "s.csv")])
    assert tables(joined)[("aspen", "scores")] == ((0.1, 0.2, 0.3),)
    from_zero = scores.replace("\n3,", "\n0,")
    joined = join([text, read_bytes(from_zero.encode(), "s.csv")])
    assert tables(joined)[("aspen", "scores")] == ((0.3, 0.1, 0.2),)


def test_runs_in_several_files_are_taken_only_when_asked():
    rows = ROWS[::2]
    parts = [read_bytes(jsonl(rows).encode(), name) for name in ("a.jsonl", "b.jsonl")]
    with pytest.raises(InputError, match="Runs of one system are told apart by a column run"):
        join(parts)
    assert len(join(parts, how=Joining(runs=True)).scores[0].runs) == 2


def test_what_is_missing_is_dropped_for_all_and_counted():
    fewer = [row for row in ROWS if (row["id"], row["system"]) != ("q0", "birch")]
    found = read_bytes(jsonl(fewer).encode(), "x.jsonl")
    with pytest.raises(InputError, match="'birch' has no 'comet' score for 1 of 3 segments"):
        found.as_json()
    joined = join([found], how=Joining(missing="drop"))
    assert joined.ids == ("q2", "q1")
    assert "'q0'" in joined.notes[0]


def evalset(pairs=("de-en",)):
    files = {}
    for pair in pairs:
        files |= {
            f"sources/{pair}.txt": SOURCES,
            f"references/{pair}.refA.txt": REFERENCES,
            f"documents/{pair}.docs": ["news\td1", "news\td1", "social\td2"],
            f"human-scores/{pair}.mqm.seg.score": ["aspen\t-1", "aspen\tNone", "aspen\t0"],
            f"human-scores/{pair}.mqm.sys.score": ["aspen\t-0.5"],
            f"metric-scores/{pair}/COMET-refA.seg.score": [
                f"{s}\t{v}" for s in ("refA", "aspen") for v in SCORES["aspen"]
            ],
            f"system-outputs/{pair}/aspen.txt": OUTPUTS["aspen"],
            f"system-outputs/{pair}/refA.txt": REFERENCES,
        }
    return {f"wmt/{name}": "".join(f"{line}\n" for line in lines) for name, lines in files.items()}


def write(files, place):
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    return place


def test_an_evalset_brings_texts_documents_and_scores(tmp_path):
    found = read_path(write(evalset(), tmp_path))
    assert found.systems == (("aspen", (tuple(OUTPUTS["aspen"]),)),)
    assert (found.documents, found.labels) == (("d1", "d1", "d2"), ("news", "news", "social"))
    assert found.sources == tuple(SOURCES)
    assert tables(found) == {
        ("aspen", "mqm"): ((-1.0, None, 0.0),), ("aspen", "COMET-refA"): ((0.9, 0.8, 0.7),)
    }  # fmt: skip
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in evalset().items():
            archive.writestr(name, content)
    assert read_bytes(packed.getvalue(), "set.zip") == found
    whole = replace(found, scores=tuple(s for s in found.scores if s.label == "COMET-refA"))
    assert join([whole]).as_json()["systems"][0]["scores"]


def test_an_evalset_of_packed_files_is_the_same(tmp_path):
    plain = read_path(write(evalset(), tmp_path / "set"))
    for file in [*(tmp_path / "set").rglob("*.*")]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert read_path(tmp_path / "set") == plain
    choices = EvalSet.of_folder(tmp_path / "set" / "wmt").request("de-en", "mqm")
    assert [*choices["metrics"]] == ["COMET-refA"]


def test_an_evalset_of_several_pairs_asks_which(tmp_path):
    write(evalset(("de-en", "en-ja")), tmp_path)
    with pytest.raises(InputError, match=r"2 pairs of languages \(de-en, en-ja\); say .*--testset"):
        read_path(tmp_path)
    assert len(read_path(tmp_path, how=Joining(testset="en-ja")).systems) == 1


def test_an_evalset_with_a_line_too_few_is_refused(tmp_path):
    files = evalset()
    files["wmt/system-outputs/de-en/aspen.txt"] = PLAIN.partition("\n")[2]
    with pytest.raises(InputError, match=r"aspen.txt has 2 lines, but .*de-en.refA.txt has 3"):
        read_path(write(files, tmp_path))


def test_a_folder_of_any_files_is_joined_and_says_what_it_passed_over(tmp_path):
    files = {"a.csv": CSV, "deep/log.json": json.dumps({"model": "x"}), "README": "# notes\n"}
    found = read_path(write(files, tmp_path))
    assert set(tables(found)) == {("aspen", "comet"), ("birch", "comet")}
    assert "README, deep/log.json" in found.notes[-1]


def test_outputs_in_a_folder_may_be_of_any_format_but_no_table_is_text(tmp_path):
    files = {
        "reference.sgm": sgml("refset", REFERENCES),
        "systems/aspen.en": PLAIN,
        "systems/birch.sgm": sgml("tstset", OUTPUTS["birch"], "b"),
    }
    found = read_path(write(files, tmp_path))
    assert found.references == (tuple(REFERENCES),)
    assert dict(found.systems) == {n: (tuple(lines),) for n, lines in OUTPUTS.items()}
    write({"systems/elm.csv": CSV}, tmp_path)
    with pytest.raises(InputError, match=r"elm\.csv has no text"):
        read_path(tmp_path)


def test_text_that_is_given_a_role_is_what_the_role_says():
    plain = read_bytes(PLAIN.encode(), "aspen.en")
    with pytest.raises(InputError, match="plain text, which does not say what it is"):
        plain.as_json()
    assert plain.as_references() == (tuple(OUTPUTS["aspen"]),)
    assert plain.as_source() == tuple(OUTPUTS["aspen"])
    columns = read_bytes(b"a b\tc d\ne\tf\ng\th\n", "both.tsv")
    assert columns.as_references() == (("a b", "e", "g"), ("c d", "f", "h"))
    assert [name for name, _ in columns.as_systems("both").systems] == ["both 1", "both 2"]
    reference = read_bytes(sgml("tstset", REFERENCES, "x").encode(), "r.sgm")
    assert reference.as_references() == (tuple(REFERENCES),)


def test_another_text_than_the_role_says_never_stands_for_a_column_that_is_not_read():
    # rows of WMT24++, whose references are called target
    row = {"lp": "en-de_DE", "document_id": "d", "segment_id": 1, "source": "a", "target": "b"}
    rows = read_bytes(jsonl([row, row | {"segment_id": 2}]).encode(), "x.jsonl")
    said = "no column 'reference', and nothing is read from 'target'; name the one that holds a"
    with pytest.raises(InputError, match=said):
        rows.as_references()
    answers = read_bytes(b"id,src,ref,pred\n1,a,b,c\n2,d,e,f\n", "x.csv")
    with pytest.raises(InputError, match=r"'hypothesis', .* from 'pred'; name the one that"):
        answers.as_systems("x")
    assert answers.as_references() == (("b", "e"),)
    known = read_bytes(b"id,reference,domain\n1,a b,news\n2,c d,news\n", "x.csv")
    assert known.as_systems("human").systems == (("human", (("a b", "c d"),)),)


@pytest.mark.parametrize(
    "content",
    [
        sgml("srcset", SOURCES),
        jsonl([{"doc_id": "de-en_#_news_#_d", "src_text": "a\n\nb", "src_lang": "de"}]),
        "id,source\n1,a b\n2,c d\n",
    ],
)
def test_a_source_is_never_taken_for_a_reference(content):
    found = read_bytes(content.encode(), "x")
    with pytest.raises(InputError, match="x has the source and no reference; give a file of ref"):
        found.as_references()
    assert found.as_source() == found.sources


def test_nothing_is_run_or_unpacked_further_than_allowed(tmp_path):
    bomb = gzip.compress(b"<refset>" + b" " * 2**23)
    from sigtest.errors import LimitError
    from sigtest.files.tree import Bounds

    for data in (bomb, gzip.compress(b"[" + b" " * 2**23), gzip.compress(b"0.5\n" * 2**21)):
        with pytest.raises(LimitError) as raised:
            read_bytes(data, "x", Bounds(ratio=50))
        assert raised.value.limit == "max_archive_ratio"
    with pytest.raises(InputError, match="JSON"):
        read_bytes(b'{"a":' * 100_000, "deep.json")
    assert not list(tmp_path.iterdir())


def test_a_folder_of_packed_logs_is_joined(tmp_path):
    for name in ("elm", "oak"):
        log = packed(inspect_log(eval={"task": "arc", "model": name}))
        (tmp_path / f"{name}.eval").write_bytes(log)
    (tmp_path / "notes.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    found = read_path(tmp_path)
    assert found.system_names == ("elm", "oak")
    assert "notes.zip" in found.notes[-1]


WIDE = {
    "csv": "id,model_a,gpt-4o\nq1,1,0\nq2,0,0\nq3,1,1\n",
    "tsv": "question\tmodel_a\tgpt-4o\nHow?\t1\t0\nWho?\t0\t0\nWhy?\t1\t1\n",
    "jsonl": "".join(
        f'{{"id": "q{i}", "model_a": {a}, "gpt-4o": {b}}}\n'
        for i, (a, b) in enumerate(((1, 0), (0, 0), (1, 1)))
    ),
}


@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE)
def test_columns_are_systems_or_metrics_where_an_option_says_so(text, tmp_path):
    columns = {"model_a": ((1.0, 0.0, 1.0),), "gpt-4o": ((0.0, 0.0, 1.0),)}
    found = read_bytes(text.encode(), "items.csv", how=Joining(columns="systems"))
    assert tables(found) == {(name, "items"): runs for name, runs in columns.items()}
    (tmp_path / "items.csv").write_text(text)
    found = read_path(tmp_path, how=Joining(columns="metrics"))
    assert tables(found) == {("items", name): runs for name, runs in columns.items()}
    with pytest.raises(InputError, match=r"nothing says .* \(--columns systems or metrics in the"):
        read_bytes(text.encode(), "items.csv")


def test_columns_beside_a_column_of_systems_are_metrics_whatever_an_option_says():
    text = "id,system,ours,theirs\nq1,a,1,0\nq1,b,0,1\nq2,a,1,1\nq2,b,0,0\n"
    found = read_bytes(text.encode(), "x.csv", how=Joining(columns="systems"))
    assert {*tables(found)} == {(s, m) for s in "ab" for m in ("ours", "theirs")}


def test_another_content_of_columns_than_systems_and_metrics_is_refused():
    with pytest.raises(sigtest.RecipeError, match="'models'; choose one of systems, metrics"):
        Joining(columns="models")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_columns_of_any_name_are_systems_beside_a_metric(form):
    rows = [{"id": f"q{i}", "metric": "accuracy", "Ours": i % 2, "Theirs": 1} for i in range(4)]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    if form == "csv":
        text = "\n".join([",".join(rows[0]), *(",".join(map(str, r.values())) for r in rows)])
    found = read_bytes(text.encode(), "items.csv")
    assert set(tables(found)) == {("Ours", "accuracy"), ("Theirs", "accuracy")}
    without = text.replace('"metric": "accuracy", ', "").replace(",metric", "")
    with pytest.raises(InputError, match="If they are systems, add a column metric"):
        read_bytes(without.replace("accuracy,", "").encode(), "items.csv")


@pytest.mark.parametrize(
    "columns",
    [
        ("model_a", "label"),  # what is right, beside what a system says
        ("model_a", "fluency"),
        ("run1", "run2"),
        ("rater-1", "rater-2"),
        ("top-1-acc", "top-5-acc"),
        ("Systems", "models"),
        ("model_a", "tokens"),
        ("gpt-4o", "year"),
    ],
)
def test_columns_that_need_not_be_systems_are_refused_with_what_to_add(columns):
    text = f"id,{','.join(columns)}\nq1,1,0\nq2,0,0\nq3,1,1\n"
    with pytest.raises(InputError, match=r"If they are systems, add a column metric .* a column s"):
        read_bytes(text.encode(), "items.csv")


@pytest.mark.parametrize(
    "content",
    [
        "prompt,model_a,model_b,winner\nq1,new,old,model_a\nq2,new,old,tie\n",
        "id,model_a,model_b,winner_model_a,winner_model_b\n1,new,old,1,0\n2,new,old,0,1\n",
        '{"id": 1, "system_1": "new", "system_2": "old", "preference": 1}\n',
        '{"uid": "1", "judge": "w", "model": "new", "games": [{"score": "A>B"}]}\n',
        '{"question_id": 1, "model_1": "a", "model_2": "b", "g1_winner": "tie", "judge": ["w"]}\n',
    ],
)
def test_preferences_are_sent_to_the_command_that_reads_them(content):
    with pytest.raises(InputError, match="`sigtest human`"):
        read_bytes(content.encode(), "judged")


@pytest.mark.parametrize(
    "text",
    ["0.5 0.6 0.7", "a b c", "id,score q1,0.5 q2,1", '{"id":1,"score":1} {"id":2,"score":0}'],
)
def test_lines_that_end_with_carriage_returns_alone_are_no_lines(text):
    with pytest.raises(InputError, match="carriage returns alone"):
        read_bytes(text.replace(" ", "\r").encode(), "x")
    assert len(read_bytes(b"one segment\r\n", "x").texts[0]) == 1


CAMPAIGN = "".join(
    f'x1,A,{i},TGT,en,cs_CZ,87,d,False,"[{{""start_i"": {i}}}]",1.5,2.5\n' for i in range(3)
)
NO_TEXTS = {
    "lists of negative numbers": ("[[-0.5, 0.2], [0.1, 0.3]]", "JSON of a kind"),
    "lists on several lines": ("[\n  [\n    -0.5\n  ],\n  [\n    0.1\n  ]\n]\n", "JSON of a kind"),
    "a list a line": ('["Hello."]\n["Fine."]\n', "JSON of a kind"),
    "deep lists": ("[" * 100_000 + "]" * 100_000, "nested too deep"),
    "records below a remark": ('// x\n{"id": 1, "score": 1}\n{"id": 2, "score": 0}\n', "JSON of a"),
    "numbers with a name": ("score: 0.5\nscore: 0.6\n", "neither plain text"),
    "numbers equal to a name": ("BLEU = 20.5\nBLEU = 7\n", "neither plain text"),
    "several numbers with names": ("P: 0.9 R: 0.8 F1: 0.85\n" * 3, "neither plain text"),
    "numbers with remarks": ("0.5 # first\n0.6 # second\n", "neither plain text"),
    "numbers with commas": ("0.5,\n0.6,\n0.7,\n", "neither plain text"),
    "a campaign with codes of two letters": (CAMPAIGN, "campaign of Appraise"),
    "a data set in capitals": (XML.upper(), "markup"),
    "columns of languages": ("en,de\nYes,Ja\n" + "Good day,Tag\n" * 2, "names columns"),
    "a source and a target": ("source\ttarget\na b\tc d\ne\tf\n", "names columns of text"),
    "one column of texts": ("text\nGood day.\nYes.\n", "line 1: 'text' names columns of text"),
    "one column without name": ('"No, no."\nYes.\n"Well, ""yes"""\n', "between quotation marks"),
    "strings of JSON, one a line": ('"No."\n"A \\"b\\"."\n"Yes."\n', "between quotation marks"),
    "a list of YAML": ('- "No."\n- "Yes, well."\n- "So."\n', "between quotation marks"),
    "lines of a list of Python": ("[\n 'No.',\n 'Yes.',\n 'So.',\n]\n", "between quotation marks"),
    "a quoted column with a name": ('"column1"\n"No."\n"Yes."\n', "between quotation marks"),
    "items of HTML": ("<li>No.\n<li>Yes.\n<li class='x'>So.\n", "markup"),
    "sentences between marks": ("<s> No. </s>\n<s> Yes. </s>\n", "markup"),
    "items of LaTeX": ("\\begin{itemize}\n\\item No.\n\\end{itemize}\n", "LaTeX"),
    "numbered lines": ("".join(f"{i}. No.\n" for i in range(1, 6)), "a decoder"),
    "lines numbered from 0": ("".join(f"{i}: No.\n" for i in range(5)), "a decoder"),
    "cells between quotation marks": (
        'question,gpt\n"Q 1?","It is"\n"Q 2?","It is ""no"""\n',
        "line 1: 'question,gpt' stands above",
    ),
    "cells with commas and no names": (
        '"Why, now?",yes,"no, never",A\nWhen?,now,then,B\n"Who, me?",no,yes,B\n',
        "stands above cells between quotation marks",
    ),
    "numbers as names of columns": (
        ',0,1,gpt_correct\n0,"Why, now?",A,True\n1,"Who?",B,False\n2,"It, no",C,True\n',
        "stands above cells between quotation marks",
    ),
    "results of promptfoo, one a line": (
        jsonl({"id": f"{i}{p}", "testIdx": i, "promptIdx": p, "score": 1, "provider": {"id": "gpt"}}
              for i in range(3) for p in range(2)),
        "promptfoo",
    ),
    "results of promptfoo": (
        json.dumps({"evalId": "eval-1", "results": {"version": 3, "results": []}, "config": {}}),
        "JSON of a kind",
    ),
    "answers judged by promptfoo": ("q,gpt\nQ,[PASS] yes\nR,[FAIL] no\n", "promptfoo"),
    "scores of Langfuse": (
        "id,name,value,traceId,source\n1,right,1,t1,API\n2,rude,0,t1,API\n", "Langfuse",
    ),
    "all that HELM asked": (
        json.dumps({"adapter_spec": {"model": "gpt"}, "request_states": []}), "JSON of a kind",
    ),
    "instances of HELM": (
        json.dumps([{"input": {"text": "q"}, "references": [], "split": "test", "id": "id1"}]),
        "HELM",
    ),
    "pairs judged by MT-Bench": (
        jsonl([{"question_id": 1, "model_1": "a", "model_2": "b", "g1_winner": "tie", "turn": 1}]),
        "judgements or preferences",
    ),
    "judgements of Label Studio": (
        '[{"id": 1, "annotator": 1, "annotation_id": 2, "lead_time": 3.5, "rating": 4}]',
        "people's judgements",
    ),
    "judgements by annotator and criterion": (
        "annotator\tsystem\tsegment\tcriterion\tscore\nw1\tA\t1\tadequacy\t81\n",
        "people's judgements",
    ),
    "judgements of WMT25": (
        jsonl([{"scores": {"A": {"human": 71.0, "errors": []}}, "src_text": "s", "tgt_text":
                {"A": "a"}, "doc_id": "en-de_DE_#_news_#_x"}] * 2),
        "people's judgements",
    ),
    "judgements of Pearmut": (
        jsonl([{"user_id": "u", "item_i": 0, "start_time": 1.5, "annotation": [{"A": {"score": 7}}],
                "item": [{"src": "s", "tgt": {"A": "a"}, "item_id": "1"}]}] * 2),
        "people's judgements",
    ),
    "all that Label Studio has": (
        '[{"id": 1, "annotations": [{"result": []}], "data": {"mt": "a"}}]', "people's judgements",
    ),
    "a campaign with a source in each row": (
        CAMPAIGN.replace("x1,", "x1,en-cs_CZ_#_news_#_d_#_0,"), "campaign of Appraise",
    ),
    "a table drawn with blanks": (
        "data  mode  gpt\n----  ----  ---\nqa    gen    70\n", "lines drawn round cells",
    ),
    "subtitles of YouTube": ("0:00:01.000,0:00:02.500\nYes.\n\n" * 3, ", subtitles"),
    "subtitles of SubStation Alpha": ("[Script Info]\nTitle: x\n", ", subtitles"),
    "hypotheses of fairseq": (
        "INFO | loading\nS-1\tJa .\nT-1\tYes .\nH-1\t-0.31\tYes .\nP-1\t-0.1 -0.2\n",
        "a decoder",
    ),
    "a file hypo.word of fairseq": ("yes (None-0)\nno (None-1)\n", "a decoder"),
    "a list of Moses": ("0 ||| yes ||| LM0= -4.1 ||| -3.1\n" * 3, "a decoder"),
    "alignments of Marian": ("yes sir ||| 0-0 1-1\nno ||| 0-0\n", "a decoder"),
    "alignments of words": ("0-0 1-1\n0-1 1-0 2-2\n", "a decoder"),
    "what OpenNMT prints": (
        "[INFO] x\nSENT 1: ['ja']\nPRED 1: yes\nPRED SCORE: -4.1\n\n", "a decoder",
    ),
    "what METEOR prints": (
        "Meteor version: 1.5\n\nSegment 1 score:\t0.5\nSegment 2 score:\t0.6\n", "METEOR, ",
    ),
    "a transcript with speakers": (
        ";; x\nted_1 1 spk1 0.00 2.50 <o,f0,male> yes sir\nted_1 1 spk1 2.5 3.0 <o> no\n", "stm",
    ),
    "words with times": ("ted_1 A 0.00 0.25 yes 0.99\nted_1 A 0.25 0.25 sir 0.98\n", "ctm"),
    "lists of Python": ("['Yes, sir.']\n[\"It's no.\"]\n", "Python or R"),
    "a list of Python": ("['Yes, sir.', 'No.']\n", "Python or R"),
    "segments of MuST-C": ("- {duration: 3.5, offset: 16.08, wav: ted_1.wav}\n" * 3, "YAML"),
    "records with another bracket": ('["a": 1, "b": "x"}\n["a": 2, "b": "y"}\n', "JSON of a kind"),
    "columns of which one line has more": ("a\tb\nc\td\te\nf\tg\n", "2: 3 columns, line 1 has"),
    "one column": ('hypothesis\n"Well, yes"\nNo\n', "line 1: 'hypothesis' names columns"),
    "a cell that is merged": ("system,id,score\na,1,0.5\n,2,0.6\n", "line 3: column 'system'"),
}  # fmt: skip


def test_a_table_with_names_apart_from_rows_is_a_table():
    rows = [[f"q{i}", "gpt", i % 2] for i in range(4)]
    split = {"columns": ["id", "model", "exact_match"], "data": rows, "nrows": 4}
    found = read_bytes(json.dumps(split, indent=1).encode(), "x.table.json")
    assert tables(found) == {("gpt", "exact_match"): ((0, 1, 0, 1),)}
    assert found.ids == ("q0", "q1", "q2", "q3")
    for cells, said in (([*rows, ["q4", "gpt"]], "entry 5: 2 cells, where 3"), ([], "no rows")):
        with pytest.raises(InputError, match=said):
            read_bytes(json.dumps(split | {"data": cells}).encode(), "x.table.json")


EVALUATIONS = {
    "OpenAI": jsonl([{"spec": {"eval_name": "x"}}, {"run_id": "r", "type": "match"}]),
    "OpenAI's outputs": jsonl([{"id": "o1", "datasource_item_id": 1, "results": []}] * 2),
    "OpenCompass": json.dumps({"accuracy": 50.0, "details": {"0": {"correct": True}}}),
    "its predictions": json.dumps({"0": {"origin_prompt": "q", "prediction": "a", "gold": "b"}}),
    "lighteval": json.dumps({"config_general": {}, "results": {"all": {}}}),
    "EvalPlus": json.dumps({"date": "2025", "hash": "a", "eval": {"HumanEval/0": []}}),
    "DeepEval": json.dumps({"testCases": [{"name": "a", "success": True}]}),
}


@pytest.mark.parametrize("content", EVALUATIONS.values(), ids=EVALUATIONS)
def test_logs_of_other_evaluations_are_refused_with_what_to_write(content):
    with pytest.raises(
        InputError, match=r"JSON of a kind.*id, system, metric and score, which is 1"
    ):
        read_bytes(content.encode(), "x.json")


RAGAS = "user_input,retrieved_contexts,response,reference,faithfulness,context_recall\n" + "".join(
    f'"Why, {i}?","[\'one\ntwo, three\', \'4\']","As ""said"",\nyes",It is.,{i / 40},{i % 2}.0\n'
    for i in range(40)
)
SPANS = "context.span_id,label,score,explanation\n" + "".join(
    f'a{i}f,correct,{i % 2},"because, so"\n' for i in range(4)
)


def test_cells_with_commas_and_line_breaks_are_cells_of_a_table():
    found = tables(read_bytes(RAGAS.encode(), "gpt.csv"))
    assert found["gpt", "faithfulness"] == (tuple(i / 40 for i in range(40)),)
    assert found["gpt", "context_recall"] == ((0.0, 1.0) * 20,)
    assert read_bytes(RAGAS.encode(), "gpt.csv").ids == tuple(f"Why, {i}?" for i in range(40))
    answer = "yes, so\n" * 70
    long = "answer,f1\n" + "".join(f'"{answer}",0.{i}\n' for i in range(3))
    assert tables(read_bytes(long.encode(), "gpt.csv")) == {("gpt", "f1"): ((0.0, 0.1, 0.2),)}
    assert tables(read_bytes(SPANS.encode(), "gpt.csv")) == {("gpt", "scores"): ((0, 1, 0, 1),)}


@pytest.mark.parametrize(("content", "said"), NO_TEXTS.values(), ids=NO_TEXTS)
def test_what_is_no_text_is_refused_as_what_it_is(content, said):
    with pytest.raises(InputError) as error:
        read_bytes(content.encode(), "x")
    assert said in error.value.message


def test_scores_of_meteor_with_another_column_are_never_texts():
    lines = FILES["meteor"][1].splitlines()
    with pytest.raises(InputError, match=r"line 2: 6 columns; set, system, document, segment and"):
        read_bytes("\n".join([lines[0], f"{lines[1]}\tx", lines[2]]).encode(), "meteor-seg.scr")


@pytest.mark.parametrize(
    "content",
    [
        "[1] Smith said so.\nScore: 3 to 1\nNo.\n",
        "[Music]\nYes.\nNo.\n",
        "Alien (1979)\nAliens (1986)\n",
        "H-1 is\nD-2 too\n",
        "Source\nThe end.\nYes.\n",
        "Yes, no\nFine, I go\nWell, ok\n",
        "Titel\tTitle\nJa\tYes\nNein\tNo\n",
        "am 3.\n4: no\n0.5 litres # 7\n",
        '"Yes","No"\nWell\n"Yes," he said, "no."\n',
        '"No", he said.\n"Yes", she said.\n"Fine, then," he said.\n',
        'Well, "no, never"\nYes\nFine, no, never\n',
        'He said, "yes, I do", and left.\n' * 9,
        "See page number 4 41\nSee page number 5 42\n",
    ],
)
def test_texts_that_look_a_little_like_something_else_are_texts(content):
    assert read_bytes(content.encode(), "x").texts


def test_a_row_without_scores_among_automatic_scores_is_named():
    rows = [*WMT25_SCORES, {k: v for k, v in WMT25_SCORES[0].items() if k != "metric_scores"}]
    with pytest.raises(
        InputError, match="line 2: 'de-en_#_speech_#_x1' needs equally many paragraphs"
    ):
        read_bytes(jsonl(rows).encode(), "x.jsonl")


def test_a_test_set_that_no_file_knows_of_is_no_choice(tmp_path):
    (tmp_path / "s.csv").write_text("id,system,score\n1,a,.5\n2,a,.25\n")
    with pytest.raises(InputError, match=r"of the test set 'arc' that select \(--testset"):
        join([read_path(tmp_path / "s.csv")], how=Joining(testset="arc"))


def test_a_column_sample_is_no_metric(tmp_path):
    (tmp_path / "s.csv").write_text(
        "id,benchmark,model,sample,accuracy\n1,arc,a,0,1\n1,arc,a,1,0\n"
    )
    with pytest.raises(
        InputError, match=r"nothing is read from the column 'sample', .* call it run"
    ):
        read_path(tmp_path / "s.csv")
    (tmp_path / "s.csv").write_text("id,benchmark,model,run,accuracy\n1,arc,a,0,1\n1,arc,a,1,0\n")
    assert read_path(tmp_path / "s.csv").testsets == ("arc",)
