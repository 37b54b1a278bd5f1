"""Files of judgements: recognised, read with their traps, or refused with file and line."""

import json

import numpy as np
import pytest
from sentences import sentences

from sigtest.errors import InputError, LimitError, SigtestError
from sigtest.files.formats.people import weight
from sigtest.files.registry import FORMATS_JUDGED, MAX_ROWS, read_judgements
from sigtest.people.compute import compute
from sigtest.people.kind import KIND
from sigtest.people.question import parse

DA = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
ESA = '{login},{system},{item},{kind},eng,deu,{score},{doc},False,"{spans}",{start},{end}\n'
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"


def judged(text, name="file", **choices):
    return parse({"standardise": "none", **choices}, [(name, text.encode())])


def rows_of(asked):
    j = asked.judgements
    return [
        (j.annotator.at(i), j.system.at(i), j.segment.at(i), j.kind[i], j.raw[i])
        for i in range(len(j))
    ]


def esa(system="S", item=0, score=50, *, kind="TGT", doc=None, spans=(), start=0, end=0, login="w"):
    text = json.dumps(list(spans)).replace('"', '""')
    return ESA.format(login=login, system=system, item=item, kind=kind, score=score,
                      doc=doc or "d", spans=text, start=start, end=end)  # fmt: skip


def wmt25(*systems, segment=0, **fields):
    own = dict.fromkeys(systems, fields)
    return json.dumps({"doc_id": f"en-cs_CZ_#_news_#_d_#_{segment}", "scores": own,
                       "tgt_text": dict.fromkeys(systems, "Hallo \U0001f600")}) + "\n"  # fmt: skip


def test_tabs_blanks_quotes_and_na_are_read_alike():
    text = DA + (
        'NA\tw1\tbn\thi ad NA\t"A.1" NA SYSTEM\ts.1_1\t52\t0\n'
        "NA w1 bn hi ad NA B.2 NA REPEAT s.1_1 0 0\r\n"
    )
    asked = judged(text)
    assert rows_of(asked) == [("w1", "A.1", "s.1_1", 0, 52.0), ("w1", "B.2", "s.1_1", 1, 0.0)]
    assert asked.choices.criteria == ("adequacy",)
    assert asked.choices.languages == "bn-hi"
    assert np.isnan(asked.judgements.seconds).all()
    assert asked.sources[0].input == "wmt_da"


def test_blanks_inside_quotes_belong_to_the_name():
    text = DA + 'h w a b ad 1 "My system" r SYSTEM 1 52 9\nh w a b ad 1 X r SYSTEM 1 5 9\n'
    assert judged(text).systems == ("My system", "X")


def test_the_time_of_a_batch_is_shared_by_its_rows():
    lines = [f"h1 w a b ad 1 {s} r SYSTEM {i} 5{i} 300\n" for s in "AB" for i in range(5)]
    assert judged(DA + "".join(lines)).judgements.seconds == pytest.approx([30.0] * 10)
    own = [f"h1 w a b ad 1 {s} r SYSTEM {i} 5{i} {20 + i}\n" for s in "AB" for i in range(5)]
    assert judged(DA + "".join(own)).judgements.seconds.tolist() == [20, 21, 22, 23, 24] * 2


def test_standardised_files_are_known_by_their_scores():
    lines = [f"h w a b fl 1 {s} r SYSTEM {i} {i - 2.5} 9\n" for s in "AB" for i in range(5)]
    asked = parse({}, [("x", (DA + "".join(lines)).encode())])
    assert asked.choices.standardise == "none"
    assert asked.choices.criteria == ("fluency",)
    report = compute(asked)
    assert (report.tested, report.systems[0].raw, report.systems[0].z) == ("z", None, -0.5)


def test_small_raw_scores_are_not_taken_for_standardised_ones():
    lines = [f"h w a b ad 1 {s} r SYSTEM {i} {i} 9\n" for s in "AB" for i in range(15)]
    assert parse({}, [("x", (DA + "".join(lines)).encode())]).choices.standardise == "annotator"


def test_means_by_segment_say_how_many_judgements_are_in_them():
    text = "SYS SID RAW.SCR Z.SCR N \nA 1 50 -0.5 3 \nA 2 60 0.5 1 \nB x-1 70 1.5 2 \n"
    report = compute(parse({}, [("x", text.encode())]))
    a, b = report.systems
    assert (a.n_judgements, a.n_segments, a.raw, a.z) == (4, 2, 55.0, 0.0)
    assert b.n_judgements == 2
    assert report.annotators is None


def test_wmt13_means_are_read_raw_and_standardised():
    raw = "LP\tSYSTEM\tSID\tHUMAN\nen-ru\tA.1\t4\t50.5\nen-ru\tB.2\t4\t43.2\n"
    z = "LP SYSTEM SID HUMAN\nen-ru A.1 4 -0.19\nen-ru B.2 4 -0.6\n"
    assert judged(raw).judgements.raw.tolist() == [50.5, 43.2]
    assert judged(z).judgements.z.tolist() == [-0.19, -0.6]


def test_mtme_none_is_not_judged_and_lines_are_segments():
    asked = judged("A\t-0.0\nA\tNone\nB\t-5\nB\t-1.5\n")
    assert rows_of(asked) == [(None, "A", "1", 0, 0.0), (None, "B", "1", 0, -5.0),
                              (None, "B", "2", 0, -1.5)]  # fmt: skip
    assert asked.sources[0].dropped == {"not judged": 1}


@pytest.mark.parametrize(
    ("severity", "category", "expected"),
    [
        ("major", "accuracy/mistranslation", 5.0),
        ("minor", "style/awkward", 1.0),
        ("minor", "fluency/punctuation", 0.1),
        ("major", "fluency/punctuation", 5.0),
        ("major", "non-translation!", 25.0),
        ("neutral", "source error", 0.0),
        ("no-error", "no-error", 0.0),
        ("critical", "other", None),
    ],
)
def test_mqm_weights(severity, category, expected):
    assert weight(severity, category) == expected


