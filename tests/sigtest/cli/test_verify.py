"""`sigtest verify` reads the recipe off a report, computes it again and says what differs."""

import json
import shutil
from pathlib import Path

import pytest
from sentences import sentences

from sigtest.cli import main
from sigtest.cli.checks import differences, recipe_of
from sigtest.decide.summary import decided
from sigtest.render.records import render_json
from sigtest.report import Report

CHOICES = [
    [],
    ["--metric", "bleu:tokenize=intl,lowercase=true", "--metric", "chrf++", "--metric", "ter"],
    ["--test", "bootstrap", "--correction", "max_t", "--seed", "7", "--alpha", "0.01"],
    ["--baseline", "birch", "--alternative", "greater", "--exact", "never"],
    ["--documents", "documents.txt", "--unit", "document", "--family", "9"],
    ["--test", "bootstrap_t", "--interval", "bootstrap_t", "--metric", "nist"],
]
FILES = ["-r", "reference.en", *(f"systems/{name}.en" for name in ("aspen", "birch", "elm"))]
SHUFFLED = ["-r", "reference.en", *(f"systems/{name}.en" for name in ("elm", "aspen", "birch"))]


@pytest.fixture
def made(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(example)
    return tmp_path / "report.json"


def compare(report: Path, *options: str) -> None:
    asked = ["--resamples", "99", "--format", "json", "--output", str(report)]
    assert main(["compare", *FILES, *options, *asked]) == 0


@pytest.mark.parametrize("options", CHOICES, ids=" ".join)
def test_a_report_is_verified_from_its_files(made, options, capsys):
    compare(made, *options)
    documents = ["--documents", "documents.txt"] if "--documents" in options else []
    assert main(["verify", str(made), *SHUFFLED, *documents]) == 0
    assert "verified, every byte" in capsys.readouterr().out


def test_what_was_said_of_the_files_is_verified_wherever_they_lie(
    tmp_path, capfdbinary, monkeypatch
):
    for system, last in (("aspen", 9), ("birch", 8)):
        rows = "".join(f"{i},{system},0.{i}\n" for i in range(last))
        (tmp_path / f"{system}.csv").write_text(f"id,system,score\n{rows}")
    drop = ["--missing", "drop"]
    files = [f"--from={tmp_path / name}" for name in ("aspen.csv", "birch.csv")]
    assert main(["compare", *files, *drop, "--format", "json"]) == 0
    made = tmp_path / "report.json"
    made.write_bytes(capfdbinary.readouterr().out)
    assert "dropped, 1 of aspen.csv ('8')" in sentences(json.loads(made.read_text()))[-1]
    monkeypatch.chdir(tmp_path)
    assert main(["verify", str(made), "--from=./aspen.csv", "--from=birch.csv", *drop]) == 0


def test_a_source_that_an_import_brought_is_asked_for(made, tmp_path, capsys):
    task = tmp_path / "task"
    shutil.copytree("systems", task / "systems")
    shutil.copy("reference.en", task / "source.en")
    shutil.copy("reference.en", task / "reference.en")
    asked = ["--from", str(task), "--resamples", "99", "--output", str(made)]
    assert main(["compare", *asked]) == 0
    files = ["-r", "reference.en", *map(str, sorted(Path("systems").iterdir()))]
    assert main(["verify", str(made), *files]) == 1
    assert "give it by --source FILE" in capsys.readouterr().out
    assert main(["verify", str(made), *files, "--source", "reference.en"]) == 0


def test_a_report_is_verified_that_comes_by_standard_input(made, capsys, monkeypatch):
    compare(made)
    with made.open() as piped:
        monkeypatch.setattr("sys.stdin", piped)
        assert main(["verify", "-", *FILES]) == 0
    assert capsys.readouterr().out == "standard input: verified, every byte\n"


def test_a_number_that_was_changed_is_named(made, capsys):
    compare(made)
    body = json.loads(made.read_text())
    body["pairs"][1]["p_value"] = 0.5
    made.write_text(json.dumps(body))
    assert main(["verify", str(made), *FILES]) == 1
    text = capsys.readouterr().out
    assert "1 difference\n" in text
    assert "pairs[1].p_value: 0.5 is reported, 0.01 computed" in text
    made.write_text(json.dumps(body | {"pairs": body["pairs"][:1]}))
    assert main(["verify", str(made), *FILES]) == 1


def test_another_layout_is_another_report(made, capsys):
    compare(made)
    made.write_text(json.dumps(json.loads(made.read_text())))
    assert main(["verify", str(made), *FILES]) == 1
    assert "another layout" in capsys.readouterr().out


def test_other_outputs_are_noticed(made, capsys):
    compare(made)
    files = [*FILES[:4], "elm=systems/cedar.en"]
    assert main(["verify", str(made), *files]) == 1
    assert "systems[2].scores" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no JSON", "is no JSON"),
        ("[]", "is no report"),
        ('{"signature": "x"}', "is no report"),
        ('{"signature": "x", "version": "1", "systems": [], "pairs": []}', "cannot be read"),
        ('{"signature": 1, "version": "1", "systems": [], "pairs": []}', "is no report"),
        ('{"signature": "x", "version": "1", "systems": 2, "pairs": []}', "is no report"),
        ('{"signature": "x", "version": "1", "systems": [{}], "pairs": []}', "is no report"),
    ],
)
def test_what_is_no_report_is_refused(made, content, said, capsys):
    made.write_text(content)
    assert main(["verify", str(made), *FILES]) == 2
    assert said in capsys.readouterr().err


