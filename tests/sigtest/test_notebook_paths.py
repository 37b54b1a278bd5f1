"""Paths in a notebook: files of any format, alone or beside what is in memory."""

import json
from pathlib import Path

import pytest
from sentences import sentences

import sigtest
from sigtest.errors import SigtestError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["id,system,acc,mae"]
    rows += [
        f"q{i},{s},{int(i % k > 0)},{i / k}" for i in range(12) for s, k in (("a", 4), ("b", 2))
    ]
    Path("all.csv").write_text("\n".join(rows) + "\n")
    for name, right in (("a", [1, 1, 0, 1]), ("b", [0, 1, 0, 0])):
        samples = [
            {
                "doc_id": i,
                "doc": {},
                "target": "x",
                "resps": [["x"]],
                "arguments": {},
                "filtered_resps": ["x"],
                "acc": value,
            }
            for i, value in enumerate(right)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(s) + "\n" for s in samples))
    Path("ref.txt").write_text("a b c d\ne f g h\ni j k l\n")
    Path("x.sgm").write_text(
        '<tstset setid="s"><doc docid="d" sysid="inside">\n<seg id="1">a b c d</seg>\n'
        '<seg id="2">e f</seg>\n<seg id="3">i j k l</seg>\n</doc></tstset>\n'
    )
    return tmp_path


def means(report, metric):
    return {s.name: s.scores[metric].score for s in report.systems}


def test_files_say_what_they_bring(folder):
    report = sigtest.compare(from_="all.csv", resamples=99)
    assert list(report.metrics) == ["acc", "mae"]
    assert means(report, "acc") == {"a": 0.75, "b": 0.5}
    several = sigtest.compare(from_=[folder / "a.jsonl", "b.jsonl"], resamples=99)
    assert means(several, "acc") == {"a": 0.75, "b": 0.25}
    assert several.pairs[0].p_value == 0.5


def test_plans_and_gates_take_the_files_that_comparisons_take(folder):
    given = {"from_": "all.csv", "metrics": ["scores:of=acc"], "resamples": 99}
    compared = sigtest.compare(**given).pairs[0]
    assert sigtest.plan(**given).pairs[0].difference == compared.difference == 0.25
    gated = sigtest.gate(**given, baseline="a", margin=0.9).systems[0]
    assert (gated.system, gated.difference) == ("b", -0.25)
    with pytest.raises(SigtestError, match="from_ must be a path"):
        sigtest.plan(from_=3)
    example = Path(__file__).parents[2] / "examples"
    people = example / "campaign" / "judgements.tsv"
    own = {"metrics": ["ter"], "alphas": [0.05], "resamples": 99}
    report = sigtest.accuracy(people, from_=example / "shared-task", **own)
    assert [(row.metric, row.n) for row in report.rows] == [("ter", 10)]


def test_files_stand_beside_what_is_in_memory(folder):
    systems = {"mine": ["a b c d", "e f g h", "i j"], "theirs": Path("x.sgm")}
    report = sigtest.compare(Path("ref.txt"), systems, resamples=99)
    assert [s.name for s in report.systems] == ["mine", "theirs"]
    same = {**systems, "theirs": ["a b c d", "e f", "i j k l"]}
    lines = Path("ref.txt").read_text().splitlines()
    assert means(report, "bleu") == means(sigtest.compare(lines, same, resamples=99), "bleu")


def test_files_of_scores_may_be_what_systems_bring(folder):
    for name, runs in (("a", "a.jsonl"), ("b", ["b.jsonl"])):
        given = {name: Path(runs) if isinstance(runs, str) else [*map(Path, runs)]}
        report = sigtest.compare(systems=given, resamples=99)
        assert means(report, "acc") == {"a": {"a": 0.75}, "b": {"b": 0.25}}[name]


def test_of_files_of_several_tasks_those_of_one_are_chosen(folder):
    files = []
    for task in ("arc", "boolq"):
        for model in "ab":
            rows = [json.loads(line) for line in Path(f"{model}.jsonl").read_text().splitlines()]
            rows = [row | {"doc_hash": f"{task}{row['doc_id']}"} for row in rows]
            files.append(Path(f"org__{model}", f"samples_{task}_2025-01-01T00-00-00.1.jsonl"))
            files[-1].parent.mkdir(exist_ok=True)
            files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(SigtestError, match=r"2 test sets \('arc', 'boolq'\)"):
        sigtest.compare(from_=files)
    with pytest.raises(SigtestError, match=r"arc.* has no test set 'mmlu'; it has 'arc'"):
        sigtest.compare(from_=files, select="mmlu")
    report = sigtest.compare(from_=files, select="boolq", resamples=99)
    assert means(report, "acc") == {"org__a": 0.75, "org__b": 0.25}


def test_columns_of_texts_that_are_no_systems_are_named(folder):
    Path("wide.csv").write_text("id,reference,first,second\n1,a b,a b,b\n2,c d,c d,c\n")
    said = "at least one system; 0 given. wide.csv: columns passed over: first, second."
    with pytest.raises(SigtestError, match=said):
        sigtest.compare(from_="wide.csv")


def test_what_is_missing_is_dropped_where_that_is_asked(folder):
    Path("one.csv").write_text("id,score\nq1,1\nq2,0\nq3,1\n")
    Path("two.csv").write_text("id,score\nq3,0\nq2,0\n")
    with pytest.raises(SigtestError, match="'q1'"):
        sigtest.compare(from_=["one.csv", "two.csv"])
    report = sigtest.compare(from_=["one.csv", "two.csv"], missing="drop", resamples=99)
    assert report.testset.segments == 2
    assert any("dropped" in warning for warning in sentences(report))
    with pytest.raises(SigtestError, match="Did you mean 'drop'"):
        sigtest.compare(from_="one.csv", missing="dorp")
    with pytest.raises(SigtestError, match="from_ must be a path"):
        sigtest.compare(from_=[3])


def test_the_source_is_looked_at(folder):
    lines = [f"sentence {i} of a longer text that goes on" for i in range(30)]
    source = [f"věta {i} delšího textu, který pokračuje" for i in range(30)]
    systems = {"good": [f"{line} and on" for line in lines], "lazy": source}
    report = sigtest.compare(lines, systems, source=source, resamples=99)
    assert any("lazy: 30 of 30 lines are those of the source" in w for w in sentences(report))