def test_mqm_sums_by_rater_and_averages_over_raters():
    body = [("A", "1", "r1", 'say "no', "Accuracy", "Major"),
            ("A", "1", "r1", "x", "Style", "Minor"),
            ("A", "1", "r2", "x", "No-error", "No-error"),
            ("B", "1", "r1", "x", "Style", "minor"),
            ("B", "2", "r1", "x", "Fluency/Punctuation", "Minor")]  # fmt: skip
    text = MQM + "".join(f"{s}\td\t1\t{g}\t{r}\tsrc\t{t}\t{c}\t{v}\n" for s, g, r, t, c, v in body)
    asked = judged(text)
    assert rows_of(asked) == [("r1", "A", "1", 0, -6.0), ("r2", "A", "1", 0, 0.0),
                              ("r1", "B", "1", 0, -1.0), ("r1", "B", "2", 0, -0.1)]  # fmt: skip
    report = compute(asked)
    assert [own.raw for own in report.systems] == [-3.0, -0.55]
    assert (report.sources[0].rows, report.sources[0].used) == (5, 5)
    assert "by mqm in 4 judgements." in report.methods.text  # of five errors
    assert KIND.present(report).document().facts[0] == "4 judgements"
    assert report.criteria == ("mqm",)


def test_esa_keeps_the_judgement_that_ended_last():
    text = (esa("A", 0, 10, start=5, end=9) + esa("A", 0, 20, start=1, end=3) + esa("B", 0, 40)
            + esa("ende-tutorial1", 1_000_001, 0))  # fmt: skip
    asked = judged(text)
    assert rows_of(asked) == [("w", "A", "0", 0, 10.0), ("w", "B", "0", 0, 40.0)]
    assert asked.sources[0].dropped == {"tutorial": 1, "superseded": 1}
    assert asked.judgements.seconds[0] == 4.0


def test_esa_copies_are_for_control_only():
    text = (esa("A", 3, 80) + esa("A", 3, 20, kind="BAD", doc="d#bad")
            + esa("A", 3, 70, doc="d#dup") + esa("A", 4, 60, doc="d#incomplete")
            + esa("B", 3, 50))  # fmt: skip
    asked = judged(text)
    assert [(r[2], r[3]) for r in rows_of(asked)] == [("3", 0), ("3", 2), ("3", 4), ("4", 0),
                                                      ("3", 0)]  # fmt: skip
    report = compute(asked)
    assert report.systems[0].raw == 70.0  # of items 3 and 4
    assert report.annotators.each[0].bad_references == 1
    assert report.agreement[0].pairs == 1


def test_esa_items_that_are_places_become_places_in_their_document():
    """Document d of system A is cut between two logins; its degraded copy follows in the first."""
    text = "".join(esa("wmt23.A", item, 50 + item, doc="d#A", login="w1") for item in (98, 97))
    text += esa("wmt23.A", 99, 5, kind="BAD", doc="d#A#bad1", login="w1")
    text += esa("wmt23.A", 100, 6, kind="BAD", doc="d#A#bad1", login="w1")
    text += esa("wmt23.A", 1, 70, doc="d#A", login="w2")
    text += "".join(esa("wmt23.B", item, 60 + item, doc="d#B", login="w2") for item in (7, 5, 6))
    found = [(own[1], own[2], own[4]) for own in rows_of(judged(text, scale=[0, 200]))]
    assert found == [
        ("wmt23.A", "d.2", 148), ("wmt23.A", "d.1", 147), ("wmt23.A", "d.1", 5),
        ("wmt23.A", "d.2", 6), ("wmt23.A", "d.3", 70), ("wmt23.B", "d.3", 67),
        ("wmt23.B", "d.1", 65), ("wmt23.B", "d.2", 66),
    ]  # fmt: skip


def test_a_second_annotator_of_a_whole_document_judges_the_same_segments():
    text = "".join(esa("A", i, 50 + i, doc="d#A", login=w) for w in ("w1", "w2") for i in (1, 2))
    text += "".join(esa("B", i, 50, doc="d#B") for i in (1, 2))
    assert [own[2] for own in rows_of(judged(text))] == ["d.1", "d.2"] * 3


SPANS = '"[{""start_i"":0,""end_i"":3,""severity"":""minor""}]",'
SCORED = "{login},{source}{system},{item},{kind},en,cs,{score},{document}{spans}1.5,2.5{batch}\n"


@pytest.mark.parametrize("source", ["", "en-cs_#_news_#_d_#_{},"])
@pytest.mark.parametrize("document", ["", "d{},False,"])
@pytest.mark.parametrize(
    ("spans", "batch"),
    [("", ""), ("[],", ""), (SPANS, ",1,4711"), ("", ",1,47"), ("", ",1,47,0"),
     ("semantic-error1,", ""), (f"{SPANS}no comment,", ",1,4711,1")],
)  # fmt: skip
def test_every_campaign_of_appraise_is_read(source, document, spans, batch):
    """What `get_system_data` of Appraise selects, by task, year and `--batch-info`."""
    text = "".join(
        SCORED.format(source=source.format(item), document=document.format(item), spans=spans,
                      batch=batch, login="w", system=name, item=item, kind=kind, score=score)
        for name, item, kind, score in (
            ("A", 1, "TGT", 80), ("A", 1, "CHK", 78), ("A", 1, "BAD", 9), ("A", 2, "REF", 95),
            ("B", 1, "TGT", 70),
        )
    )  # fmt: skip
    asked = judged(text)
    ids = [source.format(i)[:-1] or str(i) for i in (1, 1, 1, 2, 1)]
    assert rows_of(asked) == [("w", "A", ids[0], 0, 80), ("w", "A", ids[1], 1, 78),
                              ("w", "A", ids[2], 2, 9), ("w", "A", ids[3], 3, 95),
                              ("w", "B", ids[4], 0, 70)]  # fmt: skip
    assert asked.choices.languages == "en-cs"
    assert asked.judgements.document.names == (("d1", "d2") if document else ())