def test_the_report_of_a_gate_is_no_report_of_a_comparison(made, capsys):
    gated = ["--baseline", "birch", "--margin", "9", "--format", "json", "--output", str(made)]
    assert main(["gate", *FILES, *gated]) in {0, 1, 3}
    assert main(["verify", str(made), *FILES]) == 2
    assert "is no report of a comparison" in capsys.readouterr().err


def test_reports_of_other_kinds_are_told_which_are_verified(made, capsys):
    judged = "../campaign/judgements.tsv"
    assert main(["human", judged, "--format", "json", "--output", str(made)]) == 0
    assert main(["verify", str(made), *FILES]) == 2
    assert "takes reports of comparisons, suites and leaderboards" in capsys.readouterr().err


@pytest.mark.parametrize("folders", [[], ["."]])
def test_a_suite_of_one_test_set_is_told_what_to_type(made, folders, capsys):
    assert main(["suite", *folders]) == 2
    said = f"suite needs two folders at least, each a test set; {len(folders)} given."
    told = capsys.readouterr().err
    assert said in told
    assert "sigtest compare --from FOLDER" in told


SCORED = [
    ["", "", []],  # without a label
    ["c:", "d:", ["--metric", "scores:of=c", "--metric", "ratio:of=d,higher=false"]],
    ["CO|M (22):", "d:", []],
    ["c:", "d:", ["--metric", "fscore:of=c", "--metric", "perplexity:of=d"]],
]


@pytest.mark.parametrize(("first", "second", "options"), SCORED)
def test_scores_computed_elsewhere_are_verified(made, first, second, options, capsys):
    """Labels of scores, and a baseline's name, may hold the signs between a signature's parts."""
    for number, name in enumerate(("one.txt", "other.txt")):
        width = 3 if "fscore:of=c" in options else 2 if options else 1
        rows = [
            " ".join(str(1 + (i * (3 + number + j)) % 7) for j in range(width)) for i in range(30)
        ]
        (made.parent / name).write_text("\n".join(rows) + "\n")
    two = [" ".join(str(1 + (i * 5) % (4 + j)) for j in range(2)) for i in range(30)]
    (made.parent / "two.txt").write_text("\n".join(two) + "\n")
    one, other, second_file = (made.parent / own for own in ("one.txt", "other.txt", "two.txt"))
    files = ["--scores", f"{first}a|b={one}", "--scores", f"{first}c={other}"]
    if second != first:
        files += ["--scores", f"{second}a|b={second_file}", "--scores", f"{second}c={second_file}"]
    asked = ["--resamples", "99", "--baseline", "a|b", "--format", "json", "--output", str(made)]
    assert main(["compare", *files, *options, *asked]) == 0
    assert main(["verify", str(made), *files]) == 0
    assert "verified, every byte" in capsys.readouterr().out
    made.write_text(made.read_text().replace('"p_value": ', '"p_value": 0', 1))
    assert main(["verify", str(made), *files]) in {1, 2}


