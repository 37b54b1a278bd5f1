"""What goes wrong in score files: one message each, which names the place and the fix."""

import gzip
import io
import json
import pickle
import zipfile
from collections import OrderedDict

import pytest

from sigtest.errors import InputError, LengthError, SigtestError
from sigtest.files.gathering import read_bytes
from sigtest.files.join import Joining, join

IDS = range(1, 7)
HEAD = "id,system,score"
ROWS = [f"{i},{system},0.{i}" for system in ("aspen", "birch") for i in IDS]


def table(rows=None, head=HEAD):
    return "\n".join([head, *(ROWS if rows is None else rows), ""])


def changed(place, row):
    return table([row if i == place else old for i, old in enumerate(ROWS)])


def numbers(*changes):
    lines = [f"0.{i}" for i in IDS]
    for place, line in changes:
        lines[place] = line
    return "\n".join([*lines, ""])


def records(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def zipped(name):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, "x")
    return data.getvalue()


GOOD = [{"id": i, "system": s, "score": i / 10} for s in ("aspen", "birch") for i in IDS]
SEG = [f"{s}\t0.{i}" for s in ("aspen", "birch") for i in IDS]

# name of the slip: (content of s.csv, parts of the message)
SLIPS = {
    "decimal comma": (changed(3, '4,aspen,"0,4"'), ["line 5", "'0,4'", "0.5 and not 0,5"]),
    "decimal comma that splits a cell": (changed(3, "4,aspen,0,4"), ["line 5", "0.5 and not 0,5"]),
    "decimal commas and points between semicolons": (
        table([row.replace(",", ";").replace(".", ",", i % 2) for i, row in enumerate(ROWS)],
              HEAD.replace(",", ";")),
        ["line 3", "0.5 and not 0,5"],
    ),
    "percent": (changed(3, "4,aspen,40%"), ["line 5", "percent sign"]),
    "a decimal comma before three digits": (
        changed(3, '4,aspen,"0,412"'), ["line 5", "'0,412'", "0.5 and not 0,5"],
    ),
    "a comma that may be either": (
        changed(3, '4,aspen,"12,345"'), ["line 5", "'12,345'", "as a point", "thousands without"],
    ),
    "points for thousands": (
        changed(3, '4,aspen,"1.234,5"'), ["line 5", "mark as a point, and thousands without one"],
    ),
    "thousands": (changed(3, '4,aspen,"1,234.5"'), ["line 5", "without commas"]),
    "a spreadsheet's date": (changed(3, "4,aspen,2024-05-01"), ["line 5", "spreadsheet", "date"]),
    "a spreadsheet error": (changed(3, "4,aspen,#DIV/0!"), ["line 5", "spreadsheet"]),
    "a fraction": (changed(3, "4,aspen,3/4"), ["line 5", "decimal number"]),
    "an interval": (changed(3, "4,aspen,0.4 ± 0.1"), ["line 5", "leave the interval out"]),
    "a typographic minus": (changed(3, "4,aspen,−0.4"), ["line 5", "minus sign"]),
    "a word": (changed(3, "4,aspen,good"), ["line 5", "'good'", "one number"]),
    "infinity": (changed(3, "4,aspen,inf"), ["line 5", "not finite"]),
    "an overflow": (changed(3, "4,aspen,1e999"), ["line 5", "not finite"]),
    "a missing score": (changed(3, "4,aspen,NaN"), ["'aspen'", "1 of 6", "'4'", "--missing drop"]),
    "an empty score": (changed(3, "4,aspen,"), ["'aspen'", "1 of 6", "'4'", "--missing drop"]),
    "None for a score": (changed(3, "4,aspen,None"), ["'aspen'", "1 of 6", "--missing drop"]),
    "a row twice": (table([*ROWS, ROWS[3]]), ["line 14", "second", "'aspen'", "'4'", "run"]),
    "a row gone": (table(ROWS[:3] + ROWS[4:]), ["'aspen'", "1 of 6", "'4'"]),
    "no id in a row": (changed(3, ",aspen,0.4"), ["line 5", "no id"]),
    "no system in a row": (changed(3, "4,,0.4"), ["line 5", "'system'", "empty"]),
    "a slash and quotes in a name": (changed(3, "4,<b>,0.4"), ["line 5", "<b>"]),
    "a cell too many": (changed(3, "4,aspen,0.4,x"), ["line 5", "4 cells", "names 3"]),
    "a cell too few": (changed(3, "4,aspen"), ["line 5", "2 cells", "names 3"]),
    "an open quotation mark": (changed(3, '4,"aspen,0.4'), ["line 5", "quotation mark"]),
    "another separator below": (changed(3, "4;aspen;0.4"), ["line 5", "commas"]),
    "a column name twice": (table(head="id,score,score"), ["'score'", "own name"]),
    "no header": (table(head="0,aspen,0.0"), ["without a header", "cell 1 and 3", "id"]),
    "rows of WMT's metrics tasks": (
        "".join(f"BLEU\tde-en\tnewstest2021\tnews\trefA\tA\t{i}\t0.{i}\n" for i in range(1, 7)),
        ["without a header", "cell 3 and 7 and 8", "id"],
    ),
    "texts behind names of documents": (
        "".join(f"doc{i // 3}\tno more\n" for i in IDS), ["without a header", "ids in cell 1"],
    ),
    "a header without rows": (HEAD + "\n", ["a header and no rows"]),
    "the header again": (table([*ROWS, HEAD]), ["line 14", "header again"]),
    "a mean below": (table([*ROWS, "mean,aspen,0.35"]), ["'mean'", "summary"]),
    "words below a metric's name": (
        table([f"{i},aspen,pass" for i in IDS], "id,system,acc"),
        ["line 2", "column 'acc'", "'pass'", "1 for right"],
    ),
    "columns without names": (
        table([f"{row},x,y" for row in ROWS], HEAD + ",,"), ["2 columns have no name", "take them"],
    ),
    "no scores": (
        table([f"{i},aspen,x" for i in IDS], "id,system,comment"),
        ["without scores", "'comment'", "score"],
    ),
    "systems or metrics": (
        table([f"{i},0.{i},0.3" for i in IDS], "id,aspen,birch"),
        ["'aspen', 'birch'", "If they are systems, add a column metric", "accuracy"],
    ),
    "one score a system": (
        table(["aspen,0.4", "birch,0.5", "cedar,0.6"], "system,score"),
        ["one score for each of 3 systems", "segment"],
    ),
    "rows without ids, unequal": (
        table([row.partition(",")[2] for row in ROWS[:-1]], "system,score"),
        ["'birch'", "5 rows", "'aspen'", "column id"],
    ),
    "rows without ids, one alone": (
        table(["acc,0.4,0.5"] * 6 + ["mean,0.4,0.5"], "metric,aspen,birch"),
        ["'aspen' (mean) has 1 row and", "column id"],
    ),
    "an output that is missing": (
        records([{"id": i, "system": s, "hypothesis": None if i == 3 else "x"}
                 for s in ("aspen", "birch") for i in IDS]),
        ["'aspen' has no hypothesis for 1 of 6", "'3'", 'write "" for', "--missing drop"],
    ),
    "two test sets in one file": (
        table([f"{lp}{row},{lp}" for lp in ("de", "cs") for row in ROWS], HEAD + ",lp"),
        ["s.csv has 2 test sets ('de', 'cs')", "--testset"],
    ),
    "a document of two names": (
        table([f"{row},d{i // 3}" for i, row in enumerate(ROWS)], HEAD + ",document"),
        ["document", "wrong id"],
    ),
    "a number that is none among numbers": (numbers((3, "o.4")), ["line 4", "'o.4'"]),
    "a blank line among numbers": (numbers((3, "")), ["1 of 6", "segment 4", "--missing drop"]),
    "tuples of unequal lengths": (numbers((3, "0.4 0.5")), ["line 4", "2 numbers", "have 1"]),
    "one number": ("55.6\n", ["one line", "whole output", "segment"]),
    "nothing but missing": ("None\nNone\n", ["no score at all"]),
    "a JSON line cut": (records(GOOD) + '{"id": 7, "sys', ["line 13", "JSON"]),
    "a JSON file cut": (json.dumps(GOOD, indent=1)[:-9], ["JSON", "line"]),
    "a JSON field twice": (
        records(GOOD) + '{"id": 7, "system": "aspen", "score": 1, "score": 2}\n',
        ["line 13", "'score'", "twice"],
    ),
    "a list for a score": (
        records([*GOOD[:-1], GOOD[-1] | {"score": [0.1, 0.2]}]),
        ["line 12", "one number", "a list"],
    ),
    "an object for a name": (
        records([*GOOD[:-1], GOOD[-1] | {"system": {"name": "birch"}}]),
        ["line 12", "'system'", "object"],
    ),
    "a JSON line that is no record": (records(GOOD) + "[1, 2]\n", ["line 13", "object"]),
    "JSON of other fields": (
        records([{"question": "a", "answer": i} for i in IDS]),
        ["JSON of a kind", "id, system, metric"],
    ),
    "UTF-16": (table().encode("utf-16"), ["UTF-16", "UTF-8"]),
    "Latin-1": (changed(3, "4,ästhetik,0.4").encode("latin-1"), ["line 5", "UTF-8"]),
    "half a gzip": (gzip.compress(table().encode())[:-9], ["gzip"]),
    "an Excel workbook": (b"PK\x03\x04" + b"\0" * 40, ["zip"]),
    "parquet": (b"PAR1" + b"\0" * 40, ["parquet", "CSV"]),
    "pickle": (b"\x80\x04\x95\x10" + b"\0" * 40, ["pickle", "CSV"]),
    "a list in a pickle that is all letters": (pickle.dumps([0.5, 1.0], 0), ["pickle", "CSV"]),
    "a dictionary in such a pickle": (pickle.dumps({"score": [0.5]}, 0), ["pickle", "CSV"]),
    "an object in such a pickle": (pickle.dumps(OrderedDict(a=0.5), 0), ["pickle", "CSV"]),
    "a table of Hugging Face": (b"\xff\xff\xff\xff\x90\1" + b"\0" * 40, ["arrow", "CSV"]),
    "a frame of R": (gzip.compress(b"X\n\0\0\0\3" + b"\0" * 40), ["binary file (R)", "write.csv"]),
    "a table of Numbers": (zipped("Index/Document.iwa"), ["Numbers", "CSV"]),
    "nothing": ("", ["empty"]),
    "a system with fewer lines": (
        "\n".join([*SEG[:-1], ""]),
        ["'birch'", "5 lines", "'aspen'", "None where"],
    ),
    "a line with three columns": (
        "\n".join([*SEG[:3], "aspen\t0.4\t0.5", *SEG[4:], ""]),
        ["line 4", "3 columns"],
    ),
    "a word for wrong": (changed(3, "4,aspen,fail"), ["line 5", "'fail'", "1 for right"]),
    "a word for none": (changed(3, "4,aspen,error"), ["line 5", "'error'", "cell empty"]),
    "ids with the system's name": (
        table([f"{name}-{i},{name},0.5" for i in IDS for name in ("aspen", "birch")]),
        ["no segment has an entry of every system and metric", "'aspen-", "must be the same"],
    ),
    "ids that count anew in each task": (
        table([f"{i},{name},0.5,{task}" for task in ("qa", "nli") for i in IDS
               for name in ("aspen", "birch")], HEAD + ",task"),
        ["another testset", "'nli' and 'qa'", "count anew"],
    ),
    "dictionaries of Python": (
        "".join(f"{row}\n" for row in GOOD), ["Python or R", "json.dumps"],
    ),
    "a comma after each JSON line": (
        "".join(f"{json.dumps(row)},\n" for row in GOOD), ["line 1", "comma at the end of each"],
    ),
    "an object of NumPy": (
        changed(3, "4,aspen,np.float64(0.4)"), ["line 5", "'np.float64(0.4)'", "number alone"],
    ),
    "tensors among numbers": (
        "".join(f"tensor(0.{i})\n" for i in IDS), ["line 1", "'tensor(0.1)'", "number alone"],
    ),
    "a number in brackets": (changed(3, "4,aspen,[0.4]"), ["line 5", "without brackets"]),
    "numbers as R numbers them": (
        "".join(f'"{i}" 0.{i} 0.5\n' for i in IDS), ["without a header", "count them", "id, score"],
    ),
    "numbered numbers": (
        "".join(f"{i}\t0.{i}\n" for i in IDS), ["without a header", "count them", "id, score"],
    ),
    "numbers with one comma too many": ("0.1,0.2,0.3\n", ["without a header", "commas"]),
    "a title above the header": (
        "My results\n" + table(), ["'id,system,score'", "below other lines", "take out"],
    ),
    "a title above a header with a metric": (
        "My results\n" + table(head="id,system,BLEU"), ["below other lines", "take out"],
    ),
    "a title above a header with a remark": (
        "My results,,,\n,,,\n" + table([f"{row},x" for row in ROWS], f"{HEAD},remark"),
        ["'id,system,score,remark'", "below other lines", "take out"],
    ),
    "a comment above the header": (
        "# of Monday\n" + table(), ["'id,system,score'", "below other lines", "take out"],
    ),
    "names of rows without a name": (
        " id system score\n" + "".join(f"{i} {r}\n" for i, r in enumerate(ROWS)).replace(",", " "),
        ["a name less", "row.names=FALSE", "index=False"],
    ),
    "a table of Markdown": (
        "| id | system | score |\n|---|---|---|\n"
        + "".join(f"| {r} |\n".replace(",", " | ") for r in ROWS),
        ["lines drawn round cells", "CSV"],
    ),
    "YAML": ("".join("- id: {}\n  system: {}\n  score: {}\n".format(*r.split(",")) for r in ROWS),
             ["YAML", "CSV"]),
    "compressed twice": (gzip.compress(gzip.compress(table().encode())), ["twice", "once"]),
    "systems in a column of another name": (
        table(head="id,name,score"), ["'name'", "call it system"],
    ),
    "ids that count anew in a column of another name": (
        table([f"{row},{part}" for part in ("law", "history") for row in ROWS], HEAD + ",subject"),
        ["'subject'", "rows of one id apart", "call it run if", "into the ids if they"],
    ),
    "one system in two spellings": (
        changed(3, "4,Aspen,0.4"), ["ids ('1', '4')", "names 'aspen' and 'Aspen' differ"],
    ),
    "one metric in two spellings": (
        table([f"{row},{'aA'[i == 3]}cc" for i, row in enumerate(ROWS)], f"{HEAD},metric"),
        ["names 'acc' and 'Acc' differ"],
    ),
    "one system in two spellings, and another without a row": (
        table([*ROWS[:3], "4,Aspen,0.4", *ROWS[3:]]), ["'Aspen'", "5 of 6", "look alike"],
    ),
    "a word in a segment score": (
        "\n".join([*SEG[:3], "aspen\tgood", *SEG[4:], ""]),
        ["line 4", "'good'"],
    ),
}  # fmt: skip


