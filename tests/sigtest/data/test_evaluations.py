"""What evaluations, spreadsheets and retrieval write: read as rows of a table, or refused."""

import io
import json
import zipfile

import pytest
from evaluated import (
    HUMAN_EVAL,
    PYTREC,
    SWEBENCH,
    TREC,
    deepeval,
    deepeval_cases,
    promptfoo,
    promptfoo_rows,
    sheet,
    workbook,
    zstandard,
)

from sigtest.errors import InputError, LimitError
from sigtest.files.gathering import read_bytes
from sigtest.files.join import Joining, join
from sigtest.files.tables import flat
from sigtest.files.tree import Bounds


def tables(material):
    return {(own.system, own.label): own.runs for own in material.scores}


def read(content, name="x.json", **how):
    data = content if isinstance(content, bytes) else content.encode()
    return read_bytes(data, name, how=Joining(**how))


def jsonl(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# promptfoo


def test_promptfoo_has_scores_of_each_provider_by_test():
    found = read(promptfoo(promptfoo_rows()))
    assert found.ids == ("0", "1")
    assert tables(found) == {
        ("openai:gpt", "score"): ((1.0, 1.0),), ("openai:gpt", "pass"): ((1.0, 1.0),),
        ("openai:gpt", "tone"): ((0.5, 0.75),), ("file:____elm.py", "score"): ((1.0, 0.25),),
        ("file:____elm.py", "pass"): ((1.0, 0.0),), ("file:____elm.py", "tone"): ((0.5, 0.75),),
    }  # fmt: skip
    assert found.keys == ('{"q": "2+2?"}', '{"q": "3+3?"}')
    assert not any("passed over" in note for note in found.notes)


NUMBERED = ("testIdx", "promptIdx", "testCase", "failureReason")  # since version 3


@pytest.mark.parametrize(
    "of", ["lines", "lists in lines", "a list in results", "names of providers", "version 2"]
)
def test_promptfoo_of_other_shapes_says_the_same(of):
    rows, whole = promptfoo_rows(prompts=("a", "b")), promptfoo(promptfoo_rows(prompts=("a", "b")))
    if of == "names of providers":
        rows = [{**row, "provider": row["provider"]["id"]} for row in rows]
    if of == "version 2":
        rows = [{k: v for k, v in row.items() if k not in NUMBERED} for row in rows]
    text = jsonl(rows) if of == "lines" else json.dumps({"version": 2, "results": rows})
    if of == "lists in lines":
        text = jsonl([{"results": rows[:3]}, {"results": {"results": rows[3:]}}])
    assert tables(read(text)) == tables(read(whole))
    assert read(text).ids == ("0", "1")


def test_an_error_without_a_grade_in_promptfoo_before_version_3_is_no_score():
    rows = [{k: v for k, v in row.items() if k not in NUMBERED} for row in promptfoo_rows()]
    rows[2] |= {"error": "Expected output to contain 9", "success": False, "score": 0}
    rows[3] |= {"error": "API error: 429", "success": False, "score": 0, "gradingResult": None}
    scores = tables(read(promptfoo(rows, 2)))
    assert scores["openai:gpt", "pass"] == ((1.0, 0.0),)
    assert scores["file:____elm.py", "pass"] == ((1.0, None),)


def test_tests_of_promptfoo_whose_variables_were_taken_out_stay_apart():
    rows = [row | {"vars": {}, "testCase": {"assert": []}} for row in promptfoo_rows()]
    assert tables(read(promptfoo(rows))) == tables(read(promptfoo(promptfoo_rows())))


YAML = "".join(f"    - promptIdx: 0\n      testIdx: {i}\n      score: 1\n" for i in range(3))


@pytest.mark.parametrize(
    "text",
    [
        f"evalId: eval-x\nresults:\n  version: 3\n  results:\n{YAML}",
        '<?xml version="1.0" encoding="UTF-8"?>\n<promptfoo>\n  <evalId>eval-x</evalId>\n',
        'q,[openai:gpt] plain\n2+2?,[PASS] 4\n3+3?,"[FAIL] (0.25) Expected 6\n---\n5"\n',
        "q,[a] plain,Status,Score,Named Scores,Grader Reason,Comment,[b] plain,Status,Score,"
        "Named Scores,Grader Reason,Comment\n2+2?,4,PASS,1.00,{},said,,4,PASS,1.00,{},said,\n",
    ],
)
def test_tables_and_markup_of_promptfoo_are_sent_to_its_json(text):
    with pytest.raises(InputError, match=r"of promptfoo give the JSON \(--output results.json\)"):
        read(text, "x")


def test_what_people_say_is_no_yaml():
    said = "Anna: is it so?\nBen: it is.\nAnna: good.\nBen: yes.\n"
    assert read(said, "x.txt").texts == (tuple(said.splitlines()),)


def test_repeats_of_a_test_in_promptfoo_are_runs():
    found = read(promptfoo(promptfoo_rows(repeat=3)))
    assert found.ids == ("0", "1")
    assert tables(found)["file:____elm.py", "score"] == ((1.0, 0.25),) * 3


def test_the_order_of_results_of_promptfoo_does_not_matter():
    rows = promptfoo_rows(repeat=2, prompts=("plain", "other"))
    assert tables(read(promptfoo(rows[::-1]))) == tables(read(promptfoo(rows)))


def test_prompts_of_one_provider_in_promptfoo_are_systems():
    found = read(promptfoo(promptfoo_rows(prompts=("plain", 'a "quoted" one'))))
    names = ("openai:gpt prompt 1", "openai:gpt prompt 2")
    assert found.system_names[:2] == names


def test_an_error_of_a_provider_in_promptfoo_is_no_score():
    rows = promptfoo_rows()
    rows[3] |= {"failureReason": 2, "error": "429", "score": 0, "success": False}
    found = read(promptfoo(rows))
    assert tables(found)["file:____elm.py", "pass"] == ((1.0, None),)
    with pytest.raises(InputError, match=r"no 'score' score for 1 of 2 segments \('1'\).*drop"):
        join([found])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, 3], "x.json: entry 5 is no object"),
        (lambda rows: [rows[0] | {"score": "high"}], "x.json, entry 1, column 'score': 'high' is"),
        (
            lambda rows: [rows[0] | {"namedScores": {"a": {"b": 1}}}],
            "a score is one number, not an",
        ),
    ],
)
def test_what_promptfoo_does_not_write_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        read(promptfoo(change(promptfoo_rows())))


