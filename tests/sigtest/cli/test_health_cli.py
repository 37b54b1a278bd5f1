"""Health checks in reports: what is wrong with outputs is a warning, and changes nothing else."""

import json
from pathlib import Path

import pytest
from sentences import sentences

from sigtest.cli import main
from sigtest.files.gathering import read_path


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)

    def running(*arguments, command="compare"):
        status = main([command, *arguments, "--resamples", "99", "--format", "json"])
        out, err = capfdbinary.readouterr()
        assert status == 0, err.decode()
        return json.loads(out)

    return running


@pytest.fixture
def texts(data, tmp_path):
    """The first 300 segments of a real set, as files: ref, src, and two outputs."""
    found = read_path(data / "wmt22.cs-en")
    outputs = {name: runs[0] for name, runs in found.systems}
    chosen = {"ref": found.references[0], "src": found.sources}
    chosen |= {"a": outputs["Online-A"], "b": outputs["Online-B"]}
    lines = {name: list(text[:300]) for name, text in chosen.items()}
    for name, text in lines.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in text))
    return lines


def warned(report, *parts):
    return [w for w in sentences(report) if all(part in w for part in parts)]


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines))


def test_lines_of_the_source_are_found_where_it_is_given(texts, run):
    write("lazy.txt", [s if i < 30 else b for i, (s, b) in enumerate(zip(texts["src"], texts["b"],
                                                                       strict=True))])  # fmt: skip
    without = run("-r", "ref.txt", "a.txt", "lazy.txt")
    found = run("-r", "ref.txt", "a.txt", "lazy.txt", "--source", "src.txt")
    assert not warned(without, "lines are those of the source")
    assert warned(found, "lazy: ", "lines are those of the source", "segments 1-")
    changed = {k: v for k, v in found.items() if v != without[k]}
    assert set(changed) <= {"warnings", "testset"}  # whose hash has the source
    assert set(changed["testset"]) == set(without["testset"])


def test_scripts_without_blanks_name_the_tokenizer(run):
    lines = [
        "今天天气很好我们去公园",
        "他昨天买了一本新书",
        "我不知道他在哪里工作",
        "这个问题很难回答",
    ] * 5
    write("ref.zh", lines)
    write("a.zh", [line[1:] for line in lines])
    write("b.zh", [line[:-1] for line in lines])
    asked = ("-r", "ref.zh", "a.zh", "b.zh")
    assert warned(run(*asked), "Han", "tokenize=zh", "bleu")
    assert not warned(run(*asked, "--metric", "bleu:tokenize=zh"), "tokenize=zh")
    several = run(*asked, "--metric", "bleu", "--metric", "chrf", "--metric", "ter")
    assert warned(several, "ter:normalized=true,asian_support=true")


def test_every_replica_is_looked_at(texts, run):
    write("bad.txt", ["", "", "", *texts["b"][3:]])
    found = run("-r", "ref.txt", "--replicas", "x=a.txt,bad.txt", "--replicas", "y=b.txt,a.txt")
    assert warned(found, "x, replica 2: segments 1-3 have no output")


def test_each_test_set_of_several_has_its_own(texts, run):
    for name, b in (("news", texts["b"]), ("talks", ["", *texts["b"][1:]])):
        Path(name, "systems").mkdir(parents=True)
        write(f"{name}/reference.en", texts["ref"])
        write(f"{name}/systems/a.en", texts["a"])
        write(f"{name}/systems/b.en", b)
    found = run("news", "talks", command="suite")
    by_name = {entry["name"]: entry["report"] for entry in found["testsets"]}
    assert not warned(by_name["news"], "b:")
    assert warned(by_name["talks"], "b: segment 1 has no output")


def test_labels_are_no_prose(run):
    write("gold", ["positive opinion of it", "negative opinion of it"] * 10)
    write("a", ["positive opinion of it"] * 20)
    write("b", ["negative opinion of it"] * 20)
    asked = ("-r", "gold", "a", "b")
    assert not warned(run(*asked, "--metric", "accuracy"), "a:")
    assert warned(run(*asked, "--metric", "chrf"), "a:")


def test_identical_systems_are_said_to_be_so_once(texts, run):
    write("same.txt", texts["a"])
    write("near.txt", ["Another line.", *texts["a"][1:]])
    found = run("-r", "ref.txt", "a.txt", "same.txt", "near.txt")
    assert not warned(found, "same: ")
    assert warned(found, "Systems a, same are identical")
    assert warned(found, "near: 2", "lines are those of a")
