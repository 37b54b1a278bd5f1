"""Transcripts with ids (trn), tables with speakers, and counts of errors and words."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sentences import sentences

import sigtest
from sigtest import InputError
from sigtest.files.file import File
from sigtest.files.gathering import read_path
from sigtest.files.registry import format_of, read_file

REFERENCE = "we go home now (ann-1)\nit rains (bob_x-1)\nso (ann-2)\n"
HEARD = ";; a comment\nso no (ann-2)\nwe go home (ann-1)\n\n(bob_x-1)\n"
COUNTED = """id,system,errors,words,speaker
1,a,1,5,x
2,a,0,8,x
3,a,2,10,y
1,b,0,5,x
2,b,2,8,x
3,b,0,10,y
"""


def files(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_text(text)
    return paths


def test_transcripts_are_joined_by_id_and_speakers_are_clusters(tmp_path):
    ref, a, b = files(tmp_path, ref_trn=REFERENCE, a_trn=HEARD, b_trn=REFERENCE)
    report = sigtest.compare(ref, {"a": a, "b": b}, metrics=["wer"], unit="document")
    assert (report.testset.segments, report.testset.documents) == (3, 2)
    counts = report.systems[0].scores["wer"].counts
    assert counts == {"substitutions": 0, "deletions": 3, "insertions": 1, "hits": 4, "words": 7}
    assert report.systems[1].scores["wer"].score == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a (x-1)\nb (x-2)\nc (x-1)\n", "line 3: a second 'x-1'"),
        ("a (x-1)\n" * 1 + "".join(f"b (y-{i})\n" for i in range(30)) + "c\n", "line 32: no id"),
        ("{um / @} yes (x-1)\nno (x-2)\n", "line 1: alternatives in braces .* leave one"),
        ("yes ( )\n", "line 1: no id"),
    ],
)
def test_lines_that_would_be_misread_are_refused(text, told):
    with pytest.raises(InputError, match=told):
        read_file(File("a.trn", text.encode()))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (REFERENCE, "trn"),
        ("yes (1089-134686-0000)\n(1089-134686-0001)\n", "trn"),
        ("he left (1998)\nshe came (2001)\n", "text"),
        ("he left (laughs)\nshe came (sighs)\n", "text"),
        ("yes (note 1)\nno (x-1)\n", "text"),
        ("yes (x-1)\n", "text"),
        ("yes (x-1)\nno (x-2)\nperhaps\n", "text"),
    ],
)
def test_an_id_is_told_from_what_else_stands_in_parentheses(text, known):
    assert format_of(File("a.txt", text.encode())).name == known


def test_the_suffix_says_that_words_in_parentheses_are_ids():
    read = read_file(File("a.trn", b"he left (ann)\nshe came (bob)\n"))
    assert (read.ids, read.texts) == (("ann", "bob"), (("he left", "she came"),))


def test_the_null_word_of_the_kit_is_none():
    """As `sclite -o pra` shows them: `hello world`, nothing, `yes it's`, `a@b @c`."""
    lines = ("hello @\tworld (x-1)", "@ (x-2)", "yes  it's @ @\t(x-3)", "a@b @c (x-4)")
    read = read_file(File("a.trn", "\n".join(lines).encode()))
    assert read.texts == (("hello world", "", "yes it's", "a@b @c"),)


def test_ids_may_have_blanks_inside_as_in_the_kit():
    read = read_file(File("a.trn", b"yes (spk 1-utt 1)\nno (spk 2-utt 1)\n"))
    assert (read.ids, read.documents) == (("spk 1-utt 1", "spk 2-utt 1"), ("spk 1", "spk 2"))


@pytest.mark.parametrize("names", [("utt1", "utt2"), ("common_voice_en_1", "common_voice_en_2")])
def test_ids_without_a_speaker_have_no_clusters(names):
    lines = "".join(f"yes ({name})\n" for name in names)
    assert read_file(File("a.trn", lines.encode())).documents is None


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_tables_of_transcripts_have_speakers(suffix, tmp_path):
    rows = [
        {"id": i, "speaker": f"s{i % 2}", "reference": "a b c", "system": name, "hypothesis": text}
        for name, text in (("x", "a b"), ("y", "a b c"))
        for i in range(4)
    ]
    head = ",".join(rows[0])
    lines = [",".join(map(str, row.values())) for row in rows]
    text = "\n".join([head, *lines]) if suffix == "csv" else "\n".join(map(json.dumps, rows))
    (table,) = files(tmp_path, **{f"table_{suffix}": f"{text}\n"})
    report = sigtest.compare(from_=table, metrics=["wer"], tests=["matched_pairs"], unit="document")
    assert report.testset.documents == 2
    assert report.systems[0].scores["wer"].score == pytest.approx(100 / 3)
    assert report.pairs[0].stretches == 4


def rates(report: Any) -> dict[str, float]:
    return {own.name: own.scores["error_rate"].score for own in report.systems}


@pytest.mark.parametrize(
    "names", ["errors,words", "n_errors,ref_words", "Word Errors,Words", "edits,ref_len"]
)
def test_errors_and_words_are_a_ratio_where_lower_is_better(names, tmp_path):
    (table,) = files(tmp_path, counts_csv=COUNTED.replace("errors,words", names))
    report = sigtest.compare(from_=table)
    assert rates(report) == {"a": 3 / 23, "b": 2 / 23}
    assert not report.metrics["error_rate"].higher_is_better
    assert any("read as error_rate, the ratio of their sums" in own for own in sentences(report))
    several = sigtest.suite({"en": table, "de": table})
    assert rates(several) == {"a": 3 / 23, "b": 2 / 23}
    assert not several.metrics["error_rate"].higher_is_better


@pytest.mark.parametrize(
    ("names", "rows", "told"),
    [
        ("errors,words", "0.25,4", "line 2, column 'errors': 0.25 counts no errors"),
        ("errors,words", "-1,4", "line 2, column 'errors': -1 counts no errors"),
        ("errors,words", "1,4.5", "line 2, column 'words': 4.5 counts no words"),
        ("errors,word_errors,words", "1,1,4", "'errors' and 'word_errors' may each count errors"),
        ("errors,ref_words,words", "1,4,5", "'ref_words' and 'words' may each count words"),
    ],
)
def test_what_counts_nothing_is_no_ratio(names, rows, told, tmp_path):
    (table,) = files(tmp_path, counts_csv=f"id,system,{names}\n1,a,{rows}\n2,a,{rows}\n")
    with pytest.raises(InputError, match=re.escape(told)):
        read_path(table)


def test_lengths_of_outputs_are_no_sizes_of_references(tmp_path):
    rows = "1,a,1,40\n2,a,0,60\n1,b,3,40\n2,b,0,60\n"
    (table,) = files(tmp_path, counts_csv=f"id,system,errors,length\n{rows}")
    assert "error_rate" not in sigtest.compare(from_=table).metrics


def test_counts_of_one_system_a_file_are_a_ratio_too(tmp_path):
    both = files(tmp_path, a_csv="errors,words\n1,4\n0,6\n", b_csv="errors,words\n3,4\n0,6\n")
    assert rates(sigtest.compare(from_=both)) == {"a": 0.1, "b": 0.3}


def test_a_row_without_a_count_has_no_score(tmp_path):
    (table,) = files(tmp_path, counts_csv=COUNTED.replace("2,b,2,8", "2,b,,8"))
    with pytest.raises(InputError, match="'b' has no 'error_rate' score for 1 of 3"):
        sigtest.compare(from_=table)


def test_counts_of_whole_outputs_are_no_segments(tmp_path):
    (table,) = files(tmp_path, counts_csv="system,errors,words\na,3,23\nb,2,23\n")
    with pytest.raises(InputError, match="as for whole outputs"):
        read_path(table)


def test_a_mean_of_rates_is_not_the_rate_of_the_test_set(tmp_path):
    (table,) = files(tmp_path, rates_csv="id,system,wer\n1,a,.2\n2,a,0\n1,b,0\n2,b,.1\n")
    report = sigtest.compare(from_=table)
    assert any("their mean is not the rate of the test set" in own for own in sentences(report))


def test_a_column_of_that_name_is_no_ratio_where_nothing_is_counted(tmp_path):
    (table,) = files(tmp_path, er_csv="id,system,error_rate\n1,a,.25\n2,a,0\n1,b,0\n2,b,.5\n")
    report = sigtest.compare(from_=table)
    assert rates(report) == {"a": 0.125, "b": 0.25}
    assert any("scores:of=error_rate,higher=false" in own for own in sentences(report))


def test_a_folder_of_transcripts_has_what_other_folders_have(tmp_path):
    """Documents and labels of the reference's lines, runs of a system, and a test set's name."""
    folder = tmp_path / "de"
    (folder / "systems" / "b").mkdir(parents=True)
    spoken = "one two (u2)\nthree (u1)\n"
    texts = {
        "reference.trn": spoken,
        "documents.txt": "d2\nd1\n",
        "labels.txt": "far\nnear\n",
        "source.txt": "ein zwei\ndrei\n",
        "systems/a.trn": "three (u1)\none (u2)\n",
        "systems/b/0.trn": spoken,
        "systems/b/1.trn": "three (u1)\ntwo (u2)\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    material = read_path(folder)
    place = list(material.ids or ()).index("u1")
    assert (material.documents or ())[place] == "d1"
    assert (material.labels or ())[place] == "near"
    assert (material.sources or ())[place] == "drei"
    runs = dict(material.systems)
    assert [lines[place] for lines in runs["a"]] == ["three"]
    assert [lines[1 - place] for lines in runs["b"]] == ["one two", "two"]
