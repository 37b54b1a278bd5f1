"""Real files of every format in the shared data: read by content alone, or refused with the fix."""

import gzip
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import sacrebleu

from sigtest.errors import InputError
from sigtest.files.gathering import read_bytes, read_path
from sigtest.files.join import Joining, join

EXACT = 1e-9
TEXT = ("README.md", "docids.txt")  # beside systems, references and sources
MEANS = (
    "BERTscore", "BLEURT-20", "COMET", "CometKiwi", "GEMBA-MQM", "MetricX-23", "XCOMET-Ensemble",
    "YiSi-1", "Random-sysname", "mqm",
)  # fmt: skip


SIZES = pytest.mark.parametrize(  # files up to so many bytes, and at least so many of them
    ("largest", "least"), [(100_000, 100), pytest.param(10**9, 330, marks=pytest.mark.slow)]
)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def is_plain(path):
    """Whether a file of shared data is plain text that a system could have written."""
    parts = {"systems", "system-outputs", "references", "sources"} & set(path.parts)
    if path.suffix == ".jsonl":
        return False
    return bool(parts) or path.name in TEXT or path.name.startswith(("reference", "source")) or (
        path.suffix == ".en" or path.name.endswith((".ha.txt", "en-de.txt"))
    )  # fmt: skip


def outcome(reading):
    """What a reading brings, or the one message that refuses it."""
    try:
        return reading(), None
    except InputError as error:
        return None, str(error)


@SIZES
def test_every_file_is_read_or_refused_with_one_message(data, largest, least):
    seen = 0
    for path in files_of(data):
        if path.stat().st_size > largest:
            continue
        found, message = outcome(lambda path=path: read_path(path))
        seen += 1
        if message is not None:
            assert str(path) in message, message
            assert "\n" not in message
            assert len(message.replace(str(path), "")) < 600, message
            assert ";" in message or "." in message[:-1]
        else:
            assert len(found) > 0, path
        if is_plain(path) and path.suffix not in {".eval", ".xml", ".sgm"}:
            assert found is not None, message
            assert len(found.texts) == 1, path
    assert seen >= least


