"""`sigtest human` and its like: options and files to the report of their kind of question."""

import gzip
import json
import re
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sentences import sentences
from service import EXAMPLE

from sigtest.cli.compare import READERS
from sigtest.cli.options import COMMANDS, Parser
from sigtest.files.folders import EvalSet
from sigtest.kinds import KINDS, FormFile
from sigtest.render.records import render_json

CAMPAIGN = EXAMPLE.parent / "campaign" / "judgements.tsv"
SCORES = {path.stem: path for path in sorted((CAMPAIGN.parent / "scores").iterdir())}
SCORED = [f"{label}={path}" for label, path in SCORES.items()]

Run = Callable[..., tuple[int, str, str]]


def answer(run: Run, *arguments: object, command: str = "human") -> dict[str, Any]:
    status, out, err = run(command, *arguments, "--format", "json")
    assert (status, err) == (0, "")
    return dict(json.loads(out))


def computed(path: str, request: dict[str, Any], files: Sequence[FormFile] = ()) -> dict[str, Any]:
    """The report of a request of a kind, as JSON."""
    kind = KINDS[path]
    presented = kind.present(kind.compute(kind.parse(request, files)))
    return dict(json.loads(render_json(presented)))


def test_every_kind_has_its_command_in_the_overview(run):
    listed = run("--help")[1]
    for kind in KINDS.values():
        assert kind.command in COMMANDS
        assert f"\n  {kind.command} " in listed
        assert run(kind.command, "--help")[1].startswith(f"usage: sigtest {kind.command} ")


def test_help_names_the_tests_that_find_careless_annotators(run):
    shown = run("human", "--help")[1]
    assert "--quality VALUE[:FIELD=VALUE,...]" in shown
    assert all(name in shown for name in ("paired_t", "welch", "mann_whitney"))


def test_the_short_form_of_metric_is_that_of_every_command(run):
    shown = {command: run(command, "--help")[1] for command in COMMANDS}
    having = {command for command, told in shown.items() if re.search(r"(?m)^  .*--metric", told)}
    assert {"compare", "plan", "meta", "leaderboard", "plot"} < having
    short = re.compile(r"(?m)^  -m\b.*, --metric ")
    assert {own for own in having if not short.search(shown[own])} == set()


def test_a_plan_measures_the_metric_that_is_spelled_out(run):
    pilot = ("-r", EXAMPLE / "reference.en", *(EXAMPLE / "systems").glob("[ab]*.en"))
    told = answer(run, *pilot, "-m", "chrf:word_order=1", command="plan")
    assert told["metric"] == "chrf"
    assert "|word_order:1|" in told["signature"]
    assert "default bleu" in " ".join(run("plan", "--help")[1].split())


def test_every_door_asks_the_kind_that_is_called_like_its_command():
    asked = {command: Parser(COMMANDS[command]).get_default("kind").command for command in READERS}
    assert asked == {command: command for command in READERS}
    assert set(READERS) == {kind.command for kind in KINDS.values()} - {"compare"}