def test_a_campaign_may_lack_times_and_call_the_source_as_its_file():
    """As its regression tests cut it, and as batches of WMT19 name the source of every segment."""
    row = "w,newstest-src.en,{},{},TGT,eng,deu,{},{},False\n"
    text = "".join(row.format(n, i, 50 + i, d) for n in "AB" for d in "xy" for i in (1, 2, 3))
    asked = judged(text)
    assert asked.judgements.raw.tolist() == [51, 52, 53] * 4
    assert [own[2] for own in rows_of(asked)] == ["x.1", "x.2", "x.3", "y.1", "y.2", "y.3"] * 2
    assert not any(asked.sources[0].dropped.values())


EXPORT = {  # what `ExportSystemScoresToJSONL` of Appraise writes of every campaign
    "annotator": "w", "source_text": "s", "item_type": "TGT", "source_language": "eng",
    "target_language": "deu", "is_complete_document": False, "batch_number": 1,
    "campaign_name": "c",
}  # fmt: skip
TIMES = {"start_time": 1.5, "end_time": 2.5, "duration": 1.0, "item_database_id": 7}


def exported(task, **fields):
    return json.dumps({**EXPORT, "task_type": task, **fields}) + "\n"


def test_json_lines_of_appraise_are_read_whatever_they_compare():
    scores = {("A", 1): 80, ("B", 1): 60, ("A", 2): 70, ("B", 2): 50}
    spans = json.dumps([{"start_i": 0, "end_i": 1, "severity": "minor"}])
    one = "".join(
        exported("Document", source_id="src.en", target_id=name, target_text="t", score=score,
                 item_id=i, document_id="d", mqm_annotations=spans, **TIMES)
        for (name, i), score in scores.items()
    )  # fmt: skip
    both, each = "", ""
    for i in (1, 2):
        targets = [{"target_id": name, "score": scores[name, i]} for name in "AB"]
        lone = {"target_id": None, "target_text": None, "score": None}
        both += exported("ContrastiveDocument", source_id=f"s{i}", targets=[*targets, lone],
                         item_id=i, document_id="d", **TIMES)  # fmt: skip
        own = [{**t, "segment_id": i, "mqm_annotations": "[]", **TIMES} for t in targets]
        each += exported("ContrastiveESA", source_id=f"s{i}", targets=own, document_id="d")
    for text in (one, both, each):
        asked = judged(text)
        assert sorted((own[1], own[4]) for own in rows_of(asked)) == [
            ("A", 70), ("A", 80), ("B", 50), ("B", 60),
        ]  # fmt: skip
        assert len({own[2] for own in rows_of(asked)}) == 2
        assert asked.choices.languages == "eng-deu"
    with pytest.raises(InputError, match="line 1: targets must be a list of objects"):
        judged(exported("PairwiseESA", targets=["x"]))
    with pytest.raises(InputError, match=r"line 1: .2 or 3. is no score"):
        judged(exported("Document", target_id="A", source_id="s", item_id=1, item_type="TGT",
                        score="2 or 3", document_id="d", **TIMES))  # fmt: skip


def test_what_appraise_dumps_of_all_results_has_its_annotators_and_kinds():
    head = ("taskID,systemID,username,email,groups,segmentID,score,startTime,endTime,"
            "durationInSeconds,itemType,campaignName\n")  # fmt: skip
    row = "1,{},w,w@x.org,NoGroupInfo,{},{},1.5,2.5,1.0,{},c\n"
    text = head + "".join(row.format(n, 1, s, k) for n, s, k in
                          (("A", 80, "TGT"), ("A", 78, "CHK"), ("A", 9, "BAD"), ("B", 70, "TGT"))
                          )  # fmt: skip
    assert rows_of(judged(text)) == [("w", "A", "1", 0, 80), ("w", "A", "1", 1, 78),
                                     ("w", "A", "1", 2, 9), ("w", "B", "1", 0, 70)]  # fmt: skip


def test_a_header_above_a_campaign_is_no_judgement():
    rows = "".join(f"w,{name},{i},TGT,en,cs,{i},1.5,2.5\n" for name in "AB" for i in range(6))
    header = "UserID,SystemID,ItemID,Type,Source,Target,Score,Start,End\n"
    assert rows_of(judged(header + rows)) == rows_of(judged(rows))


def test_whole_documents_are_no_segments_of_a_campaign():
    row = "w,{},{},TGT,eng,deu,{},d,{},1.5,2.5\n"
    segments = "".join(row.format(name, i, 50 + i, "False") for name in "AB" for i in (1, 2))
    documents = "".join(row.format(name, 3, 70, "True") for name in "AB")
    asked = judged(segments + documents)
    assert asked.judgements.raw.tolist() == [51, 52] * 2
    assert asked.sources[0].dropped == {"whole document": 2}
    assert judged(documents).judgements.raw.tolist() == [70, 70]


def test_items_that_count_anew_in_each_document_are_apart():
    row = "w,{},{},TGT,eng,deu,{},{},False,[],1.5,2.5\n"
    text = "".join(row.format(n, i, 50, d) for n in "AB" for d in ("x", "y") for i in (4, 7))
    assert [own[2] for own in rows_of(judged(text))] == ["x.1", "x.2", "y.1", "y.2"] * 2