SLIPS |= {
    "a direction that is neither": (
        table([f"{row},down" for row in ROWS], f"{HEAD},higher_is_better"),
        ["line 2", "'down' is neither true nor false"],
    ),
    "two directions of one metric": (
        table([f"{row},{i < 9}" for i, row in enumerate(ROWS)], f"{HEAD},higher_is_better"),
        ["line 11", "another direction (higher_is_better) of 's'"],
    ),
}


@pytest.mark.parametrize("word", ["false", "False", "0", "0.0"])
def test_a_direction_is_a_truth_or_its_number(word):
    content = table([f"{row},{word}" for row in ROWS], f"{HEAD},higher_is_better")
    found = read_bytes(content.encode(), "s.csv")
    assert {scores.higher_is_better for scores in found.scores} == {False}


@pytest.mark.parametrize(("content", "parts"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_one_message_with_the_fix(content, parts):
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(SigtestError) as raised:
        join([read_bytes(data, "s.csv")])
    message = str(raised.value)
    assert all(part in message for part in parts), message
    assert "s.csv" in message
    assert "\n" not in message
    assert len(message) < 1000


SHIFTED = [f"{i - 1},birch,0.{i}" for i in IDS]
# name of the slip: (two files, parts of the message)
PAIRS = {
    "one counts from 0": (
        table(ROWS[:6]), table(SHIFTED), ["'6'", "count from 0", "from 1"],
    ),
    "leading zeros": (
        table(ROWS[:6]), table([f"00{row}" for row in ROWS[6:]]), ["leading zeros", "'1'", "'001'"],
    ),
    "numbers that became decimal": (
        table(ROWS[:6]), table([row.replace(",", ".0,", 1) for row in ROWS[6:]]), [".0", "'1.0'"],
    ),
    "capital letters": (
        table([f"q{row}" for row in ROWS[:6]]), table([f"Q{row}" for row in ROWS[6:]]),
        ["capital letters", "'q1'", "'Q1'"],
    ),
    "accents in two encodings": (
        table([f"é{row}" for row in ROWS[:6]]), table([f"e\u0301{row}" for row in ROWS[6:]]),
        ["how accents are encoded"],
    ),
    "another prefix": (
        table([f"item-{row}" for row in ROWS[:6]]), table([f"q{row}" for row in ROWS[6:]]),
        ["before the number", "'item-1'", "'q1'"],
    ),
    "fewer rows": (
        table(ROWS[:6]), table(ROWS[6:-1]), ["1 of the 6", "'6'", "5 segments", "--missing drop"],
    ),
    "the same scores twice": (
        table(ROWS[:6]), table(ROWS[:6]),
        ["both have", "'scores'", "'aspen'", "in the shell by --scores LABEL:NAME=FILE",
         "in a form by the file's name LABEL:NAME.tsv", "a column run"],
    ),
    "unequal lengths": (numbers(), numbers()[:-4], ["6", "5", "one line a segment"]),
    "lines beside names": (
        table([f"q{row}" for row in ROWS[:6]]), numbers(), ["without ids", "'q1'", "ids"],
    ),
    "another source": (
        table([f"{row},text {row[0]}" for row in ROWS[:6]], HEAD + ",source"),
        table([f"{row},text {(int(row[0]) + 1) % 6}" for row in ROWS[6:]], HEAD + ",source"),
        ["another source", "'1'"],
    ),
    "another document": (
        table([f"{row},d{row[0]}" for row in ROWS[:6]], HEAD + ",document"),
        table([f"{row},e{row[0]}" for row in ROWS[6:]], HEAD + ",document"),
        ["another document", "'1'", "'d1'", "'e1'"],
    ),
    "another test set": (
        table([f"{row},wmt24" for row in ROWS[:6]], HEAD + ",testset"),
        table([f"{row},wmt25" for row in ROWS[6:]], HEAD + ",testset"),
        ["2 test sets", "'wmt24', 'wmt25'"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "parts"), PAIRS.values(), ids=PAIRS)
def test_two_files_that_do_not_match_are_one_message(one, other, parts):
    with pytest.raises((InputError, LengthError)) as raised:
        join([read_bytes(one.encode(), "a.csv"), read_bytes(other.encode(), "b.csv")])
    message = str(raised.value)
    assert all(part in message for part in parts), message
    assert "a.csv" in message or "b.csv" in message or "test sets" in message
    assert "\n" not in message


def test_counting_from_0_is_refused_even_where_segments_may_be_dropped():
    parts = [read_bytes(table(rows).encode(), "x.csv") for rows in (ROWS[:6], SHIFTED)]
    with pytest.raises(InputError, match="from 0"):
        join(parts, how=Joining(missing="drop"))


PRECISE = [0.1234, 0.2345, 0.7421]


@pytest.mark.parametrize(("place", "where"), [(0, "first"), (3, "last")])
@pytest.mark.parametrize("mean", ["0.36666666666666664", "0.3667"])
def test_a_mean_among_numbers_is_said(place, where, mean):
    lines = [*map(str, PRECISE)]
    lines.insert(place, mean)
    found = read_bytes("\n".join(lines).encode(), "s.txt")
    assert found.notes == (
        f"s.txt: the {where} number is the mean of the others; if it is the score of the whole "
        "output, take it out.",
    )


@pytest.mark.parametrize("lines", ["1\n0\n1\n1", "0.1235\n0.1235\n0.1235", "0.12\n0.25\n0.185"])
def test_numbers_that_are_means_by_chance_are_not_said(lines):
    assert read_bytes(lines.encode(), "s.txt").notes == ()


def test_scores_that_some_systems_lack_are_said():
    rows = [f"{row},{m}" for row in ROWS for m in ("bleu", "chrf") if (row[2], m) != ("b", "chrf")]
    found = join([read_bytes(table(rows, HEAD + ",metric").encode(), "s.csv")])
    assert found.notes == (
        "Scores that not all systems have are not compared: 'chrf' (not of 'birch').",
    )


def rows_of(system, names, column="qid"):
    return table([f"{name},{system},0.{name[-1]}" for name in names], f"{column},system,score")


@pytest.mark.parametrize("column", ["qid", "task_id", "segmentId", "globalSegId", "seg_idx", "n",
                                    "question", "example"])  # fmt: skip
def test_rows_are_joined_by_what_tells_them_apart_whatever_it_is_called(column):
    """Shuffled rows: joined by their order, every score would be another segment's."""
    ordered, shuffled = [str(i) for i in IDS], ["3", "1", "6", "2", "5", "4"]
    both = rows_of("aspen", ordered, column) + rows_of("birch", shuffled, column).partition("\n")[2]
    apart = [rows_of("aspen", ordered, column), rows_of("birch", shuffled, column)]
    for files in ([both], apart):
        found = join([read_bytes(text.encode(), "s.csv") for text in files])
        assert found.ids == tuple(ordered)
        values = {scores.system: scores.values for scores in found.scores}
        assert values["aspen"] == values["birch"] == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def test_generators_of_alpaca_eval_are_systems():
    rows = [{"instruction": f"q{i}", "generator": s, "output": f"{s} {i}"}
            for s in ("aspen", "birch") for i in IDS]  # fmt: skip
    found = join([read_bytes(json.dumps(rows).encode(), "s.json")])
    assert found.system_names == ("aspen", "birch")
    assert found.ids == tuple(f"q{i}" for i in IDS)


def test_what_is_different_in_each_system_does_not_join_them():
    rows = [f"{system}-{i},{system},0.{i}" for system in ("aspen", "birch") for i in IDS]
    found = join([read_bytes(table(rows, "uuid,system,score").encode(), "s.csv")])
    assert found.ids is None
    assert "passed over: uuid" in found.notes[0]


def test_numbers_of_lines_are_no_metric():
    rows = [f"x{i},{s},{i},0.{i}" for s in ("aspen", "birch") for i in IDS]
    found = join([read_bytes(table(rows, "id,system,row,comet").encode(), "s.csv")])
    assert found.score_labels == ("comet",)


@pytest.mark.parametrize("name", ["line", "index", "segment"])
def test_a_column_that_says_what_a_row_is_about_is_no_metric_and_no_system(name):
    rows = [f"x{i},{s},7{i * i},0.{i}" for s in ("aspen", "birch") for i in IDS]
    for text in (table(rows, f"id,system,{name},comet"), table(rows, f"id,metric,{name},aspen")):
        found = join([read_bytes(text.encode(), "s.csv")])
        assert {(s.label, s.system) for s in found.scores} <= {
            ("comet", "aspen"), ("comet", "birch"), ("aspen", "aspen"), ("birch", "aspen"),
        }  # fmt: skip


def test_columns_that_are_taken_for_metrics_by_no_name_of_one_are_said():
    rows = [f"x{i},{s},7{i * i},0.{i}" for s in ("aspen", "birch") for i in IDS]
    found = join([read_bytes(table(rows, "id,system,length,comet").encode(), "s.csv")])
    assert found.score_labels == ("length", "comet")
    assert found.notes == (
        "s.csv: taken for metrics, where greater is better: 'length'; take out what is no metric, "
        "such as a length, and say higher=false of error rates.",
    )


@pytest.mark.parametrize("name", ["tstamp", "created_at", "answer_index", "line_no"])
def test_numbers_that_count_or_date_are_no_metrics(name):
    rows = [{"qid": f"x{i}", "model": "aspen", name: 17e8 + i * i, "f1": i / 10} for i in IDS]
    (scores,) = read_bytes(records(rows).encode(), "s.jsonl").scores
    assert scores.label == "f1"
    without = [{k: v for k, v in row.items() if k != "f1"} for row in rows]
    with pytest.raises(InputError, match=r"JSON of a kind|without scores"):
        read_bytes(records(without).encode(), "s.jsonl")


def test_words_for_right_and_wrong_are_not_passed_over_for_times():
    rows = [f"x{i},aspen,{'CI'[i % 2]},{i / 7}" for i in IDS]
    with pytest.raises(InputError, match=r"column 'score_choice': 'I' is not .* write 1 for right"):
        read_bytes(table(rows, "id,model,score_choice,total_time").encode(), "s.csv")
    found = read_bytes(table(rows, "id,model,score_choice,f1").encode(), "s.csv")
    assert [scores.label for scores in found.scores] == ["f1"]


def test_one_score_of_each_task_is_no_score_of_segments():
    rows = [f"task{i},accuracy,7{i}.5,6{i}.0" for i in IDS]
    with pytest.raises(InputError, match=r"each of 6 test sets or tasks.*sigtest board"):
        read_bytes(table(rows, "dataset,metric,aspen,birch").encode(), "summary.csv")


@pytest.mark.parametrize(("name", "label"), [("comet", "comet"), ("score", "scores")])
def test_one_column_may_have_a_name(name, label):
    found = join([read_bytes(f"{name}\n{numbers()}".encode(), "aspen.txt")])
    (scores,) = found.scores
    assert (scores.system, scores.label, len(scores.values)) == ("aspen", label, 6)


def test_the_line_that_tells_a_spreadsheet_its_separator_is_no_row():
    text = "sep=;\n" + table().replace(",", ";")
    found = join([read_bytes(text.encode(), "s.csv")])
    assert len(found) == 6
    with pytest.raises(InputError, match="line 6"):
        join([read_bytes(text.replace("0.4", "0,4", 1).encode(), "s.csv")])


def test_quotation_marks_behind_a_blank_are_those_of_a_cell():
    rows = [f'{i}, {s}, "Well, {i}", "ok"' for s in ("aspen", "birch") for i in IDS]
    found = join([read_bytes(table(rows, "id, system, hypothesis, ref").encode(), "s.csv")])
    assert found.references == (("ok",) * 6,)
    assert found.systems[0] == ("aspen", (tuple(f"Well, {i}" for i in IDS),))


def test_blanks_in_the_cells_of_a_table_do_not_make_it_segment_scores():
    rows = [f"q{i},{s},line {i}" for s in ("aspen", "birch") for i in IDS]
    found = join([read_bytes(table(rows, "id,system,hypothesis").encode(), "s.csv")])
    assert found.systems[1] == ("birch", (tuple(f"line {i}" for i in IDS),))


def test_a_number_that_programs_write_for_none_is_said():
    found = join([read_bytes(changed(3, "4,aspen,-999").encode(), "s.csv")])
    assert "1 of 6 scores of 'aspen' is -999" in found.notes[0]
    log_probabilities = [f"{i},{s},-{i}" for s in ("aspen", "birch") for i in IDS]
    assert join([read_bytes(table(log_probabilities).encode(), "s.csv")]).notes == ()


@pytest.mark.parametrize("name", ["Durchschnitt", "moyenne", "平均"])
def test_a_word_among_ids_that_are_numbers_is_said(name):
    below = [f"{name},{system},0.35" for system in ("aspen", "birch")]
    found = join([read_bytes(table([*ROWS, *below]).encode(), "s.csv")])
    assert f"'{name}' among ids that are numbers is read as a segment" in found.notes[0]
    named = table([f"q{row}" for row in [*ROWS, *below]])
    assert join([read_bytes(named.encode(), "s.csv")]).notes == ()


def test_columns_that_a_spreadsheet_left_empty_do_not_count():
    text = "\n".join(f"{line},," for line in table().splitlines())
    found = join([read_bytes(text.encode(), "s.csv")])
    assert [(scores.system, scores.values) for scores in found.scores] == [
        (scores.system, scores.values)
        for scores in join([read_bytes(table().encode(), "s.csv")]).scores
    ]


def test_scales_that_differ_are_said():
    percent = [f"{i},birch,{10 * int(i)}" for i in IDS]
    parts = [read_bytes(table(rows).encode(), "x.csv") for rows in (ROWS[:6], percent)]
    assert "fraction" in join(parts).notes[0]