def test_options_mean_what_the_fields_of_a_request_mean(run):
    options = (
        "--input", "columns", "--scale", "0,100", "--standardise", "annotator_no_refs",
        "--quality", "signed_rank:threshold=0.01,min_pairs=5,untestable=keep",
        "--criterion", "fluency", "--criterion", "adequacy", "--test", "signed_rank",
        "--aggregate", "document", "--alpha", "0.01", "--correction", "holm",
        "--alias", "aspen=ASPEN", "--alias", "elm=ELM", "--domains", "micro",
        "--longitudinal", "best_old=ASPEN,best_new=birch,current_old=cedar,current_new=dogwood",
        "--categories", "4", "--resamples", "99", "--seed", "7", "--show-annotators",
        "--undecided", "minor",
    )  # fmt: skip
    request = {
        "input": "columns", "undecided": "minor", "scale": [0, 100],
        "standardise": "annotator_no_refs",
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
    of_comparisons = {
        "ties",
        "unit",
        "errors",
        "undetermined",
        "win_rate",
    }  # by people, of two systems
    # a gain over the years has no languages and directions
    assert known == {*request, *of_comparisons, "languages", "lower"}
    files = [FormFile("judgements", CAMPAIGN.name, CAMPAIGN.read_bytes())]
    assert answer(run, CAMPAIGN, *options) == computed("human-evaluations", request, files)


def test_a_new_name_may_follow_a_name_with_an_equals_sign(tmp_path, run):
    text = CAMPAIGN.read_text().replace("\telm\t", "\tn=4\t")
    (tmp_path / "judged.tsv").write_text(text)
    found = answer(run, tmp_path / "judged.tsv", "--alias", "n=4=elm")
    assert found["systems"] == answer(run, CAMPAIGN)["systems"]


def test_files_may_be_several_and_compressed(tmp_path, run):
    header, *rows = CAMPAIGN.read_text().splitlines(keepends=True)
    (tmp_path / "one.tsv").write_text(header + "".join(rows[:1000]))
    rest = header + "".join(rows[1000:])
    (tmp_path / "two.tsv.gz").write_bytes(gzip.compress(rest.encode()))
    halves = answer(run, tmp_path / "one.tsv", tmp_path / "two.tsv.gz")
    assert [source["rows"] for source in halves["sources"]] == [1000, 1352]
    assert halves["pairs"] == answer(run, CAMPAIGN)["pairs"]


def test_pictures_are_those_that_fit_and_those_of_a_stored_report(tmp_path, run):
    stored = tmp_path / "report.json"
    status, _, err = run(
        "human", CAMPAIGN, "--quality", "paired_t", "--plots", tmp_path / "plots",
        "--format", "json", "--output", stored,
    )  # fmt: skip
    assert (status, err) == (0, "")
    drawn = {path.stem: path.read_text() for path in (tmp_path / "plots").iterdir()}
    first = {"heatmap", "criteria", "boxes", "annotators"}
    others = {"heatmap-adequacy", "heatmap-fluency", "boxes-fluency"}
    assert drawn.keys() == first | others
    for name in first:
        assert run("plot", name, stored) == (0, drawn[name], "")
    for name in others:
        picture, criterion = name.split("-")
        asked = run("plot", picture, stored, "--criterion", criterion)
        assert asked == (0, drawn[name], "")
        assert criterion in asked[1]
    assert len(set(drawn.values())) == len(drawn)
    listed = run("metrics")[1]
    assert all(f"\n  {name}\n" in listed for name in first)


def test_pictures_of_all_metrics_and_levels_are_written(tmp_path, run):
    scores = CAMPAIGN.parent / "scores"
    alike = tmp_path / "alike.tsv"
    alike.write_text("".join(f"{name}\t1\n" for name in ("aspen", "birch", "cedar", "elm")))
    status, _, err = run(
        "meta", "--human", CAMPAIGN, "--exclude", "dogwood", "--statistic", "pearson",
        "--scores", f"alike={alike}", f"bleu={scores / 'bleu.tsv'}", f"ter={scores / 'ter.tsv'}",
        "--plots", tmp_path, "--format", "json", "--output", tmp_path / "meta.json",
    )  # fmt: skip
    assert (status, err) == (0, "")
    names = {path.stem for path in tmp_path.glob("*.svg")}
    assert names == {"scatter", "scatter-ter", "correlations"}  # none of scores that are all alike
    assert "bleu and people" in (tmp_path / "scatter.svg").read_text()
    asked = run("plot", "scatter", tmp_path / "meta.json", "--metric", "ter")[1]
    assert asked == (tmp_path / "scatter-ter.svg").read_text()
    levels = tmp_path / "levels"
    status, _, err = run(
        "accuracy", "--human", CAMPAIGN, "--from", CAMPAIGN.parent.parent / "shared-task",
        "--resamples", "99", "--plots", levels, "--alpha", "0.05", "0.01", "--format", "html",
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert {path.name for path in levels.iterdir()} == {
        "accuracy.svg", "accuracy-0_01.svg", "grid.svg", "grid-0_01.svg",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--test", "ranksum"], "Did you mean 'rank_sum'?"),
        (["--alpha", "much"], "alpha must be a number, not 'much'"),
        (["--categories", "2.5"], "categories must be a whole number"),
        (["--scale", "0"], "scale must be a list of the lowest and the highest score"),
        (["--alias", "aspen"], "aliases takes FROM=TO, not 'aspen'"),
        (["--alias", "elm=a", "--alias", "elm=b"], "aliases gives 'elm' two names"),
        (["--quality", "paired_t:min_pairs"], "'min_pairs' needs a value: min_pairs=VALUE"),
        (["--quality", "paired_t:pairs=3"], "Did you mean 'min_pairs'?"),
        (["--longitudinal", "best_old=aspen"], "longitudinal.best_new is missing"),
        (["--criterion", "style"], "Unknown criterion 'style'"),
        (["--format", "pdf"], "Unknown format 'pdf'"),
        (["--critrion", "x"], "unknown option '--critrion'. Did you mean --criterion?"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(complaint, options, said):
    assert said in complaint("human", CAMPAIGN, *options)


def test_what_cannot_be_read_names_the_file_and_the_line(tmp_path, complaint):
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


def test_metrics_are_held_against_judgements(run):
    found = answer(
        run, "--human", CAMPAIGN, "--quality", "paired_t", "--scores", *SCORED, "--lower", "ter",
        "--statistic", "pearson", "--statistic", "kendall", "--test", "williams",
        "--alternative", "two-sided", "--absolute", "--alpha", "0.1", "--correction", "none",
        "--resamples", 99, "--seed", 3, "--baseline", "chrf", "--exclude", "elm",
        command="meta",
    )  # fmt: skip
    request = {
        "human": {"quality": {"test": "paired_t"}},
        "metrics": {"bleu": {}, "chrf": {}, "ter": {"higher": False}},
        "statistics": ["pearson", "kendall"], "tests": ["williams"], "alternative": "two-sided",
        "absolute": True, "alpha": 0.1, "correction": "none", "resamples": 99, "seed": 3,
        "baseline": "chrf", "exclude_systems": ["elm"],
    }  # fmt: skip
    files = [FormFile("judgements", "judged.tsv", CAMPAIGN.read_bytes())]
    files += [
        FormFile("scores", f"{label}.tsv", path.read_bytes()) for label, path in SCORES.items()
    ]
    assert found == computed("metric-evaluations", request, files)
    assert [metric["label"] for metric in found["metrics"]] == ["bleu", "chrf", "ter"]
    (own,) = found["sets"]
    assert own["excluded"] == ["elm"]
    people = {system["name"]: system["human"] for system in own["systems"]}
    judged = answer(run, CAMPAIGN, "--quality", "paired_t")["systems"]
    assert people == {own["name"]: own["z"] for own in judged if own["name"] != "elm"}


def test_people_may_bring_scores_instead_of_judgements(run, tmp_path):
    people = {"aspen": 0.47, "birch": 0.55, "cedar": 0.15, "dogwood": 0.12, "elm": -0.55}
    expected = computed(
        "metric-evaluations",
        {"human": {"scores": {"system": people}}, "metrics": {"bleu": {"system": _column("bleu")}}},
    )
    for header in ("", "system\tscore\n"):
        rows = "".join(f"{name}\t{score}\n" for name, score in people.items())
        (tmp_path / "people.tsv").write_text(header + rows)
        found = answer(
            run, "--human", tmp_path / "people.tsv", "--scores", SCORED[0], command="meta"
        )
        assert found == expected


def _column(label: str) -> dict[str, float]:
    rows = (line.split("\t") for line in SCORES[label].read_text().splitlines())
    return {name: float(score) for name, score in rows}


def test_an_evalset_is_read_from_its_directory_or_archive(run, data, tmp_path):
    folder = data / "wmt23.he-en"
    labels = ["BLEU-refB", "chrF-refB", "CometKiwi-src"]
    body = EvalSet.of_folder(folder).request("he-en", "mqm", labels)
    choices = {"resamples": 99, "statistics": ["pearson", "accuracy"]}
    expected = computed("metric-evaluations", {**body, **choices})
    with tarfile.open(tmp_path / "he-en.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(folder, "he-en")
    for path in (folder, tmp_path / "he-en.tar.gz"):
        found = answer(
            run, "--evalset", path, "--lp", "he-en", "--gold", "mqm", "--metric", *labels,
            "--resamples", 99, "--statistic", "pearson", "--statistic", "accuracy",
            command="meta",
        )  # fmt: skip
        assert found == expected


def test_an_evalset_may_have_several_pairs_of_languages(run, tmp_path):
    for lp, step in (("en-de", 1.0), ("en-ru", -1.0)):
        for kind, name in (("human", f"{lp}.mqm"), ("metric", f"{lp}/X-refA"),
                           ("metric", f"{lp}/Y-src")):  # fmt: skip
            path = tmp_path / f"{kind}-scores" / f"{name}.sys.score"
            path.parent.mkdir(parents=True, exist_ok=True)
            slope = -step if "Y" in name else step
            path.write_text("".join(f"s{i}\t{slope * i + i % 3}\n" for i in range(6)))
        path = tmp_path / "references" / f"{lp}.refA.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
    found = answer(
        run, "--evalset", tmp_path, "--lp", "en-de", "en-ru", "--gold", "mqm", command="meta"
    )
    body = EvalSet.of_folder(tmp_path).requests(["en-de", "en-ru"], "mqm")
    assert found == computed("metric-evaluations", body)
    assert [entry["name"] for entry in found["sets"]] == ["en-de", "en-ru"]


def test_tests_are_held_against_judgements(run):
    found = answer(
        run, "--human", CAMPAIGN, "--quality", "paired_t", "--criterion", "fluency",
        "--from", EXAMPLE, "--metric", "bleu", "--metric", "ter", "--test", "bootstrap",
        "--test", "paired_bootstrap", "--resamples", 99, "--seed", 5, "--unit", "document",
        "--alpha", 0.1, 0.05, "--human-alpha", 0.01, command="accuracy",
    )  # fmt: skip

    def lines(path: Path) -> list[str]:
        return path.read_text(encoding="utf-8").splitlines()

    systems = sorted((EXAMPLE / "systems").iterdir())
    request = {
        "human": {"quality": {"test": "paired_t"}, "criteria": ["fluency"]},
        "comparison": {
            "references": lines(EXAMPLE / "reference.en"),
            "documents": lines(EXAMPLE / "documents.txt"),
            "systems": {path.stem: lines(path) for path in systems},
            "metrics": ["bleu", "ter"], "tests": ["bootstrap", "paired_bootstrap"],
            "resamples": 99, "seed": 5, "unit": "document",
        },
        "alphas": [0.1, 0.05], "human_alpha": 0.01,
    }  # fmt: skip
    files = [FormFile("judgements", "judged.tsv", CAMPAIGN.read_bytes())]
    assert found == computed("test-accuracy", request, files)
    assert not any("Not used" in warning for warning in sentences(found))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["meta"], "--human and --scores, or --evalset?"),
        (["meta", "--human", CAMPAIGN], "--human and --scores, or --evalset?"),
        (["meta", "--human", CAMPAIGN, "--scores", "bleu"], "--scores takes LABEL=FILE"),
        (["meta", "--human", CAMPAIGN, "--scores", *SCORED, "--lower", "tre"],
         "Did you mean 'ter'?"),
        (["meta", "--human", CAMPAIGN, "--scores", *SCORED, "--level", "segment"],
         "has no segment scores"),
        (["meta", "--evalset", EXAMPLE, "--lp", "de-en", "--gold", "mqm"], "human-scores"),
        (["meta", "--evalset", EXAMPLE, "--lp", "de-en"], "gold says what to read"),
        (["meta", "--evalset", EXAMPLE, "--human", CAMPAIGN], "leave out --human"),
        (["meta", "--evalset", EXAMPLE, "--lower", "TER", "--quality", "paired_t"],
         "more is better; leave out --lower, --quality"),
        (["meta", "--human", CAMPAIGN, "--scores", *SCORED, "--lp", "de-en", "-m", "bleu"],
         "what --evalset reads is said by --lp, --metric; there is none"),
        (["accuracy", "--from", EXAMPLE], "which judgements? --human FILE"),
        (["accuracy", "--human", CAMPAIGN], "No references"),
        (["accuracy", "--human", CAMPAIGN, "--from", EXAMPLE, "--alpha", "half"],
         "alphas[0] must be a number, not 'half'"),
        (["accuracy", "--human", CAMPAIGN, "--from", EXAMPLE, "--alias", "elm=oak"],
         "oak"),
    ],
)  # fmt: skip
def test_what_cannot_be_held_against_people_is_one_sentence(complaint, arguments, said):
    assert said in complaint(*arguments)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (["bleu=broken.tsv", SCORED[1]], "broken.tsv, line 2: 'x' is not a number"),
        (["bleu=missing.tsv", SCORED[1]], "missing.tsv: No such file"),
        (["bleu=broken.tsv", "bleu=other.tsv"], "bleu both broken.tsv and other.tsv"),
    ],
)
def test_scores_that_cannot_be_used_are_named_by_their_file(
    complaint, tmp_path, monkeypatch, scores, said
):
    (tmp_path / "broken.tsv").write_text("A 1\nB x\n")
    monkeypatch.chdir(tmp_path)
    assert said in complaint("meta", "--human", CAMPAIGN, "--scores", *scores)
