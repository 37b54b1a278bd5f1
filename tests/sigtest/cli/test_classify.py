"""`sigtest classify`: labels, tables of scores over data sets, and proportions."""

import json
from collections.abc import Callable
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest
from service import EXAMPLE

import sigtest
from sigtest.cli import main

LABELS = EXAMPLE.parent / "labels"
GOLD = LABELS / "gold.txt"
TASKS = [(task, lang) for task in ("qa", "sum", "nli", "mt") for lang in ("de", "ig")]

Answer = Callable[..., dict[str, Any]]


@pytest.fixture
def answer(answer: Answer) -> Answer:
    return partial(answer, "classify")


@pytest.fixture
def complaint(complaint: Callable[..., str]) -> Callable[..., str]:
    return partial(complaint, "classify")


def systems(*names: str) -> list[Path]:
    return [LABELS / "systems" / f"{name}.txt" for name in names]


def test_two_systems_are_compared_by_mcnemars_test(answer):
    found = answer("--gold", GOLD, *systems("maple", "oak"))
    gold, maple, oak = (path.read_text().split() for path in (GOLD, *systems("maple", "oak")))
    right = [(a == g, b == g) for g, a, b in zip(gold, maple, oak, strict=True)]
    only_maple, only_oak = right.count((True, False)), right.count((False, True))
    units, fewer = only_maple + only_oak, min(only_maple, only_oak)
    (pair,) = found["pairs"]
    assert (pair["test"], pair["alternative"], pair["exact"]) == ("mcnemar", "two-sided", True)
    exact = 2 * sum(comb(units, k) for k in range(fewer + 1)) / 2**units
    assert pair["p_value"] == pytest.approx(exact, rel=1e-12)
    share = sum(a for a, _ in right) / len(right)
    assert found["systems"][0]["scores"]["accuracy"]["score"] == pytest.approx(share)


def test_labels_may_be_numbers_and_have_documents(answer, tmp_path):
    numbers = {label: str(i) for i, label in enumerate(sorted(set(GOLD.read_text().split())))}
    for path in (GOLD, *systems("maple", "oak")):
        said = "".join(f"{numbers[label]}\n" for label in path.read_text().split())
        (tmp_path / path.name).write_text(said)
    (tmp_path / "documents.txt").write_text("".join(f"d{i // 4}\n" for i in range(240)))
    words = answer("--gold", GOLD, *systems("maple", "oak"), "--resamples", 9)
    found = answer(
        "--gold", tmp_path / "gold.txt", tmp_path / "maple.txt", tmp_path / "oak.txt",
        "--documents", tmp_path / "documents.txt", "--resamples", 9,
    )  # fmt: skip
    assert found["testset"]["documents"] == 60
    for own, other in zip(found["pairs"], words["pairs"], strict=True):
        assert (own["p_value"], own["difference"]) == (other["p_value"], other["difference"])
    report = sigtest.compare(
        references=tmp_path / "gold.txt",
        systems={name: tmp_path / f"{name}.txt" for name in ("maple", "oak")},
        metrics=["accuracy"], tests=["mcnemar"], resamples=9,
    )  # fmt: skip
    assert report.pairs[0].p_value == words["pairs"][0]["p_value"]


def test_metrics_tests_and_names_may_be_chosen(answer):
    maple, oak = systems("maple", "oak")
    found = answer(
        "--gold", GOLD, f"M={maple}", f"O={oak}", "--metric", "macro_f1", "--metric",
        "f1:positive=praise", "--test", "bootstrap", "--resamples", 99,
    )  # fmt: skip
    assert [system["name"] for system in found["systems"]] == ["M", "O"]
    rows = [(pair["metric"], pair["test"]) for pair in found["pairs"]]
    assert rows == [("macro_f1", "bootstrap"), ("f1", "bootstrap")]


def test_a_published_table_of_scores_over_data_sets(answer, oracles, tmp_path):
    told = json.loads((oracles / "classification.json").read_text())["mwe_sign_tests"]
    rows = [told["columns"], *told["bleu"]]
    for suffix, mark in (("tsv", "\t"), ("csv", ",")):
        table = tmp_path / f"bleu.{suffix}"
        table.write_text("".join(f"{mark.join(map(str, row))}\n" for row in rows))
        found = answer("--table", table, "--resamples", 9)
        assert found["testset"]["segments"] == 12
        p = {(pair["a"], pair["b"], pair["test"]): pair for pair in found["pairs"]}
        for test in told["tests"]:
            order = (test["x"], test["y"])
            pair = order if (*order, "paired_t") in p else order[::-1]
            for name, value in (
                ("sign_test", "sign_test_p_two_sided"),
                ("signed_rank", "signed_rank_p_two_sided_exact_midranks"),
                ("paired_t", "paired_t_p_two_sided"),
            ):
                assert p[*pair, name]["p_value"] == pytest.approx(test[value], rel=1e-9)