# DeepEval


def test_deepeval_has_scores_by_metric_and_says_which_are_better_when_lower():
    found = read(json.dumps(deepeval(deepeval_cases())), "elm.json")
    assert found.ids == ("test_case_0", "test_case_1")
    assert tables(found) == {
        ("elm", "Answer Relevancy"): ((0.75, 0.25),), ("elm", "Bias"): ((0.125, 0.625),),
    }  # fmt: skip
    directions = {own.label: own.higher_is_better for own in found.scores}
    assert directions == {"Answer Relevancy": None, "Bias": False}


def test_deepeval_of_other_shapes_says_the_same():
    plain = read(json.dumps(deepeval(deepeval_cases())))
    inner = read(json.dumps({"testRunData": deepeval(deepeval_cases())}))
    assert inner == plain
    nameless = read(json.dumps(deepeval(deepeval_cases(names=(None, None)))))
    assert nameless.ids == ("question 0", "question 1")
    assert tables(nameless) == tables(plain)
    assert read(json.dumps(deepeval(deepeval_cases(names=("same", "same"))))).ids == nameless.ids


@pytest.mark.parametrize("form", [json.dumps, jsonl])
def test_a_bare_list_of_results_of_deepeval_says_the_same(form):
    cases = [{("metrics_data" if k == "metricsData" else k): v for k, v in case.items()}
             for case in deepeval_cases()]  # fmt: skip
    assert tables(read(form(cases))) == tables(read(json.dumps(deepeval(deepeval_cases()))))