def test_appraise_mqm_is_known_by_its_spans():
    minor = {"start_i": 0, "end_i": 3, "severity": "minor", "error_type": ["Style", "Awkward"]}
    comma = {"start_i": 4, "end_i": 4, "severity": "major",
             "error_type": ["Linguistic conventions", "Punctuation"]}  # fmt: skip
    lost = {"start_i": "missing", "end_i": "missing", "severity": "major", "error_type": None}
    text = esa("A", 0, 0, spans=[minor, comma, lost]) + esa("B", 0, 0) + esa("B", 1, 0)
    asked = judged(text)
    assert [own[4] for own in rows_of(asked)] == [-6.1, 0.0, 0.0]
    assert asked.choices.criteria == ("mqm",)


def test_points_counted_from_errors_have_their_direction():
    of_appraise = esa("A", 0, 0, spans=[MINOR]) + esa("B", 0, 0)
    of_google = MQM + "".join(f"{own}\td\t1\t1\tr\ts\tt\tStyle\tMajor\n" for own in "AB")
    for text in (of_appraise, of_google):
        assert judged(text).choices.lower == ()
        with pytest.raises(SigtestError, match=r"counted from errors.* more is better"):
            judged(text, lower=["mqm"])


@pytest.mark.parametrize(("severity", "score"), [(None, 0), ("minor", -1), ("major", -5)])
def test_errors_of_undecided_severity_count_as_is_asked(severity, score):
    undecided = {**ODD, "severity": "undecided"}
    text = esa("A", 0, 0, spans=[undecided, MINOR]) + esa("B", 0, 0, spans=[MINOR])
    asked = judged(text, **({"undecided": severity} if severity else {}))
    assert asked.judgements.raw.tolist() == [score - 1, -1]
    assert any(f"1 error is undecided; counted as {severity or 'none'}" in note
               for note in sentences(compute(asked)))  # fmt: skip


def test_every_wave_of_wmt25_is_an_item():
    emoji = {"start_i": 7, "end_i": 8, "severity": "minor"}  # its second half, as browsers count
    text = wmt25("A", "B", human1=90, annotator1="v", human2=95, annotator2="w", errors2=[emoji])
    text += wmt25("A", "B", segment=1, human1=80, annotator1="v", human2=None)
    text += json.dumps({"doc_id": "en-cs_CZ_#_news_#_e_#_0", "tgt_text": {}, "scores": {}}) + "\n"
    control = [{"human": 70, "annotator": "w", "errors": []}]
    text += json.dumps({"doc_id": "en-cs_CZ_#_news_#_e_#_1", "tgt_text": {"A": "", "B": ""},
                        "scores": {"A": control, "B": control}}) + "\n"  # fmt: skip
    asked = judged(text)
    assert [row[:3] + row[4:] for row in rows_of(asked) if row[1] == "B"] == [
        ("v", "B", "news_#_d_#_0_#_human1", 90),
        ("w", "B", "news_#_d_#_0_#_human2", 95),
        ("v", "B", "news_#_d_#_1_#_human1", 80),
        ("w", "B", "news_#_e_#_1_#_human1", 70),
    ]
    assert asked.choices.languages == "en-cs_CZ"
    assert asked.judgements.document.names == ("news_#_d", "news_#_e")
    assert asked.sources[0].dropped == {"not judged": 2}


@pytest.mark.parametrize("form", ["csv", "tsv", "semicolon", "jsonl", "json"])
def test_named_columns_in_every_form(form):
    header = ["Rater", "System", "seg_id", "Score", "doc", "comment", "type"]
    body = [["r1", "A", "1", "70", "d", 'said "ok"', "TGT"],
            ["r1", "B", "1", "40.5", "d", "", "BAD"],
            ["r2", "B", "2", "3", "d", "x", "system"]]  # fmt: skip
    marks = {"csv": ",", "tsv": "\t", "semicolon": ";"}
    if form in marks:
        quoted = [[f if form == "tsv" or '"' not in f else '"said ""ok"""' for f in row]
                  for row in [header, *body]]  # fmt: skip
        text = "\n".join(marks[form].join(row) for row in quoted) + "\n"
    else:
        objects = [dict(zip(header, row, strict=True)) for row in body]
        text = json.dumps(objects) if form == "json" else "\n".join(map(json.dumps, objects))
    asked = judged(text)
    assert rows_of(asked) == [("r1", "A", "1", 0, 70.0), ("r1", "B", "1", 2, 40.5),
                              ("r2", "B", "2", 0, 3.0)]  # fmt: skip
    assert asked.judgements.document.names == ("d",)
    assert asked.sources[0].input == "columns"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("system,segment,score,score\nA,1,70,60\nB,1,40,30\n", "score: 'score', 'score'"),
        ("system,segment,Score 1,Score 2\nA,1,70,60\nB,1,40,30\n", "score: 'Score 1', 'Score 2'"),
        ("item,system,segment,System,score\n1,A,1,B,3\n", "system: 'system', 'System'"),
        ('{"system": "A", "segment": 1, "score": 3, "Score": 4}\n', "score: 'score', 'Score'"),
    ],
)
def test_two_columns_of_one_meaning_are_refused(text, shown):
    with pytest.raises(InputError, match=f"more than one column for the {shown}; leave one"):
        judged(text)


def test_a_file_that_is_given_twice_is_refused():
    data = b"system,segment,score\nA,1,70\nB,1,40\n"
    more = b"system,segment,score\nA,2,70\nB,2,40\n"
    assert len(parse({}, [("one", data), ("two", more)]).judgements) == 4
    with pytest.raises(InputError, match="one and copy are the same"):
        parse({}, [("one", data), ("two", more), ("copy", data)])


def test_models_of_hubs_are_called_as_files_of_theirs():
    asked = judged("system,segment,score\norg/big,1,70\norg/small,1,40\norg/big,2,60\n")
    assert asked.judgements.system.names == ("org__big", "org__small")
    ranked = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n1,j,org/big,B,1,2\n"
    report = compute(parse({}, [("r", ranked.encode())]))
    assert [own.name for own in report.systems] == ["org__big", "B"]


