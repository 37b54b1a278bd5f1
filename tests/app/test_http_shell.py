"""The shell's `--server`: a service answers what this process answers, byte for byte."""

from pathlib import Path

import pytest
from exchange import ROOT

import sigtest
from sigtest.cli import main
from sigtest.client import Client
from sigtest.errors import RecipeError
from sigtest.kinds import FormFile

CAMPAIGN = f"{ROOT}/examples/campaign"
JUDGED = [f"{CAMPAIGN}/judgements.tsv", "--quality", "paired_t"]
ASKED = [
    ["human", *JUDGED],
    ["meta", "--human", *JUDGED, "--scores", f"bleu={CAMPAIGN}/scores/bleu.tsv",
     f"ter={CAMPAIGN}/scores/ter.tsv", "--lower", "ter"],
    ["classify", "--gold", f"{ROOT}/examples/labels/gold.txt", "--metric", "macro_f1",
     *(f"{ROOT}/examples/labels/systems/{name}.txt" for name in ("maple", "oak")),
     "--resamples", "99"],
    ["classify", "--table", f"{ROOT}/examples/labels/data-sets.tsv"],
    ["classify", "--correct", "9", "--n", "10", "--correct", "6", "--n", "12"],
    ["compare", "--from", f"{ROOT}/examples/labels/data-sets.tsv", "--columns", "tasks",
     "--baseline", "0.7", "--resamples", "99"],
    ["compare", "--from", f"{ROOT}/examples/shared-task", "--baseline", "elm",
     "--baseline", "birch", "--resamples", "99"],
    ["accuracy", "--human", *JUDGED, "--from", f"{ROOT}/examples/shared-task", "--resamples", "99"],
    ["plan", "--from", f"{ROOT}/examples/shared-task", "--difference", "1.5", "--units", "2000"],
]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked[0])
@pytest.mark.parametrize("form", ["json", "text"])
def test_the_answer_of_a_service_is_that_of_this_process(service, tmp_path, asked, form):
    written = {}
    for where, server in (("here", []), ("there", ["--server", str(service.base_url)])):
        plots = tmp_path / where
        report = tmp_path / f"{where}.txt"
        shown = ["--format", form, "--output", str(report), "--plots", str(plots)]
        assert main([*asked, *shown, *server]) == 0
        pictures = {path.name: path.read_bytes() for path in plots.iterdir()}
        assert pictures
        written[where] = (report.read_bytes(), pictures)
    assert written["here"] == written["there"]


def test_what_a_service_refuses_names_the_file(service, tmp_path, capsys):
    judged = tmp_path / "judged.tsv"
    judged.write_text("system\tsegment\tscore\nA\t1\t50\nB\t1\tmuch\n")
    assert main(["human", str(judged), "--server", str(service.base_url)]) == 2
    assert f"{judged}, line 3" in capsys.readouterr().err


def test_the_client_returns_the_report_of_the_notebook(service):
    path = Path(f"{CAMPAIGN}/judgements.tsv")
    people = {"aspen": 0.47, "birch": 0.55, "cedar": 0.15, "dogwood": 0.12, "elm": -0.55}
    bleu = {"aspen": 58.11, "birch": 56.2, "cedar": 33.66, "dogwood": 33.66, "elm": 21.42}
    judged = FormFile("judgements", path.name, path.read_bytes())
    with Client(str(service.base_url)) as client:
        human = client.ask("human-evaluations", {"categories": 3}, [judged])
        meta = client.ask(
            "metric-evaluations",
            {"human": {"scores": {"system": people}}, "metrics": {"bleu": {"system": bleu}}},
        )
        texts = {"references": ["a b", "c d"], "systems": {"x": ["a b", "c"], "y": ["a", "c d"]}}
        compared = client.ask("comparisons", texts)
        with pytest.raises(RecipeError, match="Did you mean 'human-evaluations'"):
            client.ask("human-evaluation", {})
    here = sigtest.human(path, categories=3)
    assert (vars(human), str(human)) == (vars(here), str(here))
    assert meta == sigtest.meta(people, {"bleu": bleu})
    assert compared == sigtest.compare(**texts)