@pytest.mark.parametrize(
    "text",
    ["set;a;b\n\nx;1;2\n;;\ny;1.5;1\nz;3;7\n\n", ",set,a,b\n0,x,1,2\n1,y,1.5,1\n2,z,3,7\n"],
    ids=["semicolons and blank lines", "numbers of rows"],
)
def test_how_a_table_is_written_changes_nothing(answer, tmp_path, text):
    table = tmp_path / "scores.csv"
    table.write_text("set,a,b\nx,1,2\ny,1.5,1\nz,3,7\n")
    plain = answer("--table", table)
    table.write_text(text)
    assert answer("--table", table) == plain


def test_published_proportions_have_exact_intervals(answer, oracles):
    told = json.loads((oracles / "classification.json").read_text())
    rows = [
        *((row["correct"], row["n"], row) for row in told["umelb_four_class"]["rows"]),
        *((row["correct_rounded"], row["n"], row) for row in told["iwpt09_intervals"]["rows"]),
        (93, 100, told["manual_check_93_of_100"]),
    ]
    assert len(rows) > 20
    for correct, n, row in rows:
        found = answer("--correct", correct, "--n", n)
        assert found["proportion"] == correct / n
        assert found["ci"] == pytest.approx([row["cp95_lower"], row["cp95_upper"]], abs=1e-9)


@pytest.mark.parametrize("claim", ["two-sided", "greater"])
def test_counts_are_held_against_a_number(answer, claim):
    found = answer("--correct", 9, "--n", 10, "--baseline", 0.6, "--alternative", claim)
    (pair,) = found["pairs"]
    assert (pair["test"], pair["alternative"]) == ("binomial", claim)
    assert pair["p_value"] == pytest.approx(binomtest(9, 10, 0.6, claim).pvalue)


def test_one_right_answer_is_said_in_the_singular(capsys):
    assert main(["classify", "--correct", "1", "--n", "5"]) == 0
    assert capsys.readouterr().out.startswith("1 of 5 is correct, 0.2000;")


def test_an_interval_ends_where_a_proportion_does(answer):
    none, all_ = (answer("--correct", k, "--n", 10, "--alpha", 0.1) for k in (0, 10))
    assert none["ci"] == [0, pytest.approx(1 - 0.05 ** (1 / 10))]
    assert all_["ci"] == [pytest.approx(0.05 ** (1 / 10)), 1]