def test_rankings_pass_over_outputs_that_were_not_ranked():
    header = "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,"
    text = header + "system2rank,system3rank\nx,y,1,j,A,B,C,1,2,-1\nx,y,2,j,C,A,B,1,1,3\n"
    report = compute(parse({}, [("r", text.encode())]))
    assert [(p.a, p.b, p.u, p.n_a) for p in report.pairs] == [
        ("A", "C", 0, 0), ("A", "B", 2, 2), ("C", "B", 1, 1)]  # fmt: skip
    assert {own.name: own.raw for own in report.systems} == {"A": 100, "B": 0, "C": 100}
    judged = {own.name: own.n_judgements for own in report.systems}
    assert judged == {"A": 2, "B": 2, "C": 1}
    assert [pair.ties for pair in report.pairs] == [1, 0, 0]
    assert report.tested == "preferences"


def test_systems_of_another_language_pair_are_not_ranked():
    header = "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"
    text = header + "x,y,1,j,A,B,1,2\nz,y,1,j,C,D,1,2\nx,y,2,j,B,A,2,1\n"
    report = compute(parse({"languages": "x-y"}, [("r", text.encode())]))
    assert [own.name for own in report.systems] == ["A", "B"]
    assert [(pair.a, pair.b, pair.u) for pair in report.pairs] == [("A", "B", 2)]


def test_outputs_that_nobody_ranked_are_not_ranked():
    header = "srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n"
    report = compute(parse({}, [("r", (header + "1,j,X,A,B,-1,1,2\n").encode())]))
    assert [own.name for own in report.systems] == ["A", "B"]


def test_a_system_that_ties_with_all_others_has_no_share_of_wins():
    header = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"
    report = compute(parse({}, [("r", (header + "1,j,A,B,1,1\n2,j,B,C,1,2\n").encode())]))
    tied, won, _ = report.systems
    assert (tied.raw, won.raw) == (None, 100)


def test_rankings_of_several_files_may_be_unequally_wide():
    two = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"
    three = "srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n"
    files = [("r", (two + "1,j,A,B,1,2\n").encode()),
             ("s", (three + "1,j,B,C,A,3,2,1\n2,j,A,B,C,1,2,-1\n").encode())]  # fmt: skip
    report = compute(parse({}, files))
    won = {(p.a, p.b): (p.u, p.n_a) for p in report.pairs}
    assert won == {("A", "B"): (3, 3), ("A", "C"): (1, 1), ("C", "B"): (1, 1)}
    assert [source.used for source in report.sources] == [1, 2]


def test_fillers_are_no_systems_and_shared_outputs_are_of_both():
    text = RNK + "1,j,A+B,C,1,2\n2,j,A,placeholder,1,-1\n3,j,B,C,2,1\n4,j,A,x+y,2,1\n"
    report = compute(parse({}, [("r", text.encode())]))
    won = {(p.a, p.b): (p.u, p.n_a) for p in report.pairs}
    judged = {own.name: own.n_judgements for own in report.systems}
    assert [*judged] == ["x+y", "A", "B", "C"]  # who won comes first
    assert (won["A", "C"], won["B", "C"], won["x+y", "A"]) == ((1, 1), (1, 2), (1, 1))
    assert (won["A", "B"], judged["A"]) == ((0, 0), 2)  # one output: a tie
    assert report.sources[0].dropped == {"fewer than two outputs are ranked": 1}


def test_rankings_of_wmt16_are_pairs_of_outputs():
    # the layout that the README of WMT16's human judgements shows
    text = (
        "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,"
        "rankingID\ncze,eng,779,779,judge1,newstest2016.uedin-nmt.4361.cs-en,5,"
        "newstest2016.online-A.0.cs-en,3,1\n"
    )
    report = compute(parse({}, [("r", text.encode())]))
    assert report.languages == "cze-eng"
    assert {own.name: own.raw for own in report.systems} == {
        "newstest2016.online-A.0.cs-en": 100, "newstest2016.uedin-nmt.4361.cs-en": 0}  # fmt: skip


def test_agreement_of_rankings_does_not_depend_on_the_order_of_outputs():
    header = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"
    text = header + "1,j,A,B,1,2\n1,k,B,A,2,1\n1,l,B,A,1,2\n1,j,A,B,1,1\n"
    same, distinct = compute(parse({}, [("r", text.encode())])).agreement
    assert (same.judges, same.pairs, same.agreed) == ("same", 1, 0)
    assert (distinct.judges, distinct.pairs, distinct.agreed) == ("distinct", 5, 1)
    assert (distinct.bins, distinct.categories) == ("relations", 3)


def test_input_overrules_sniffing():
    text = "system\tsegment\tscore\nA\t1\t5\nB\t1\t7\n"
    assert read_judgements(text.encode(), "x").input == "columns"
    with pytest.raises(InputError, match="x, line 1: the header has no column workerid"):
        read_judgements(text.encode(), "x", "wmt_da")
    with pytest.raises(SigtestError, match="Did you mean 'wmt_da'"):
        read_judgements(text.encode(), "x", "wmt-da")
    with pytest.raises(InputError, match="x, line 1: the header has no column srcIndex"):
        read_judgements(text.encode(), "x", "rnk")
    with pytest.raises(InputError, match="x, line 1: the header has no column judgeId"):
        read_judgements(b"srcIndex,system1Id,system1rank\n1,A,1\n", "x", "rnk")
    with pytest.raises(InputError, match="no column system1Id"):
        read_judgements(b"srcIndex,judgeId,system2Id,system2rank\n1,w,A,1\n", "x", "rnk")
    assert set(FORMATS_JUDGED) == {"wmt_da", "wmt_da_segments", "mtme", "mqm", "esa", "rnk",
                                   "columns", "wmt25", "pearmut", "games",
                                   "preferences"}  # fmt: skip