@SIZES
@pytest.mark.parametrize("packed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_nothing_but_text_is_taken_for_plain_lines(data, packed, largest, least):
    """Whatever is given as the output of a system: markup, JSON and tables are never its lines."""
    tables = {"he-en.docs", "systems.tsv", "two-references.tsv"}  # two columns of text and more
    for path in files_of(data / "formats") + files_of(data / "wmt23.he-en"):
        if path.stat().st_size > min(largest, 3_000_000) or is_plain(path):
            continue
        name, content = "x", path.read_bytes()
        if packed:
            name, content = "x.gz", gzip.compress(content, 1)
        found, _ = outcome(lambda name=name, content=content: read_bytes(content, name))
        if found is not None:
            assert len(found.texts) == 0 or path.name in tables, path


def test_folders_of_corpora_are_whole_test_sets(data):
    expected = {
        "wmt12.es-en": (12, 1, 3003), "wmt13.en-ru": (10, 1, 3000), "wmt17.en-de": (16, 1, 3004),
        "wmt22.cs-en": (11, 2, 1448), "flores21.bn-hi": (9, 1, 503), "wmt23.he-en": (12, 2, 1910),
    }  # fmt: skip
    for folder, (systems, references, segments) in expected.items():
        found = read_path(data / folder)
        assert (len(found.systems), len(found.references), len(found)) == (
            systems, references, segments
        ), folder  # fmt: skip
    assert len(set(read_path(data / "wmt12.es-en").documents)) == 99


def test_segment_scores_have_the_published_means(data):
    root = data / "wmt23.he-en"
    checked = 0
    for path in files_of(root):
        label = path.name.removesuffix(".seg.score").removeprefix("he-en.")
        if not path.name.endswith(".seg.score") or not label.startswith(MEANS):
            continue
        published = dict(
            line.split("\t")
            for line in Path(str(path).replace(".seg.", ".sys.")).read_text().splitlines()
        )
        for scores in read_path(path).scores:
            values = [value for value in scores.values if value is not None]
            mean = math.fsum(values) / len(values)
            assert mean == pytest.approx(float(published[scores.system]), rel=EXACT, abs=EXACT)
            checked += 1
    assert checked > 150


def test_an_evalset_tells_missing_judgements_from_zeros(data):
    found = read_path(data / "wmt23.he-en")
    mqm = [scores for scores in found.scores if scores.label == "mqm"]
    assert {len(scores.missing) for scores in mqm} == {1090}
    assert any(value == 0 for value in mqm[0].values)
    assert len(set(found.labels)) == 2
    assert len(set(found.documents)) == 94
    assert [name for name, _ in found.systems if name.startswith("ref")] == []
    some = [scores for scores in found.scores if scores.label in {"mqm", "COMET-refB"}]
    joined = join([replace(found, scores=tuple(some))], how=Joining(missing="drop"))
    assert len(joined) == 820
    with pytest.raises(InputError, match=r"no 'mqm' score for 1,090 of 1,910"):
        join([replace(found, scores=tuple(mqm))], Joining(wanted={"mqm": 0}))
    unasked = join([found])  # of an EvalSet, what has no gap is compared
    assert "mqm" not in unasked.score_labels
    assert "COMET-refB" in unasked.score_labels
    assert len(unasked) == 1910


def test_lm_eval_metrics_have_the_means_of_its_results(data):
    checked = 0
    for folder in ("truthfulqa_gen", "negotiationtom"):
        for path in sorted((data / "formats/lm-eval" / folder).glob("samples_*.jsonl")):
            time = path.stem.rpartition("_")[2]
            (results,) = [
                json.loads(other.read_text()) for other in path.parent.glob(f"*{time}.json")
            ]
            found = read_path(path)
            for scores in found.scores:
                expected = results["results"][found.testsets[0]][f"{scores.label},none"]
                mean = math.fsum(scores.values) / len(scores.values)
                assert mean == pytest.approx(expected, rel=EXACT)
                assert scores.higher_is_better is True
                checked += 1
    assert checked == 12 + 12 + 4


def test_lm_eval_before_0_4_has_the_counts_of_its_readme(data):
    found = read_path(data / "formats/lm-eval/write_out_info")
    llama, mistral = (scores.values for scores in found.scores)
    pairs = list(zip(llama, mistral, strict=True))
    counts = [pairs.count(pair) for pair in ((1, 1), (0, 1), (1, 0), (0, 0))]
    assert counts == [879, 111, 86, 191]


def test_lm_eval_says_what_is_no_number(data):
    folder = data / "formats/lm-eval"
    for path, part in (
        ("masakhaner_luo/samples_masakhaner_luo_prompt_4_2026-01-16T20-57-28.313639.jsonl",
         "f1 is no number for single items"),
        ("polymer_tg/samples_polymer_tg_prediction_2025-06-30T19-40-09.461247.jsonl",
         "mae is infinite for 17 of 24 items"),
        ("truthfulqa_gen/truthfulqa_gen_neo125_2025-05-31T13-51-32.759677.json",
         r"give the samples_\*\.jsonl"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=part):
            read_path(folder / path)
    runs = sorted((folder / "negotiationtom").glob("samples_negotiationtom_desire_*"))
    joined = join([read_path(path) for path in runs], how=Joining(runs=True))
    assert [len(scores.runs) for scores in joined.scores] == [2]
    assert joined.scores[0].system == "Qwen__Qwen3-8B"


def test_a_run_with_a_limit_joins_the_full_run_on_what_both_have(data):
    folder = data / "formats/lm-eval/truthfulqa_gen"
    full, part = (read_path(path) for path in sorted(folder.glob("samples_*.jsonl")))
    part = part.named(system="limited")
    with pytest.raises(InputError, match="797 of the 817"):
        join([full, part])
    joined = join([full, part], how=Joining(missing="drop"))
    assert len(joined) == 20
    of = {(s.system, s.label): s.values for s in joined.scores}
    assert of["EleutherAI__gpt-neo-125M", "bleu_acc"] == of["limited", "bleu_acc"]


def test_inspect_logs_have_the_accuracy_of_their_results(data):
    expected = {
        "2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": (10, 0.8),
        "log_streaming.eval": (2, 0.75),
        "log_formats.eval": (1, 0.0),
        "log_formats.json": (1, 0.0),
        "2025-05-12T20-28-13-04-00_popularity.json": (3, 2 / 3),
        "2025-05-12T20-28-13-04-00_no-samples.json": (3, 2 / 3),
        "mmlu-summary-choices.eval": (1, 0.0),
        "data_arc_qwen.json": (3, 1 / 3),
        "data_arc_sonnet.json": (5, 1.0),
    }
    for name, (count, accuracy) in expected.items():
        found = read_path(data / "formats/inspect" / name)
        (scores,) = found.scores
        assert len(found) == count
        assert sum(scores.values) / count == pytest.approx(accuracy, rel=EXACT)
        if "2025-05-12" in name:
            assert "cancelled" in found.notes[0]
    streaming = read_path(data / "formats/inspect/log_streaming.eval")
    assert streaming.scores[0].runs == ((0.0, 1.0), (1.0, 1.0))
    both = [read_path(data / f"formats/inspect/log_formats.{kind}") for kind in ("eval", "json")]
    assert both[0] == both[1]


def test_inspect_logs_that_were_not_scored_are_refused(data):
    name = "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval"
    with pytest.raises(InputError, match="10 samples, none of them scored"):
        read_path(data / "formats/inspect" / name)


def test_two_models_are_compared_on_the_items_that_both_have(data):
    parts = [
        read_path(data / f"formats/inspect/data_arc_{name}.json") for name in ("qwen", "sonnet")
    ]
    joined = join(parts, how=Joining(missing="drop"))
    assert joined.ids == ("1", "2", "3")
    assert joined.system_names == ("ollama__qwen2.5:0.5b", "anthropic__claude-sonnet-4-0")


def test_comet_agrees_in_text_and_json_and_with_what_it_was_made_of(data):
    folder = data / "formats/comet"
    exact = {s.system: s.values for s in read_path(folder / "comet-score.json").scores}
    compared = {s.system: s.values for s in read_path(folder / "comet-compare.json").scores}
    rounded = {s.system: s.values for s in read_path(folder / "comet-score.txt").scores}
    published = {
        s.system: s.values
        for s in read_path(
            data / "wmt23.he-en/metric-scores/he-en/COMET-refA.seg.score"
        ).scores
    }  # fmt: skip
    assert set(exact) == {"GPT4-5shot", "ONLINE-B", "NLLB_Greedy"}
    for name, values in exact.items():
        assert compared[name] == values
        # looked up by their texts, of which some stand twice with slightly different scores
        close = [
            a == pytest.approx(b, rel=EXACT)
            for a, b in zip(values, published[name][:100], strict=True)
        ]
        assert sum(close) >= 95
        assert values == pytest.approx(published[name][:100], abs=1e-3)
        assert rounded[name] == pytest.approx(values, abs=5.1e-5)


def test_ocelot_has_the_same_bleu_from_sgml_and_from_text(data):
    folder = data / "formats/ocelot"
    reference = read_path(folder / "newstest2019-ende-ref.de.sgm")
    name = "newstest2019.msft-WMT19-document-level.6808.en-de"
    marked = join([reference, read_path(folder / f"{name}.sgm")])
    plain = join([reference, read_path(folder / f"{name}.txt").as_systems("plain")])
    for joined in (marked, plain):
        ((_, (output,)),) = joined.systems
        bleu = sacrebleu.corpus_bleu(list(output), [list(lines) for lines in joined.references])
        assert round(bleu.score, 2) == 42.43
    source = read_path(folder / "newstest2019-ende-src.en.sgm")
    assert join([source, reference]).sources == source.sources


def test_wmt_xml_joins_submissions_and_references(data):
    folder = data / "formats/ocelot"
    output = read_path(folder / "sample-hyp.xml")
    joined = join([read_path(folder / "sample-src-multirefs.xml"), output])
    assert (len(joined.references), len(joined), joined.system_names) == (2, 59, ("test-team",))
    text = read_path(folder / "sample-hyp.ha.txt").texts[0]
    assert tuple(" ".join(line.split()) for line in text) == output.systems[0][1][0]
    joined = join([read_path(folder / f"multi-{part}.xml") for part in ("src-ref", "hypA")])
    assert (len(joined), joined.system_names) == (56, ("Online-A",))
    with pytest.raises(InputError, match="line 65: a hypothesis without system"):
        read_path(folder / "sample-hyp.invalid.xml")


@pytest.mark.slow
def test_wmt25_joins_test_set_outputs_and_scores(data):
    found = read_path(data / "formats/wmt25", how=Joining(testset="ja-zh_CN"))
    assert len(found) == 334
    assert len(found.systems) == 7
    assert len(found.score_labels) >= 4
    assert {scores.higher_is_better for scores in found.scores} == {True}
    metricx = [s for s in found.scores if s.label.startswith("MetricX")]
    assert all(value <= 0 for value in metricx[0].values)
    african = read_path(data / "formats/wmt25/automatic_scores", how=Joining(testset="en-mas_KE"))
    missing = {s.system: len(s.missing) for s in african.scores if s.missing}
    assert missing == {"CommandA": 1, "Mistral-7B": 1}
    with pytest.raises(InputError, match=r"2 test sets \('ja-zh_CN', 'en-mas_KE'\)"):
        read_path(data / "formats/wmt25")


def test_meteor_scores_and_sgml_are_about_the_same_segments(data):
    found = read_path(data / "meteor-example")
    assert (len(found), len(found.systems), len(found.references)) == (2525, 1, 1)
    assert found.system_names == ("cmu-combo",)
    assert len(set(found.documents)) == 111


def test_mqm_averages_are_read_and_judgements_left_to_the_human_half(data):
    folder = data / "formats/mqm"
    found = read_path(folder / "mqm_ted_zhen.avg_seg_scores.tsv")
    values = [value for scores in found.scores for value in scores.values]
    assert len(values) == 12_645
    assert values.count(None) == 4_710
    for name in ("mqm/mqm_ted_zhen.tsv", "esa/240315rc5ESA.scores.csv"):
        with pytest.raises(InputError, match="sigtest human"):
            read_path(data / "formats" / name)