def test_one_system_alone_gets_the_interval_of_its_accuracy(answer):
    found = answer("--gold", GOLD, *systems("willow"))
    both = answer("--gold", GOLD, *systems("willow", "oak"), "--resamples", 9)
    scored = both["systems"][0]["scores"]["accuracy"]["score"]
    assert found["name"] == both["systems"][0]["name"] == "willow"
    assert found["proportion"] == scored == found["correct"] / found["n"]
    counted = answer("--correct", found["correct"], "--n", found["n"])
    assert counted["ci"] == found["ci"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of --gold, --table, --correct says what to compare"),
        (["--gold", GOLD, "--correct", "3", "--n", "4"], "one of --gold, --table, --correct"),
        (["--correct", "3"], "--correct K goes with --n N"),
        (["--correct", "5", "--n", "3"], "5 of 3 is no proportion"),
        (["--correct", "0", "--n", "0"], "0 of 0 is no proportion"),
        (["--correct", "x", "--n", "3"], "correct must be a whole number, not 'x'"),
        (["--gold", GOLD], "at least one system"),
        (["--gold", GOLD, EXAMPLE / "documents.txt"], "138"),
        (["--gold", GOLD, *systems("oak", "maple"), "--metric", "f1"], "f1:positive=LABEL, one of"),
        (["--gold", GOLD, *systems("oak", "maple"), "--format", "pdf"], "Unknown format 'pdf'"),
        (["--correct", "1", "--n", "2", "--format", "pdf"], "Unknown format 'pdf'"),
        (
            ["--correct", "1", "--n", "2", "--plots", "d"],
            "--plots of one system needs a --baseline",
        ),
        (["--gold", GOLD, *systems("oak"), "--alternative", "less"], "--alternative of one system"),
        (["--gold", GOLD, *systems("oak"), "--baseline", "0.6"], "means of scores, not accuracy"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(complaint, arguments, said):
    assert said in complaint(*arguments)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("set\ta\tb\nx\t1\t2\ny\t3\tNA\n", "'b' has no 'scores' score for 1 of 2 segments ('y')"),
        ("a\tb\n1\t2\n", "the first column names each of them"),
        ("set\t\tb\nx\t1\t2\ny\t2\t3\nz\t3\t4\n", "line 2: A system's name must have 1 to 200"),
        ("set\ta\ta\nx\t1\t2\n", "two columns are named 'a'"),
        ("set\ta\tb\nx\t1\t2\ny\t1\t1\n\nmean\t1\t1.5\n", "'mean' stands among the ids of 2"),
        ("set\ta\tb\nx\t1\t2\ny\t1\t1\nMacro avg.\t1\t1.5\n", "'Macro avg.' stands among the ids"),
        ("set\ta\tb\nx\t1\t2\n", "paired_t needs at least 2 units (segments, data sets or folds)"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(complaint, tmp_path, text, said):
    table = tmp_path / "scores.tsv"
    table.write_text(text)
    assert said in complaint("--table", table)


def test_a_board_of_tasks_is_what_a_table_of_data_sets_is(answer, tmp_path):
    rows = [f"{task}\t{lang}\t{i % 7}\t{i % 5}" for i, (task, lang) in enumerate(TASKS)]
    table = tmp_path / "mine.tsv"
    table.write_text("\n".join(["task\tlanguage\telm\toak", *rows, ""]))
    found = answer("--table", table)
    assert found["testset"]["segments"] == 8
    assert {pair["test"] for pair in found["pairs"]} == {"sign_test", "signed_rank", "paired_t"}
    for told, header in (((), "task"), (("--columns", "tasks"), "heading")):
        table.write_text("\n".join([f"{header}\tlanguage\telm\toak", *rows, ""]))
        report = tmp_path / "report.json"
        assert main(["board", str(table), *told, "--output", str(report)]) == 0
        assert json.loads(report.read_text()) == found


def test_segments_of_test_sets_are_no_tasks(tmp_path, capsys):
    table = tmp_path / "mine.tsv"
    rows = [f"{'news' if i < 6 else 'chat'}\t{i % 7}\t{i % 5}" for i in range(12)]
    table.write_text("\n".join(["testset\telm\toak", *rows, ""]))
    assert main(["board", str(table)]) == 2
    assert "has 2 test sets ('news', 'chat'); say which" in capsys.readouterr().err


def test_a_data_set_without_a_score_may_be_dropped(answer, tmp_path):
    table = tmp_path / "scores.tsv"
    table.write_text("set\ta\tb\nx\t1\t2\ny\t3\tNA\nz\t2\t1\nu\t2\t1\n")
    assert answer("--table", table, "--missing", "drop")["testset"]["segments"] == 3


def test_a_misspelt_label_names_file_and_line(complaint, tmp_path):
    lines = systems("oak")[0].read_text().split()
    lines[7] = "parise"
    (tmp_path / "oak.txt").write_text("\n".join(lines))
    for others in ([], systems("maple")):
        said = complaint("--gold", GOLD, tmp_path / "oak.txt", *others)
        assert "segment 8: 'parise' is none of the classes" in said
        assert "Did you mean 'praise'?" in said
        assert str(tmp_path / "oak.txt") in said


@pytest.mark.parametrize(
    ("known", "given", "said"),
    [
        ("yes", "YES", "Did you mean 'yes'?"),
        ("1", "1.0", "Did you mean '1'?"),
        ("j\u00e4", "ja\u0308", "It differs from 'j\u00e4' by how accents are encoded"),
        ("no", "perhaps", "(no, x). Name classes"),
    ],
)
def test_a_class_in_another_spelling_is_said(complaint, tmp_path, known, given, said):
    for name, label in (("gold", known), ("one", given), ("other", known)):
        (tmp_path / f"{name}.txt").write_text(f"{label}\nx\n" * 9)
    gold, one, other = (tmp_path / f"{name}.txt" for name in ("gold", "one", "other"))
    assert said in complaint("--gold", gold, one, other)


def test_a_blank_gold_label_names_its_file(complaint, tmp_path):
    lines = GOLD.read_text().split()
    lines[3] = ""
    gold = tmp_path / "right.txt"
    gold.write_text("\n".join(lines) + "\n")
    for own in (systems("oak"), systems("oak", "maple")):
        said = complaint("--gold", gold, *own)
        assert f"{gold}: The references, segment 4: an empty line" in said


def test_help_says_what_is_taken_where_nothing_is_named(capsys):
    assert main(["classify", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "default accuracy, or the scores of --table" in said
    assert "default mcnemar for accuracy alone" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id,label\n" + b"".join(b"%d,a\n" % i for i in range(9)), "a table with named columns"),
        (b'{"id": 1, "label": "a"}\n' * 9, "JSON of a kind that is not known"),
        (b"<table>\n<tr>\n<td>\na\n</td>\n</tr>\n</table>\n", "markup"),
        (b"PK\x03\x04" + b"\0" * 99, "binary file (zip); unpack it"),
        (b"PK\x03\x04" + b"\0" * 99 + b"xl/workbook.xml", "binary file (office); save"),
    ],
)
def test_files_of_other_formats_are_no_labels(complaint, tmp_path, content, said):
    table = tmp_path / "gold.csv"
    table.write_bytes(content)
    assert said in complaint("--gold", table, table)


@pytest.mark.parametrize("text", ["", "\n", " \n\n", "data,elm,oak\n"])
def test_tables_without_a_data_set_are_refused_in_words(tmp_path, capsys, text):
    table = tmp_path / "table.csv"
    table.write_text(text)
    assert main(["classify", "--table", str(table)]) == 2
    assert str(table) in capsys.readouterr().err
