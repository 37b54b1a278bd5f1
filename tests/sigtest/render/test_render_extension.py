"""What it takes to add a format or a picture: one entry, and it is everywhere in the shell."""

from typing import Any

import pytest
from written import rendered, report, reported_on_several

from sigtest.cli import main
from sigtest.cli.compare import listing
from sigtest.cli.options import parse
from sigtest.render.formats import FORMATS, Format, Presented
from sigtest.render.model import Document, Paragraph, Sheet
from sigtest.render.pictures import PAIRED, PICTURES, VIEW, Picture, view
from sigtest.report import Report

REFERENCE = "reference.en"
PAIR = ("systems/aspen.en", "systems/birch.en")
FAST = ("--resamples", "99", "--metric", "ter")


@pytest.fixture
def shout(monkeypatch):
    def render(presented: Presented) -> str:
        return presented.document().title.upper()

    made = Format("shout", "readers far away", "text/x-shout", "loud", render)
    monkeypatch.setitem(FORMATS, "shout", made)


@pytest.fixture
def dots(monkeypatch):
    def draw(report: Report, **chosen: str) -> str:
        seen = view(report, **chosen)
        return f"<svg xmlns='x'>{seen.title or 'one'} {seen.metric} {seen.test}</svg>"

    monkeypatch.setitem(PICTURES, "dots", Picture("dots", "Dots of a report", draw, PAIRED, VIEW))


@pytest.fixture
def tails(monkeypatch):
    def draw(report: Report, **chosen: Any) -> str:
        return f"<svg xmlns='x'>{len(chosen['distribution'].values)}</svg>"

    made = Picture("tails", "Tails of a pair", draw, PAIRED, VIEW, needs="distribution")
    monkeypatch.setitem(PICTURES, "tails", made)


@pytest.fixture
def run(example, monkeypatch, capsysbinary):
    monkeypatch.chdir(example)

    def ran(*arguments: str) -> str:
        status = main(arguments)
        printed = capsysbinary.readouterr()
        assert status == 0, printed.err.decode()
        return printed.out.decode()

    return ran


def test_a_format_is_everywhere_in_the_shell(shout, run, example):
    assert run("compare", "-r", REFERENCE, *PAIR, *FAST, "--format", "shout") == (
        "COMPARISON OF 2 SYSTEMS"
    )
    folders = (f"news={example}", str(example.parent / "talk"))
    several = run("suite", *folders, *FAST, "--format", "shout")
    assert several == "COMPARISON OF 5 SYSTEMS ON 2 TEST SETS"
    for command in ("compare", "suite", "leaderboard"):
        assert "html, shout; default by --output, or text" in " ".join(
            parse([command, "--help"]).split()
        )
    assert "  shout\n    For readers far away.\n" in listing()


def test_an_unknown_format_says_which_there_are(shout, example, monkeypatch, capsys):
    monkeypatch.chdir(example)
    assert main(["compare", "-r", REFERENCE, *PAIR, "--format", "shuot"]) == 2
    assert "html, shout. Did you mean 'shout'?" in capsys.readouterr().err


def test_a_picture_is_everywhere_in_the_shell(dots, run, tmp_path):
    run("compare", "-r", REFERENCE, *PAIR, *FAST, "--plots", str(tmp_path))
    written = tmp_path / "dots-ter-approximate_randomization.svg"
    assert "one ter approximate_randomization" in written.read_text()
    stored = tmp_path / "report.json"
    stored.write_text(rendered("json", reported_on_several()), encoding="utf-8")
    drawn = run("plot", "dots", str(stored), "--metric", "ter", "--testset", "talks")
    assert "talks ter approximate_randomization" in drawn
    assert "dots, or" in parse(["plot", "--help"])
    assert "  dots\n    Dots of a report (of sigtest compare).\n" in listing()
    assert "one bleu" in rendered("html", report())


def test_a_picture_of_distributions_is_drawn_for_every_pair_asked_for(tails, run, tmp_path):
    asked = ("--distribution", "aspen", "birch", "--exact", "never")
    run("compare", "-r", REFERENCE, *PAIR, *FAST, "--plots", str(tmp_path), *asked)
    written = tmp_path / "tails-aspen-birch-ter-approximate_randomization.svg"
    assert ">99<" in written.read_text()
    stored = tmp_path / "report.json"
    stored.write_text(rendered("json", report()), encoding="utf-8")
    assert main(["plot", "tails", str(stored)]) == 2


def test_pictures_of_several_test_sets_have_names_of_their_own(run, tmp_path, example):
    folders = (f"news={example}", str(example.parent / "talk"))
    asked = ("--distribution", "aspen", "birch")
    run("suite", *folders, *FAST, "--plots", str(tmp_path), *asked)
    written = sorted(path.name for path in tmp_path.iterdir())
    of = "ter-approximate_randomization.svg"
    assert written == [
        f"distribution-news-aspen-birch-{of}",
        f"distribution-talk-aspen-birch-{of}",
        *(
            f"{name}-{part}{of}"
            for name in ("intervals", "matrix")
            for part in ("news-", "talk-", "")
        ),
    ]


def test_another_kind_of_answer_has_every_format():
    """Human evaluations and the like bring a document, records and JSON of their own."""
    presented = Presented(
        as_json=lambda: {"raters": 2},
        document=lambda: Document("Raters", ("2 raters",), (Paragraph("Raters agree."),)),
        sheets={"raters": lambda: Sheet(("rater", "count"), [("r1", 3), ("=r2", None)])},
    )
    for name, form in FORMATS.items():
        assert "ater" in form.render(presented), name
    assert FORMATS["csv"].render(presented) == "rater,count\r\nr1,3\r\n'=r2,\r\n"


def test_descriptors_are_complete():
    for registry in (FORMATS, PICTURES):
        for name, entry in registry.items():
            assert entry.name == name
            assert entry.title
    media = [m for form in FORMATS.values() for m in (form.media_type, *form.aliases)]
    assert len(set(media)) == len(media)
    assert len({form.suffix for form in FORMATS.values()}) == len(FORMATS)
    assert [name for name, form in FORMATS.items() if form.saved] == ["csv"]