LINE = "h w a b ad 1 A r SYSTEM 1 50 9\nh w a b ad 1 B r SYSTEM 1 50 9\n"
BAD_SPAN = {"start_i": 5, "end_i": 2, "severity": "minor"}
BEFORE = {"start_i": -1, "end_i": 2, "severity": "minor"}
ODD = {"start_i": 0, "end_i": 2, "severity": "grave", "error_type": ["Style"]}
MINOR = {**ODD, "severity": "minor"}
BEYOND = {**MINOR, "end_i": 10_000_000}
RNK = "srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"

NEWER = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"


@pytest.mark.parametrize(
    ("numbers", "expected"), [(("7", "8", "8"), ["7", "8"]), (("0", "0", "0"), ["d.1", "e.1"])]
)
def test_mqm_of_later_years_numbers_segments_twice(numbers, expected):
    places = zip("dee", numbers, ("Minor", "Major", "Minor"), strict=True)
    text = NEWER + "".join(
        f"{system}\t{doc}\t1\t{number}\tr1\tsrc\tx\tStyle\t{severity}\n"
        for doc, number, severity in places
        for system in "AB"
    )
    found = judged(text)
    assert found.sources[0].input == "mqm"
    assert [(segment, score) for _, system, segment, _, score in rows_of(found)
            if system == "A"] == [(expected[0], -1.0), (expected[1], -6.0)]  # fmt: skip


def test_questions_in_messages_end_with_their_own_mark():
    with pytest.raises(InputError) as caught:
        judged(DA + LINE.replace("SYSTEM", "SYSTEN"))
    assert caught.value.message.endswith("Did you mean 'SYSTEM'?")


BESIDE = "in no format of judgements that is known .* Its first line is .* Write a judgement a row"