@pytest.mark.parametrize("options", [[], ["--pooled", "--metric", "chrf", "--metric", "ter"]])
def test_the_report_of_a_suite_is_verified_from_its_folders(made, options, capsys):
    folders = [made.parent / "news", made.parent / "talks"]
    for folder, lines in zip(folders, (90, 40), strict=True):
        (folder / "systems").mkdir(parents=True)
        for name in ("reference.en", "systems/aspen.en", "systems/elm.en"):
            kept = Path(name).read_text().splitlines(keepends=True)[:lines]
            (folder / name).write_text("".join(kept))
    asked = [*options, "--resamples", "99", "--format", "json", "--output", str(made)]
    assert main(["suite", *map(str, folders), *asked]) == 0
    assert main(["verify", str(made), *map(str, reversed(folders))]) == 0
    assert "verified, every byte" in capsys.readouterr().out

    body = json.loads(made.read_text())
    body["testsets"][1]["report"]["pairs"][0]["count"] += 1
    made.write_text(json.dumps(body))
    assert main(["verify", str(made), *map(str, folders)]) == 1
    assert "testsets[1].report.pairs[0].count" in capsys.readouterr().out
    for files in ([str(folders[0]), f"web={folders[1]}"], [str(folders[0])], FILES):
        assert main(["verify", str(made), *files]) == 2
        assert "about the test sets news, talks" in capsys.readouterr().err


def test_other_systems_are_refused(made, capsys):
    compare(made)
    assert main(["verify", str(made), *FILES[:4], "systems/cedar.en"]) == 2
    assert "The report is about the systems aspen, birch, elm" in capsys.readouterr().err
    assert main(["verify"]) == 2


def test_a_signature_is_read_back():
    found = recipe_of(
        "(bleu|nrefs:1|lowercase:false|tokenize:13a)|tests:bootstrap+paired_bootstrap|"
        "alternative:less|resamples:99|seed:1|alpha:0.1|correction:holm|family:12|"
        "pairs:baseline=a:b|exact:auto|unit:segment|stratified:true|sigtest:0.2.0"
    )
    assert found["metrics"] == [{"name": "bleu", "lowercase": "false", "tokenize": "13a"}]
    assert found["tests"] == ["bootstrap", "paired_bootstrap"]
    assert (found["baseline"], found["family"], found["stratified"]) == (["a:b"], "12", True)
    assert found["interval"] is None


def test_differences_are_found_wherever_they_are():
    one = {"a": [1, {"b": 2}], "c": 3}
    other = {"a": [1, {"b": 4}], "d": 3}
    assert list(differences(one, other)) == [
        "a[1].b: 2 is reported, 4 computed",
        "c: reported, and not computed",
        "d: computed, and not reported",
    ]


def test_a_report_that_was_decided_anew_is_verified(made, capsys):
    compare(made)
    whole = Report.from_json(json.loads(made.read_text()))
    anew = decided(whole, 0.2, "none")
    made.write_text(render_json(anew))
    assert main(["verify", str(made), *SHUFFLED]) == 0
    assert "verified, every byte" in capsys.readouterr().out
    made.write_text(render_json(anew).replace("correction=none", "correction=holm"))
    assert main(["verify", str(made), *SHUFFLED]) == 1
    made.write_text(render_json(anew).replace("decided:alpha=0.2", "decided:alpha=None"))
    capsys.readouterr()
    assert main(["verify", str(made), *SHUFFLED]) == 2
    assert "signature cannot be read" in capsys.readouterr().err
