"""Tables of docs/ that are made of docstrings; as a program (`make formats`), this writes them."""

from pathlib import Path

from app.serve import Address
from app.settings import Settings as Limits
from sigtest import report
from sigtest.documented import described
from workers.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
MACHINE = ("state", "memory")  # settings whose defaults depend on it
REPORTS = {
    "": report.Report,
    "testset": report.TestSetReport,
    "metrics.LABEL": report.MetricReport,
    "systems[]": report.SystemReport,
    "systems[].scores.LABEL": report.ScoreReport,
    "systems[].scores.LABEL.runs": report.RunsReport,
    "systems[].ranks.LABEL.TEST": report.RankReport,
    "pairs[]": report.PairReport,
    "pairs[].calibration": report.CalibrationReport,
    "warnings[]": report.WarningReport,
}
INSIDE = ("several",)  # of a report: JSON has its fields instead


def settings():
    yield "| variable | default | |\n| --- | --- | --- |"
    for group in (Address, Settings, Limits):
        words = described(group)
        assert list(words) == list(group.model_fields)
        for name, field in group.model_fields.items():
            default = "" if name in MACHINE or field.default in (None, ()) else field.default
            default = int(default) if isinstance(default, bool) else default
            yield f"| `{field.validation_alias}` | {default} | {words[name]} |"


def fields():
    for place, part in REPORTS.items():
        yield f"**`{place}`**\n" if place else ""
        yield "| field | what it says |\n| --- | --- |"
        words = described(part)
        assert set(words) == set(part.__dataclass_fields__)
        yield from (f"| `{own}` | {text} |" for own, text in words.items() if own not in INSIDE)
        yield ""
    yield "| code | of warnings |\n| --- | --- |"
    yield from (f"| `{code}` | {words} |" for code, words in report.WARNINGS.items())


TABLES = {
    "OPERATIONS.md": ("settings", "made of the classes that read them", settings),
    "SERVICE.md": ("fields", "made of the classes of reports", fields),
}


def written(page):
    """A page with the table between its marks."""
    name, why, rows = TABLES[page]
    before, begin, rest = (DOCS / page).read_text("utf-8").partition(f"<!-- {name}: {why} -->\n")
    assert begin
    end = f"<!-- {name} end -->"
    table = "\n".join(rows()).strip()
    return f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"


def test_pages_list_what_there_is():
    for page in TABLES:
        assert written(page) == (DOCS / page).read_text("utf-8")  # else: make formats
    assert "| `SIGTEST_PENDING` | 1000 | Unfinished questions that" in written("OPERATIONS.md")
    assert "| `p_adjusted` | Corrected for all pairs" in written("SERVICE.md")
    assert "| `identical-systems` | Systems are identical" in written("SERVICE.md")


if __name__ == "__main__":
    for page in TABLES:
        (DOCS / page).write_text(written(page), encoding="utf-8")