def test_deepeval_of_other_versions_and_of_conversations_says_the_same():
    plain = tables(read(json.dumps(deepeval(deepeval_cases()))))
    cases = deepeval_cases()
    unscored = {"name": "unscored", "input": "x", "metricsData": None}
    old = [
        {**case, "metricsData": None, "metricsMetadata": [
            {**own, "metric": own["name"], "name": own["name"]} for own in case["metricsData"]]}
        for case in cases
    ]  # fmt: skip
    for case in old:
        for own in case["metricsMetadata"]:
            del own["name"]
    talks = [{k: v for k, v in case.items() if k != "input"} | {"turns": []} for case in cases]
    results = [{"name": case["name"], "input": case["input"], "metrics_data": case["metricsData"]}
               for case in cases]  # fmt: skip
    for content in (
        deepeval([unscored, *cases]),
        deepeval(old),
        deepeval(cases[:1]) | {"conversationalTestCases": talks[1:]},
        deepeval([]) | {"conversationalTestCases": talks},
        {"test_results": results, "confident_link": None},
    ):
        assert tables(read(json.dumps(content))) == plain


def test_an_error_of_a_metric_of_deepeval_is_no_score():
    cases = deepeval_cases()
    cases[0]["metricsData"][1] |= {"error": "timed out", "score": 0, "success": False}
    assert tables(read(json.dumps(deepeval(cases)), "elm"))["elm", "Bias"] == ((None, 0.625),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cases: [{**case, "name": "same", "input": "same"} for case in cases],
         "a second 'Answer Relevancy' score of system 'x' for segment 'same'"),
        (lambda cases: [cases[0], "x"], "x.json: entry 2 is no object"),
        (lambda cases: [{**cases[0], "metricsData": [{"name": "a", "score": "high"}]}],
         "column 'score': 'high' is not a number"),
    ],
)  # fmt: skip
def test_what_deepeval_does_not_write_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        read(json.dumps(deepeval(change(deepeval_cases()))))


# SWE-bench


def resolved(report, name="elm.json"):
    found = read(json.dumps(report), name)
    return dict(zip(found.ids, found.scores[0].values, strict=True))


TRIED = {"a__a-1": 0.0, "a__a-2": 1.0, "b__b-3": 0.0, "b__b-4": 0.0}


def test_swebench_has_what_was_resolved_of_all_that_was_submitted():
    found = read(json.dumps(SWEBENCH), "elm.run1.json")
    assert tables(found).keys() == {("elm.run1", "resolved")}
    assert resolved(SWEBENCH) == TRIED
    assert found.notes == ()


def test_what_swebench_did_not_run_has_no_score():
    gone = SWEBENCH | {"incomplete_ids": ["c__c-5"]}
    assert resolved(gone) == TRIED | {"c__c-5": None}  # not submitted
    with pytest.raises(InputError, match=r"'resolved' score for 1 of 5 segments \('c__c-5'\)"):
        join([read(json.dumps(gone), "elm.json")])
    report = {
        "schema_version": 2, "resolved_ids": ["a__a-2"], "unresolved_ids": ["a__a-1"],
        "empty_patch_ids": [], "error_ids": ["b__b-4"], "infra_failure_ids": ["b__b-3"],
        "ambiguous_failure_ids": [], "submitted_ids": SWEBENCH["submitted_ids"],
    }  # fmt: skip
    assert resolved(report) == TRIED | {"b__b-3": None}
    del report["submitted_ids"]
    assert sorted(resolved(report)) == sorted(TRIED)
    waits = SWEBENCH | {"pending_ids": ["b__b-4"], "error_ids": [], "failed_ids": ["b__b-3"]}
    del waits["unresolved_ids"]
    assert resolved(waits) == TRIED | {"b__b-4": None}


def test_results_of_a_submission_say_the_same():
    results = {"no_generation": ["b__b-3"], "generated": ["a__a-1", "a__a-2", "b__b-4"],
               "with_logs": ["a__a-1", "a__a-2"], "applied": ["a__a-1"], "resolved": ["a__a-2"],
               "test_timeout": ["b__b-4"]}  # fmt: skip
    assert resolved(results) == TRIED