REFUSED = {
    "score above the scale": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 101 9\n",
                              "file, line 4: the score 101 lies outside the scale from 0 to 100"),
    "negative raw score": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 -5 9\n",
                           "file, line 4: the score -5 lies outside"),
    "NaN": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 nan 9\n",
            "file, line 4: 'nan' is no score"),
    "infinity": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 inf 9\n",
                 "file, line 4: 'inf' is no score; a score is one number"),
    "NA": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 NA 9\n", "file, line 4: 'NA' is no score"),
    "decimal comma": ("system\tsegment\tscore\nA\t1\t5\nB\t1\t70,5\n",
                      "file, line 3: '70,5' is no score; write the decimal mark as a point"),
    "empty score": ("system,segment,score\nA,1,5\nB,1,\n", "file, line 3: nothing is no score"),
    "empty system": ("system,segment,score\nA,1,5\n,1,6\n", "file, line 3: the system is empty"),
    "unknown kind": (DA + LINE + "h w a b ad 1 A r SYSTM 2 5 9\n",
                     "file, line 4: unknown kind of judgement 'SYSTM'.*Did you mean 'SYSTEM'"),
    "ragged": (DA + LINE + "h w a b ad 1 A r SYSTEM 2 5\n",
               "file, line 4: 11 cells between blanks, the header names 12"),
    "ragged csv": ("system,segment,score\nA,1,5\nB,1\n", "file, line 3: 2 cells between commas"),
    "open quotation": ('system,segment,score\nA,1,5\nB,"1,7\n', "file, line 3"),
    "contradiction": (DA + LINE + "h w a b ad 1 A r SYSTEM 1 51 9\n",
                      "file, line 4: the score 51 contradicts line 2, which has 50"),
    "no column": ("system,segment,points\nA,1,5\n",
                  "no column score; columns are system, segment, points"),
    "no segment": ("lp,src,mt,ref,score,system\nde-en,a,b,c,1,A\n", "no column segment; col"),
    "severity": (MQM + "A\td\t1\t1\tr\ts\tt\tStyle\tHuge\nB\td\t1\t1\tr\ts\tt\tStyle\tAwful\n",
                 "file, line 2: no weight is known for severity 'Awful', 'Huge'"),
    "no segment in mqm": (MQM.replace("seg_id", "segment") + "A\td\t1\t1\tr\ts\tt\tStyle\tMinor\n",
                          "line 1: the header has no column seg_id"),
    "ragged mqm": (MQM + "A\td\t1\t1\tr\ts\tt\tStyle\n", "file, line 2: 8 cells between tabs"),
    "span": (esa("A", 0, 1) + esa("B", 0, 1, spans=[BAD_SPAN]),
             "file, line 2: a span from 5 to 2 lies outside its text"),
    "span before": (esa("A", 0, 1) + esa("B", 0, 1, spans=[BEFORE]),
                    "file, line 2: a span from -1"),
    "severity in spans": (esa("A", 0, 0) + esa("B", 0, 0, spans=[ODD]),
                          "file, line 2: no weight is known for severity 'grave'"),
    "span beyond any text": (esa("A", 0, 1) + esa("B", 0, 1, spans=[BEYOND]),
                             "file, line 2: a span from 0 to 10000000 lies outside"),
    "span beyond its text": (wmt25("A", human1=5) + wmt25("B", human1=5, errors1=[BEYOND]),
                             "file, line 2: a span from 0 to 10000000 lies outside"),
    "wmt25 without scores": (wmt25("A", human1=5) + '{"doc_id": "x_#_y", "tgt_text": {}}\n',
                             "file, line 2: no segment of WMT25"),
    "system ranked twice": (RNK + "1,j,A,A,1,2\n", "file, line 2: system 'A' is ranked twice"),
    "rank beyond the outputs": (RNK + "1,j,A,B,1,9\n", "file, line 2: '9' is no rank; .*1 to 5"),
    "two directions": (
        "system,segment,score,higher_is_better\nA,1,5,false\nB,1,5,true\n",
        "file, line 3: another direction of score than above",
    ),
    "kind in esa": (esa("A", 0, 1) + esa("B", 0, 1, kind="GOOD"),
                    "file, line 2: unknown kind 'GOOD'"),
    "rank": ("srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n1,j,A,B,1,0\n",
             "file, line 2: '0' is no rank"),
    "huge rank": ("srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n1,j,A,B,1,"
                  + "9" * 30 + "\n", "file, line 2: '9+' is no rank"),
    "mtme ragged": ("A\t1\nA\t2\nB\t1\n", "system 'B' has 1 lines, 'A' has 2"),
    "mtme systems": ("A\t1.5\nB\t2\n", "one score a system"),
    "mtme domains": ("news\tA\t1.5\nnews\tB\t2\n", BESIDE),
    "means of systems": ("RAW.SCR Z.SCR N SYS N.ALL \n75 0.05 1385 A 1806 \n", BESIDE),
    "matrix": (" A B C \nA 0.12 0.01 0.02 \n", BESIDE),
    "ranking": ("75.3 0.055 1385 1806 A \n", BESIDE),
    "means of annotators": ('[1] "M1407"\n[1] 61.0\n', BESIDE),
    "prose": ("Once upon a time\n", "in no format of judgements that is known"),
    "json": ('{"system": "A", "segment": 1, "score": 5}\n{"system": \n', "line 2: not whole JSON"),
    "json list": ('[{"system": "A", "segment": 1, "score": 5}, 7]', "entry 2: expected a JSON"),
    "json list score": ('[{"system": "A", "segment": 1, "score": 5},'
                        ' {"system": "B", "segment": 1, "score": true}]',
                        r"file\[1\]\.score: true is no score"),
    "json score": ('{"system": "A", "segment": 1, "score": true}\n',
                   "file, line 1: true is no score"),
    "json name": ('{"system": ["A"], "segment": 1, "score": 4}\n',
                  r"file, line 1: \[\"A\"\] is no system, which is text"),
    "deep json": ('{"system": ' + "[" * 200_000, "file: JSON that is .* too deep"),
    "json field twice": ('{"system": "A", "segment": 1, "score": 5, "score": 6}\n',
                         "file: .*'score' stands twice"),
    "json list field twice": ('[{"system": "A", "segment": 1, "score": 5, "score": 6}]',
                              "'score' stands twice"),
    "number of Python": ("system,segment,score\nA,1,5\nB,1,7_0\n", "file, line 3: '7_0' is no sc"),
    "carriage returns": ("system,segment,score\rA,1,5\rB,1,7\r", "carriage returns alone"),
    "one long line": ("x" * 300_000, "in no format of judgements"),
    "too large": ("system\tsegment\tz\nA\t1\t1e300\nB\t1\t2\n",
                  r"line 2: '1e300' is no score; a score is one number of at most 1e\+12"),
    "empty": ("", "file is empty"),
    "header only": (DA, "file has a header and no rows"),
    "one system": ("system,segment,score\nA,1,5\n", r"judgements of 1 system \(A\)"),
    "seconds": ("system,segment,score,seconds\nA,1,5,-3\nB,1,5,2\n",
                "line 2: '-3' is no number of sec"),
    "languages": (DA + LINE + "h w a c ad 1 A r SYSTEM 1 50 9\n",
                  r"several language pairs \(a-b, a-c\)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_files_are_refused_with_file_and_line(case):
    text, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        parse({}, [("file", text.encode())])
    said = caught.value.message
    assert len(said) < 900
    if "line " in message and "," in message.split("line ")[0]:
        assert caught.value.line == int(message.split("line ")[1].split(":")[0].split(",")[0])


def test_a_hint_for_spreadsheets_is_no_header():
    hinted = "sep=;\r\nsystem;segment;score\r\nA;1;70\r\nB;1;x\r\n"
    assert judged(hinted.replace("x", "40")).judgements.raw.tolist() == [70, 40]
    with pytest.raises(InputError, match="line 4: 'x' is no score"):
        judged(hinted)


def test_rows_without_content_are_passed_over():
    asked = judged("system,segment,score\nA,1,5\n,,\nB,1,6\n,,\n")
    assert len(asked.judgements) == 2


PLAIN = "annotator,system,segment,score,document\nann,A,1,5,x\nann,B,1,6,x\n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            "Mean,A,1,5,x",
            "line 4: annotator 'Mean' sums others up by its name; take such rows out.",
        ),
        ("ann,A,all,5,x", "line 4: segment 'all' sums others up by its name; take such rows out."),
        ("ann,A,1.0,7,x", "segments are called '1' and '1.0', .*; write ids alike."),
        ("ann,A,001,7,x", "segments are called '1' and '001', .*; write ids alike."),
        ("ann,A,2,,x", "line 4: nothing is no score; leave rows without a score out."),
        ("ann,A,2,n.a.,x", "line 4: 'n.a.' is no score; leave rows without a score out."),
        ("ann,A,2,NaN,x", "line 4: 'NaN' is no score; leave rows without a score out."),
        ("ann,A,1,7,y", "line 4: segment '1' is of document 'y', above of 'x'; .* 'y:1'."),
    ],
)
def test_a_row_of_a_spreadsheet_that_would_mislead_is_refused(row, said):
    with pytest.raises(InputError, match=f"^file(, |: ){said}$"):
        judged(f"{PLAIN}{row}\n")


@pytest.mark.parametrize("names", [("source_lang", "target_lang"), ("srclang", "trglang")])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_column_for_each_language_names_the_pair(names, form):
    """Else judgements of several pairs would be pooled."""
    columns = ["system", "segment", "score", *names]
    rows = [[s, i, 5 + i, "en", to] for i, to in enumerate(["de", "cs"]) for s in "AB"]
    text = "".join(f"{','.join(map(str, row))}\n" for row in [columns, *rows])
    if form == "json":
        text = json.dumps([dict(zip(columns, row, strict=True)) for row in rows])
    with pytest.raises(InputError, match=r"several language pairs \(en-de, en-cs\)"):
        judged(text)
    assert [row[2] for row in rows_of(judged(text, languages="en-cs"))] == ["1", "1"]


