"""What a shared task shows as a whole: an order of teams over all test sets, and an archive."""

import csv
import hashlib
import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from app.models import ReceiptBody, StandingBody
from sigtest.errors import UnavailableError
from sigtest.render.comparison import present
from sigtest.render.drawing import check_converter, converted, named
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import PICTURES
from sigtest.render.standings import better, leading_test
from sigtest.report import Report
from workers.store.shared_tasks import Receipt, SharedTaskRecord, standing

START = (1980, 1, 1, 0, 0, 0)  # of all files in a zip: the same task gives the same bytes
README = """\
{name}

One folder a test set: tables (report.tex, report.csv, report.md, report.html), pictures, the
methods with what they cite (methods.txt, report.bib), and report.json, from which all of them were
made. A report is computed again, and compared, from the reference and the systems' outputs with

    sigtest verify FOLDER/report.json -r REFERENCE SYSTEM=OUTPUT ...

receipts.csv says what came when. SHA256SUMS has the hash of each file:

    sha256sum --check SHA256SUMS
"""


def standings(
    reports: Mapping[str, Report], receipts: Mapping[str, Sequence[Receipt]], order: str
) -> list[StandingBody]:
    """Teams with a primary system in time on every test set, best first.

    Args:
        reports: By test set; the first metric and its leading test count.
        receipts: By test set.
        order: `mean` or `wins`.
    """
    metrics = {name: next(iter(report.metrics)) for name, report in reports.items()}
    teams: dict[str, dict[str, str]] = {}
    for name, own in receipts.items():
        for system, receipt in standing(own).items():
            if receipt.primary and not receipt.late:
                teams.setdefault(receipt.team, {})[name] = system
    scores = {
        (name, system.name): system.scores[metrics[name]].score
        for name, report in reports.items()
        for system in report.systems
    }
    wins, found = _wins(reports, metrics), []
    for team, systems in teams.items():
        each = {place[0]: scores[place] for place in systems.items() if place in scores}
        if len(each) == len(reports):
            mean = sum(each.values()) / len(each) if len({*metrics.values()}) == 1 else None
            count = sum(wins[place] for place in systems.items())
            found.append(StandingBody(team=team, mean=mean, wins=count, scores=each))
    higher = all(report.metrics[metrics[name]].higher_is_better for name, report in reports.items())
    sign = -1 if higher else 1

    def place(one: StandingBody) -> tuple[float, str]:
        mean = sign * (one.mean or 0.0)
        return (mean if order == "mean" else -one.wins, one.team)

    return sorted(found, key=place)


def _wins(reports: Mapping[str, Report], metrics: Mapping[str, str]) -> Counter[tuple[str, str]]:
    """How many systems each is significantly better than, by test set and name."""
    return Counter(
        (name, winner)
        for name, report in reports.items()
        for pair in report.pairs_of(metrics[name], leading_test(report))
        for winner in [better(pair, report.metrics[pair.metric].higher_is_better)]
        if winner is not None
    )


def archive(
    task: SharedTaskRecord,
    boards: Mapping[str, tuple[bytes, Report]],
    receipts: Mapping[str, Sequence[Receipt]],
    order: Sequence[StandingBody],
) -> bytes:
    """Everything about a task that its paper needs, as a zip.

    Args:
        task: The task.
        boards: Reports by test set, as they are stored and read.
        receipts: By test set.
        order: Teams over all test sets; none where that is not wanted.
    """
    files: dict[str, bytes] = {"README.txt": README.format(name=task.name).encode()}
    for testset, (stored, report) in boards.items():
        own = _files(stored, report)
        files |= {f"{testset}/{file}": data for file, data in own}
    files["receipts.csv"] = _table(one.model_dump(mode="json") for one in listed(task.id, receipts))
    if order:
        files["overall.csv"] = _table(
            {"team": one.team, "mean": one.mean, "wins": one.wins, **one.scores} for one in order
        )
    sums = [f"{hashlib.sha256(data).hexdigest()}  {file}\n" for file, data in sorted(files.items())]
    files["SHA256SUMS"] = "".join(sums).encode()
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as packed:
        for file, data in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(file, START), data, zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def listed(task_id: str, receipts: Mapping[str, Sequence[Receipt]]) -> list[ReceiptBody]:
    """Receipts by test set, as they are told."""
    return [
        ReceiptBody(task=task_id, testset=testset, **vars(receipt))
        for testset, own in receipts.items()
        for receipt in own
    ]


def _files(stored: bytes, report: Report) -> Iterator[tuple[str, bytes]]:
    """A report in all formats, its methods, and its pictures: PDF where those can be made here."""
    yield "report.json", stored
    shown = present(report)
    for form in FORMATS.values():
        if form.name != "json":
            yield f"report.{form.suffix}", form.render(shown).encode()
    if methods := shown.document().methods:
        yield "methods.txt", f"{methods.text}\n".encode()
    suffix = "pdf"
    try:
        check_converter(suffix)
    except UnavailableError:
        suffix = "svg"
    drawn = [
        ((picture.name, *choice.values()), picture.draw(report, choice))
        for picture in PICTURES.values()
        if picture.needs == "report" and report.pairs
        for choice in picture.shows(report)
    ]
    for name, svg in named(drawn):
        yield f"{name}.{suffix}", converted(svg, suffix)


def _table(rows: Iterable[Mapping[str, object]]) -> bytes:
    own, written = list(rows), io.StringIO()
    table = csv.DictWriter(written, own[0] if own else ("testset",), lineterminator="\n")
    table.writeheader()
    table.writerows(own)
    return written.getvalue().encode()