def test_reports_of_single_instances_in_one_file_say_the_same():
    single = {"patch_exists": True, "patch_successfully_applied": True, "tests_status": {}}
    reports = {i: single | {"resolved": i == "a__a-2"} for i in SWEBENCH["submitted_ids"]}
    assert read(json.dumps(reports), "elm.json") == read(json.dumps(SWEBENCH), "elm.json")
    lines = [{"instance_id": i, "model_name_or_path": "elm", "resolved": own["resolved"]}
             for i, own in reports.items()]  # fmt: skip
    assert tables(read(jsonl(lines))) == {("elm", "resolved"): ((0.0, 1.0, 0.0, 0.0),)}


def test_details_of_instances_and_lines_of_openhands_say_the_same():
    whole = tables(read(json.dumps(SWEBENCH), "elm.json"))
    ids = SWEBENCH["submitted_ids"]
    details = {i: {"cost": 0.25, "api_calls": 9, "resolved": i == "a__a-2"} for i in ids}
    assert tables(read(json.dumps(details), "elm.json")) == whole
    reports = {i: {"resolved": i == "a__a-2", "error_eval": False} for i in ids}
    lines = [{"instance_id": i, "test_result": {"git_patch": "", "report": own}, "history": []}
             for i, own in reports.items()]  # fmt: skip
    assert tables(read(jsonl(lines), "elm.jsonl")) == whole
    updated = [{"instance_id": own["instance_id"], "test_result": {},
                "report": own["test_result"]["report"]} for own in lines]  # fmt: skip
    assert tables(read(jsonl(updated), "elm.jsonl")) == whole
    lines[3]["test_result"] = {}
    assert tables(read(jsonl(lines), "elm.jsonl"))["elm", "resolved"][0][3] is None


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"no_generation": ["b__b-3"], "no_logs": [], "resolved": ["a__a-2"]}),
        json.dumps({"total_instances": 2, "resolved_ids": ["a__a-2"]}),
        jsonl([{"instance_id": i, "test_result": {"git_patch": ""}} for i in "ab"]),
    ],
)
def test_lists_that_do_not_say_what_was_not_resolved_are_refused(content):
    with pytest.raises(InputError, match="which instances were tried and not resolved; add the"):
        read(content, "elm.json")


def test_what_that_refusal_advises_is_read():
    ids = SWEBENCH["submitted_ids"]
    for more in ({"submitted_ids": ids}, {"unresolved_ids": [i for i in ids if i != "a__a-2"]}):
        assert resolved({"resolved": ["a__a-2"], **more}) == TRIED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (SWEBENCH | {"resolved_ids": [1]}, "x.json: ids of instances are text"),
        ({"a__b-1": {"patch_exists": True, "applied": False}}, "x.json is not read: it is JSON of"),
    ],
)
def test_other_reports_of_swebench_are_refused(content, said):
    with pytest.raises(InputError, match=said):
        read(json.dumps(content))


# trec_eval


def test_trec_eval_has_every_measure_by_query_and_the_name_of_the_run():
    found = read(TREC, "x.txt")
    assert found.ids == ("301", "302")
    assert tables(found) == {("bm25", "map"): ((0.25, 0.75),), ("bm25", "P_10"): ((0.5, 0.0),)}


def test_trec_eval_with_blanks_in_the_place_of_tabs_says_the_same():
    assert tables(read(TREC.expandtabs(), "x.txt")) == tables(read(TREC, "x.txt"))


def test_trec_eval_of_version_8_and_with_every_measure_is_read():
    eight = TREC.replace("P_10", "P10 ").replace("map", "R-prec")
    assert tables(read(eight, "x.txt")) == {
        ("bm25", "R-prec"): ((0.25, 0.75),), ("bm25", "P10"): ((0.5, 0.0),)
    }  # fmt: skip
    measures = ("ircl_prn.0.10", "gm_ap", "yaap", "rbp", "prefs_pair", "unjudged_5", "num_ret")
    every = "".join(f"{own}\t{i}\t0.5\n" for i in (301, 302) for own in measures)
    assert read(every, "x.txt").score_labels == (
        "ircl_prn.0.10", "yaap", "rbp", "prefs_pair", "unjudged_5"
    )  # fmt: skip