def test_ids_that_count_anew_in_documents_are_refused_in_requests():
    rows = [{"system": "A", "segment": 1, "score": 5, "document": d} for d in "xy"]
    with pytest.raises(InputError) as error:
        parse({"judgements": rows})
    assert error.value.field == "judgements[1].segment"


@pytest.mark.parametrize("separator", [",", "\t"])
def test_blanks_at_the_ends_of_cells_do_not_count(separator):
    """As spreadsheets and people leave them: one annotator, system or segment is not two."""
    plain = "annotator,system,segment,score\nann,A,1,5\nann,B,1,6\nann,A,2,7\nann,B,2,8\n"
    spaced = plain.replace("ann,A,2", 'ann ,"A\u00a0", 2')
    texts = [text.replace(",", separator) for text in (spaced, plain)]
    assert rows_of(judged(texts[0])) == rows_of(judged(texts[1]))


def test_other_white_space_at_the_end_of_a_name_is_refused():
    text = 'system,segment,score\n"A\x0b",1,5\n'
    with pytest.raises(InputError, match=r"file, line 2: the system name 'A\\x0b' contains"):
        judged(text)


def test_rows_that_occur_twice_alike_count_once():
    asked = judged(DA + LINE + LINE)
    assert len(asked.judgements) == 2
    assert asked.sources[0].dropped == {"repeated row": 2}


@pytest.mark.parametrize("nobody", ["", "null"])
def test_judgements_of_nobody_are_not_those_of_one_annotator(nobody):
    scores = [("A", 5), ("A", 7), ("B", 6), ("B", 6)]
    text = "annotator,system,segment,score\n" + "".join(f",{s},1,{v}\n" for s, v in scores)
    if nobody == "null":
        rows = [{"annotator": None, "system": s, "segment": 1, "score": v} for s, v in scores]
        text = "".join(json.dumps(row) + "\n" for row in rows)
    assert [row[4] for row in rows_of(judged(text))] == [5, 7, 6, 6]


def test_rows_that_two_files_have_alike_count_once():
    more = LINE.replace(" A ", " C ")
    files = [("monday", (DA + LINE).encode()), ("tuesday", (DA + LINE + more).encode())]
    asked = parse({"standardise": "none"}, files)
    systems = [row[1] for row in rows_of(asked)]
    assert systems == ["A", "B", "C"]
    assert [own.dropped for own in asked.sources] == [{}, {"repeated row": 3}]


def test_rankings_that_two_files_have_alike_count_once():
    """Those that one file has twice are of an annotator who ranked the same outputs again."""
    header = "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system1rank,system2rank\n"
    a, b, c = (f"es,en,{i},judge,A,B,1,2\n" for i in range(3))
    files = [("monday", header + a + a + b), ("tuesday", header + b + a + c + c)]
    asked = parse({}, [(name, text.encode()) for name, text in files])
    segments = asked.judgements.segment
    assert [segments.at(i) for i in range(len(asked.judgements))] == ["0", "0", "1", "2", "2"]
    assert [own.rows for own in asked.sources] == [3, 4]
    assert [own.dropped for own in asked.sources] == [{}, {"repeated row": 2}]


def test_one_judgement_with_two_scores_names_both_files_and_lines():
    other = DA + "\n" + LINE.replace(" B r SYSTEM 1 50 ", " B r SYSTEM 1 60 ")
    message = "^tuesday, line 4: the score 60 contradicts monday, line 3, which has 50 for the same"
    with pytest.raises(InputError, match=message):
        parse({}, [("monday", (DA + LINE).encode()), ("tuesday", other.encode())])


def test_rows_without_annotators_are_no_copies_of_other_files():
    table = b"system,segment,score\nA,1,50\nB,1,60\n"
    asked = parse({}, [("one.csv", table), ("two.csv", table + b"A,2,50\n")])
    assert len(asked.judgements) == 5


def test_raw_and_standardised_files_do_not_mix():
    raw = ("raw", (DA + LINE).encode())
    z = ("stnd", (DA + LINE.replace(" 50 ", " -0.5 ")).encode())
    with pytest.raises(InputError, match="raw and stnd differ"):
        parse({}, [raw, z])


def test_several_files_are_one_evaluation():
    first = ("one", (DA + LINE).encode())
    second = ("two", (DA + LINE.replace(" ad ", " fl ")).encode())
    report = compute(parse({"standardise": "none"}, [first, second]))
    assert report.criteria == ("adequacy", "fluency")
    assert [own.rows for own in report.sources] == [2, 2]


def test_millions_of_rows_are_refused_before_they_are_read():
    data = b"A\t1\n" * 5_000_000
    with pytest.raises(LimitError, match=f"5,000,000 lines; at most {MAX_ROWS:,}"):
        read_judgements(data, "huge")


def test_every_published_file_is_read_or_refused_by_name(data):
    """Judgements are read by sniffing; what lies beside them is refused by what it is."""
    refused = ("adwilcox", "ad-DA-diff", "ad-sys-scores", "ad-sys-ranking", "trk-mean-sd",
               ".sys.score", ".domain.score")  # fmt: skip
    files = [p for folder in ("wmt22.cs-en/human", "flores21.bn-hi/human", "wmt13.en-ru/human",
                              "wmt12.es-en/human", "wmt23.he-en/human-scores")
             for p in sorted((data / folder).iterdir())]  # fmt: skip
    assert len(files) == 25
    for path in files:
        if any(mark in path.name for mark in refused):
            with pytest.raises(InputError, match=r"give the|by segment"):
                read_judgements(path.read_bytes(), path.name)
        else:
            read_judgements(path.read_bytes(), path.name)
