"""`sigtest human` and its like: options and files to the report of their kind of question."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from service import EXAMPLE

from sigtest.cli import main
from sigtest.cli.arguments import COMMANDS
from sigtest.human import compute, parse
from sigtest.kinds import KINDS
from sigtest.render.formats import FORMATS
from sigtest.report import encode

CAMPAIGN = EXAMPLE.parent / "campaign" / "judgements.tsv"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line; the status, standard output and standard error."""

    def running(*arguments: object) -> tuple[int, str, str]:
        status = main([*map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return running


@pytest.fixture
def complaint(run: Run) -> Callable[..., str]:
    """Run what must fail; its one line on standard error."""

    def running(*arguments: object) -> str:
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        return err.removeprefix("sigtest: ").rstrip("\n")

    return running


def answer(run: Run, *arguments: object) -> dict[str, Any]:
    status, out, err = run("human", *arguments, "--format", "json")
    assert (status, err) == (0, "")
    return dict(json.loads(out))


def test_every_kind_has_its_command_in_the_overview(run: Run) -> None:
    listed = run("--help")[1]
    for kind in (kind for kind in KINDS.values() if kind.command):
        assert kind.command in COMMANDS
        assert f"\n  {kind.command} " in listed
        assert run(kind.command, "--help")[1].startswith(f"usage: sigtest {kind.command} ")


def test_options_mean_what_the_fields_of_a_request_mean(run: Run) -> None:
    options = (
        "--input", "columns", "--scale", "0,100", "--standardise", "annotator_no_refs",
        "--quality", "signed_rank:threshold=0.01,min_pairs=5,untestable=keep",
        "--criterion", "fluency", "--criterion", "adequacy", "--test", "signed_rank",
        "--aggregate", "document", "--alpha", "0.01", "--correction", "holm",
        "--alias", "aspen=ASPEN", "--alias", "elm=ELM", "--domains", "micro",
        "--longitudinal", "best_old=ASPEN,best_new=birch,current_old=cedar,current_new=dogwood",
        "--categories", "4", "--resamples", "99", "--seed", "7", "--show-annotators",
    )  # fmt: skip
    request = {
        "input": "columns", "scale": [0, 100], "standardise": "annotator_no_refs",
        "quality": {"test": "signed_rank", "threshold": 0.01, "min_pairs": 5,
                    "untestable": "keep"},
        "criteria": ["fluency", "adequacy"], "test": "signed_rank", "aggregate": "document",
        "alpha": 0.01, "correction": "holm", "aliases": {"aspen": "ASPEN", "elm": "ELM"},
        "domains": "micro",
        "longitudinal": {"best_old": "ASPEN", "best_new": "birch", "current_old": "cedar",
                         "current_new": "dogwood"},
        "categories": 4, "resamples": 99, "seed": 7, "show_annotators": True,
    }  # fmt: skip
    known = {field.name for field in KINDS["human-evaluations"].fields}
    assert known == {*request, "languages"}
    files = [(CAMPAIGN.name, CAMPAIGN.read_bytes())]
    expected = json.loads(json.dumps(encode(compute(parse(request, files)))))
    assert answer(run, CAMPAIGN, *options) == expected


def test_a_new_name_may_follow_a_name_with_an_equals_sign(tmp_path: Path, run: Run) -> None:
    text = CAMPAIGN.read_text().replace("\telm\t", "\tn=4\t")
    (tmp_path / "judged.tsv").write_text(text)
    found = answer(run, tmp_path / "judged.tsv", "--alias", "n=4=elm")
    assert found["systems"] == answer(run, CAMPAIGN)["systems"]


def test_files_may_be_several_and_compressed(tmp_path: Path, run: Run) -> None:
    header, *rows = CAMPAIGN.read_text().splitlines(keepends=True)
    (tmp_path / "one.tsv").write_text(header + "".join(rows[:1000]))
    rest = header + "".join(rows[1000:])
    (tmp_path / "two.tsv.gz").write_bytes(gzip.compress(rest.encode()))
    halves = answer(run, tmp_path / "one.tsv", tmp_path / "two.tsv.gz")
    assert [source["rows"] for source in halves["sources"]] == [1000, 1352]
    assert halves["pairs"] == answer(run, CAMPAIGN)["pairs"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written(tmp_path: Path, run: Run, form: str) -> None:
    written = tmp_path / "report"
    assert run("human", CAMPAIGN, "--format", form, "--output", written) == (0, "", "")
    assert ("5 systems" if form == "bibtex" else "dogwood") in written.read_text()


def test_pictures_are_those_that_fit_and_those_of_a_stored_report(tmp_path: Path, run: Run) -> None:
    stored = tmp_path / "report.json"
    status, _, err = run(
        "human", CAMPAIGN, "--quality", "paired_t", "--plots", tmp_path / "plots",
        "--format", "json", "--output", stored,
    )  # fmt: skip
    assert (status, err) == (0, "")
    drawn = {path.stem: path.read_text() for path in (tmp_path / "plots").iterdir()}
    assert drawn.keys() == {"heatmap", "criteria", "boxes", "annotators"}
    for name, svg in drawn.items():
        assert run("plot", name, stored) == (0, svg, "")
    fluency = run("plot", "heatmap", stored, "--criterion", "fluency")[1]
    assert fluency != drawn["heatmap"]
    assert "fluency" in fluency
    listed = run("metrics")[1]
    assert all(f"\n  {name}\n" in listed for name in drawn)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--test", "ranksum"], "Did you mean 'rank_sum'?"),
        (["--alpha", "much"], "alpha must be a number, not 'much'"),
        (["--categories", "2.5"], "categories must be a whole number"),
        (["--scale", "0"], "scale must be a list of the lowest and the highest score"),
        (["--alias", "aspen"], "--alias takes FROM=TO, not 'aspen'"),
        (["--alias", "elm=a", "--alias", "elm=b"], "--alias gives 'elm' two names"),
        (["--quality", "paired_t:min_pairs"], "'min_pairs' needs a value: min_pairs=VALUE"),
        (["--quality", "paired_t:pairs=3"], "Did you mean 'min_pairs'?"),
        (["--longitudinal", "best_old=aspen"], "longitudinal has no best_new"),
        (["--criterion", "style"], "Unknown criterion 'style'"),
        (["--format", "pdf"], "Unknown format 'pdf'"),
        (["--critrion", "x"], "unknown option '--critrion'. Did you mean --criterion?"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    complaint: Callable[..., str], options: list[str], said: str
) -> None:
    assert said in complaint("human", CAMPAIGN, *options)


def test_what_cannot_be_read_names_the_file_and_the_line(
    tmp_path: Path, complaint: Callable[..., str]
) -> None:
    lines = CAMPAIGN.read_text().splitlines(keepends=True)
    lines[4] = lines[4].replace("\tSYSTEM\tadequacy\t", "\tSYSTEM\tadequacy\tx")
    judged = tmp_path / "judged.tsv"
    judged.write_text("".join(lines))
    said = complaint("human", judged)
    assert f"{judged}, line 5" in said
    assert "which files?" in complaint("human")
    assert "No such file" in complaint("human", tmp_path / "none.tsv")
    report = tmp_path / "report.json"
    report.write_text("{}")
    assert "This is no HumanReport" in complaint("plot", "heatmap", report)
    report.write_text("[")
    assert "sigtest human ... --format json" in complaint("plot", "heatmap", report)