def test_trec_eval_without_a_name_is_called_as_its_file():
    lines = [line for line in TREC.splitlines(keepends=True) if "\tall\t" not in line]
    assert read("".join(lines), "dense.eval").system_names == ("dense",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("".join(line for line in TREC.splitlines(True) if "\tall\t" in line), "trec_eval with -q"),
        (TREC + "map\t303\n" + TREC * 9, "line 11: 2 columns; measure, query, value"),
        (TREC.replace("0.75", "high"), "x.txt, line 5, column 'score': 'high' is not a number"),
        (TREC + TREC, "a second 'map' score of system 'bm25' for segment '301'"),
    ],
)
def test_what_trec_eval_does_not_write_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        read(text, "x.txt")


def test_pytrec_eval_says_what_trec_eval_does():
    found = read(json.dumps(PYTREC), "bm25.json")
    assert (found.ids, tables(found)) == (("301", "302"), tables(read(TREC, "x.txt")))


@pytest.mark.parametrize(
    "content", [{"map": 0.25}, {"301": {}}, {"301": {"map": 0.25, "latency": 3}}, {"bm25": [0.5]}]
)
def test_other_objects_are_no_measures_by_query(content):
    with pytest.raises(InputError, match=r"x\.json is not read: it is JSON of a kind"):
        read(json.dumps(content), "x.json")


# tables of spreadsheets and of nested records


def test_decimal_commas_between_semicolons_are_numbers():
    text = "id;system;score\n1;elm;0,5\n2;elm;0,25\n1;oak;1\n2;oak;-\n"
    found = read(text.replace("-", "1e3"), "x.csv")
    assert {s: v for (s, _), v in tables(found).items()} == {
        "elm": ((0.5, 0.25),), "oak": ((1.0, 1000.0),),
    }  # fmt: skip
    assert tables(read("sep=;\n" + text, "x.csv"))["oak", "x"] == ((1.0, None),)


def test_a_text_that_begins_as_tables_do_for_spreadsheets_keeps_its_first_line():
    assert read("sep=;\na line\nanother\n", "x.txt").texts == (("sep=;", "a line", "another"),)


def test_texts_with_commas_between_semicolons_stay_texts():
    found = read("id;system;hypothesis;score\n1;elm;3,5;0,5\n2;elm;a, b;0,25\n", "x.csv")
    assert found.systems == (("elm", (("3,5", "a, b"),)),)


def test_commas_that_may_part_thousands_are_refused():
    with pytest.raises(InputError, match="'1,234' is not a number; write the decimal mark as a po"):
        read("id;system;score\n1;elm;1,234\n2;elm;12,345\n", "x.csv")
    assert tables(read("id;system;score\n1;elm;1,234\n2;elm;12,3\n", "x.csv")) == {
        ("elm", "scores"): ((1.234, 12.3),)
    }


@pytest.mark.parametrize("whole", [True, False])
def test_objects_of_scores_are_columns(whole):
    rows = [
        {"id": i, "system": name, "metrics": {"comet": i / 4, "judge": {"score": 2 * i}, "why": ""}}
        for name in ("elm", "oak")
        for i in range(3)
    ]
    found = read(json.dumps(rows) if whole else jsonl(rows), "x.jsonl")
    assert tables(found)["elm", "metrics.comet"] == ((0.0, 0.25, 0.5),)
    assert tables(found)["oak", "metrics.judge.score"] == ((0.0, 2.0, 4.0),)


def test_one_metric_within_is_enough_and_other_objects_are_none():
    rows = [{"id": i, "scores": {"comet": i / 4}, "usage": {"tokens": i}} for i in range(3)]
    assert tables(read(jsonl(rows), "elm.jsonl")) == {("elm", "scores.comet"): ((0.0, 0.25, 0.5),)}
    deep = {"metrics": {"a": {"b": {"c": {"d": 1}}}}}
    assert flat(deep) == {"metrics.a.b.c": {"d": 1}}


def test_a_score_that_is_a_list_within_is_refused():
    rows = [{"id": i, "system": "elm", "metrics": {"comet": [i]}} for i in range(3)]
    with pytest.raises(InputError, match=r"without scores or texts|a score is one number"):
        read(jsonl(rows), "elm.jsonl")


BOARD = "Model,Type,Average,ARC,MMLU,GSM8K\norg/elm,base,0.5,0.25,0.5,0.75\noak,chat,0.6,1,0.5,\n"


def test_a_board_whose_columns_are_tasks_is_turned_where_that_is_said():
    found = read(BOARD, "board.csv", columns="tasks")
    assert (found.ids, found.tasks) == (("ARC", "MMLU", "GSM8K"), True)
    assert {s: v for (s, _), v in tables(found).items()} == {
        "org__elm": ((0.25, 0.5, 0.75),), "oak": ((1.0, 0.5, None),)
    }  # fmt: skip
    with pytest.raises(InputError, match=r"2 systems.* `sigtest board --columns tasks` compares"):
        read(BOARD, "board.csv")


HEADER = ["id", "elm", "oak"]
ROWS = [HEADER, ["q1", 0.5, 1], ["q2", 0.25, 0]]


def excel(*sheets, shared=None):
    pytest.importorskip("python_calamine", reason="workbooks need the extra `excel`")
    data = io.BytesIO(workbook(*sheets))
    if shared is not None:
        with zipfile.ZipFile(data, "a") as archive:
            archive.writestr("xl/sharedStrings.xml", shared)
    return read(data.getvalue(), "board.xlsx", columns="systems")


def test_a_workbook_is_what_its_table_would_be_as_csv():
    csv = read("id,elm,oak\nq1,0.5,1\nq2,0.25,0\n", "board.csv", columns="systems")
    assert excel(sheet(ROWS)) == csv
    assert excel(sheet(ROWS, first=4)) == csv
    assert excel(sheet([]), sheet([*ROWS, [None, None, None]]), sheet([["read me"]])) == csv
    with pytest.raises(InputError, match="has 2 sheets with a header and rows; leave one, or save"):
        excel(sheet(ROWS), sheet(ROWS))


def test_a_row_of_a_workbook_in_which_all_fail_is_a_row():
    rows = [["elm", "oak"], [1, 0], [0, 0], [None, None], [0, 1]]
    assert tables(excel(sheet(rows))) == tables(
        read("elm,oak\n1,0\n0,0\n0,1\n", "board.csv", columns="systems")
    )


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        (sheet([*ROWS, ["q3", "n/k", 1]]), r"board.xlsx, line 4, column 'elm': 'n/k' is not a num"),
        (sheet([HEADER]), "0 sheets with a header and rows"),
        (sheet([["id", "elm", "elm"], ["q1", 1, 2], ["q2", 1, 2]]), "two columns are named 'elm'"),
        (sheet(ROWS)[:-40], "no whole Excel workbook"),
        (sheet(ROWS, first=1_000_000), "hardly any has what the others have"),
        (sheet(ROWS).replace('"C3"', '"XFD3"'), "hardly any has what the others have"),
        (sheet(ROWS).replace('"C3"', "'xfd99999999999999999999'"), "hardly any has what the"),
        (sheet(ROWS).replace(' r="C3"', ""), "cells that do not say where they are"),
    ],
)  # fmt: skip
def test_a_workbook_that_cannot_be_read_is_one_message(xml, said):
    with pytest.raises(InputError, match=said):
        excel(xml)


@pytest.mark.parametrize("count", ["4000000000", "0" * 9 + "4" * 9, "&#52;000000000", "4" * 5000])
def test_a_workbook_makes_no_room_for_a_count_of_what_is_not_there(count):
    shared = f'<sst count="9999" uniqueCount="{count}"><si><t>a</t></si></sst>'
    with pytest.raises(InputError, match=r"board.xlsx has a count of what is not there"):
        excel(sheet(ROWS), shared=shared)
    few = '<sst count="9999" uniqueCount="1"><si><t>q1</t></si></sst>'
    assert excel(sheet(ROWS), shared=few) == excel(sheet(ROWS))


def test_a_workbook_unpacks_within_bounds():
    bomb = sheet([*ROWS, ["q3", "x" * 3_000_000, 1]])
    with pytest.raises(LimitError, match="max_archive_ratio"):
        excel(bomb)
    with pytest.raises(LimitError, match="max_text_bytes"):
        read_bytes(workbook(sheet(ROWS)), "board.xlsx", Bounds(text_bytes=1000))


def test_a_workbook_without_its_reader_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(InputError, match="pip install python-calamine; or save it as CSV"):
        read(workbook(sheet(ROWS)), "board.xlsx")


# Zstandard


def inspect_log(value="C"):
    header = {"status": "success", "eval": {"task": "arc", "model": "org/elm"}}
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": value}}} for i in (1, 2)]
    return {"header.json": json.dumps(header).encode(), "samples/1.json": b"{}",
            "summaries.json": json.dumps(samples).encode()}  # fmt: skip


def packed(members):
    pytest.importorskip("backports.zstd", reason="Zstandard needs the extra `zstd`")
    return zstandard(members)


def test_a_log_packed_with_zstandard_is_read():
    found = read(packed(inspect_log()), "x.eval")
    assert tables(found) == {("org__elm", "match"): ((1.0, 1.0),)}


def test_zstandard_unpacks_within_bounds_and_is_checked():
    bomb = inspect_log() | {"summaries.json": b"[" + b" " * 40_000_000 + b"]"}
    with pytest.raises(LimitError, match="max_archive_ratio"):
        read(packed(bomb), "x.eval")
    frame = __import__("backports.zstd").zstd.compress(b"[]")
    other = inspect_log() | {"summaries.json": (frame, b"[1]")}
    for damaged in (other, other | {"summaries.json": (frame[:-3], b"[]")}):
        with pytest.raises(InputError, match=r"'summaries.json' is not whole"):
            read(packed(damaged), "x.eval")


def test_zstandard_that_wants_a_large_window_is_refused():
    zstd = pytest.importorskip("backports.zstd", reason="Zstandard needs the extra `zstd`")
    options = {zstd.CompressionParameter.window_log: 27}
    content = b'[{"id": 1}]'
    made = zstd.ZstdCompressor(options=options)
    frame = made.compress(content) + made.flush()  # of unknown size, so that the window stays
    log = inspect_log() | {"summaries.json": (frame, content)}
    with pytest.raises(InputError, match=r"'summaries.json' is not whole.*memory"):
        read(zstandard(log), "x.eval")


def test_zstandard_without_its_reader_says_what_to_install(monkeypatch):
    data = packed(inspect_log())
    monkeypatch.setattr("sigtest.files.archives.zstd", None)
    with pytest.raises(
        InputError, match=r"pip install backports.zstd; or convert a log of Inspect"
    ):
        read(data, "x.eval")


def test_lines_that_say_an_instance_twice_are_refused():
    """Neither is lost, and what is no truth value is named."""
    line = {"instance_id": "a__a-1", "test_result": {"report": {"resolved": True}}}
    other = {"instance_id": "a__a-1", "test_result": {"report": {"resolved": False}}}
    with pytest.raises(InputError, match="a second 'resolved' score of system 'elm'"):
        read(jsonl([line, other]), "elm.jsonl")
    with pytest.raises(InputError, match="no id"):
        read(jsonl([line, {**other, "instance_id": None}]), "elm.jsonl")
    with pytest.raises(InputError, match="number"):
        read(json.dumps({"a__a-1": {"resolved": [1]}, "resolved": ["a__a-1"]}), "elm.json")


# HumanEval


def test_samples_of_a_task_are_its_runs():
    """Two of three samples passed, then one."""
    material = read(HUMAN_EVAL, "a.jsonl", wanted={"": 2})
    assert tables(material) == {("a", "passed"): ((1.0, 0.0), (0.0, 1.0), (1.0, 0.0))}
    joined = join([material], Joining(wanted={"": 2}))
    assert tables(joined) == {("a", "passed"): (((2.0, 3.0), (1.0, 3.0)),)}
    with pytest.raises(InputError, match="no id"):
        read(jsonl([{"task_id": None, "passed": True}]), "a.jsonl")
    with pytest.raises(InputError, match="number"):
        read(jsonl([{"task_id": "x", "passed": "yes"}]), "a.jsonl")
