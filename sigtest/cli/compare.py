"""Questions asked in this process or of a running service: the same report, and its pictures.

`sigtest compare` and `suite`, the command of every other kind of question, and two that ask
nothing: `plot` draws a stored report, `metrics` lists what there is.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import MISSING, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sigtest.cli import files
from sigtest.cli.options import Chosen, UsageError
from sigtest.cli.shell import bar
from sigtest.comparison.comparison import Comparison
from sigtest.data.names import choose
from sigtest.data.text import decode
from sigtest.documented import described
from sigtest.engine import compare as compare_here
from sigtest.engine import distribute
from sigtest.errors import InputError, RecipeError, ServiceError
from sigtest.files.gathering import read_bytes as read_file
from sigtest.files.gathering import read_path
from sigtest.files.join import Joining
from sigtest.files.material import Material
from sigtest.kinds import KINDS, FormFile, Kind
from sigtest.kinds.comparisons import KIND, ComparisonQuestion
from sigtest.metrics import METRICS, Metric
from sigtest.parallel import cores
from sigtest.progress import Progress
from sigtest.render.comparison import check_table
from sigtest.render.drawing import STYLE, Style, converted
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.pictures import PICTURES, Picture
from sigtest.render.words import printable
from sigtest.report import Report
from sigtest.requests.model import Option, words_of
from sigtest.requests.model import options as options_of
from sigtest.requests.notes import Notes
from sigtest.significance import CORRECTIONS, TESTS
from sigtest.version import __version__

if TYPE_CHECKING:
    from sigtest.client import Client

T = TypeVar("T")
Request = dict[str, Any]


# what all have in common


def client_of(options: Chosen) -> Client:
    """A client of the service that `--server` names."""
    from sigtest.client import Client  # late: only --server needs httpx, which takes 0.1 s

    return Client(options.server, os.environ.get("SIGTEST_API_KEY") or None)


def notes_of(options: Chosen) -> Notes:
    """What the options write on a question or a test set of a service.

    Raises:
        UsageError: There is no service to keep it, or metadata is no NAME=VALUE.
        InputError: It cannot be kept.
    """
    metadata = {}
    for spelled in options.metadata:
        name, equals, value = spelled.partition("=")
        if not equals or not name:
            raise UsageError(f"--metadata takes NAME=VALUE, not {spelled!r}")
        metadata[name] = value
    written = {"title": options.call or "", "tags": options.tag, "metadata": metadata}
    notes = Notes.of({**written, "expires": options.expires or ""})
    if options.server is None and notes.as_json():
        raise UsageError("--call, --tag, --metadata and --expires are for a service: --server URL")
    return notes


def understood(stored: bytes, reader: Callable[[Mapping[str, Any]], T]) -> T:
    """The service's report, which only its own version of sigtest is sure to understand.

    Raises:
        ServiceError: Another version of sigtest wrote it.
    """
    body = json.loads(stored)
    try:
        return reader(body)
    except InputError as error:
        raise ServiceError(
            f"The service runs sigtest {body.get('version')} and this is {__version__}, which "
            "cannot show its report; take --format json."
        ) from error


def layout_of(options: Chosen, check_table: Callable[[str], object]) -> Layout:
    """How the report is to be laid out, checked before a long computation.

    Args:
        options: Of the command.
        check_table: Complains about a table that the report will not have.

    Raises:
        SigtestError: An unknown format or table, a layout that the format cannot have, no file.
        OSError: A file that could not be written.
    """
    form = FORMATS[choose(options.format, FORMATS, "format", "format")]
    named = {part: getattr(options, part) or "" for part in ("caption", "label")}
    names, every_pair = tuple(options.names or ()), bool(options.every_pair)
    layout = Layout(options.table, **named, names=names, every_pair=every_pair)
    form.check(layout)
    if layout.table is not None:
        check_table(layout.table)
    files.check_output(options.output)
    return layout


Drawn = Iterator[tuple[Sequence[str], str]]  # what each picture shows, in words, and the SVG


def answer(
    options: Chosen,
    kind: Kind[Any],
    layout: Layout,
    question: Comparison | Request,
    compute: Callable[[Progress | None], Any],
    pictures: Callable[[Any, Client | None, str], Drawn],
    **sent: Any,
) -> None:
    """Have a question answered, here or by a service; write its report and pictures.

    Args:
        options: Of the command.
        kind: Of the question.
        layout: Of the report.
        question: As a service takes it.
        compute: Makes the report here.
        pictures: Draws a report; gets also the client and the id, where a service made it.
        **sent: `files` and `envelope` of the question, for a service.
    """
    with ExitStack() as open_:
        client = open_.enter_context(client_of(options)) if options.server is not None else None
        with bar() as progress:
            if client is None:
                report, key, stored = compute(progress), "", None
            else:
                key = client.run(question, progress, kind.path, **sent)
                report, stored = None, client.report(key, kind=kind.path)
        plain = stored if options.format == "json" and not options.badge else None
        if stored is not None and (plain is None or options.plots is not None):
            report = understood(stored, kind.read)
        if options.plots is not None:
            files.write_pictures(pictures(report, client, key), options)
        if options.badge:
            content = PICTURES["badge"].draw(report, {"system": options.badge}).encode()
        else:
            content = plain or FORMATS[options.format].render(kind.lay_out(report, layout)).encode()
        files.write(content, options.output)


# comparisons

Read = Callable[[Chosen], Comparison]

WORTH_SHARING = 0.5  # predicted seconds
MOST_JOBS = 256
FOLLOWING = 0.5  # seconds between looks at a file that grows


def compare(options: Chosen, read: Read = files.read_comparison) -> None:
    """Compare, and write the report in the format that was asked for.

    Args:
        options: Of the command.
        read: Makes the comparison of them.

    Raises:
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    layout = layout_of(options, partial(check_table, all_pairs=not options.baseline))
    notes = notes_of(options)
    comparison = read(options)
    layout.new_names([*comparison.plan.recipe.labels, *comparison.plan.systems])
    require_folder(options)
    style = options.some(STYLE)
    Style.of(style)
    if options.plots is not None:
        names = comparison.plan.systems
        _prepare(options, names, [{names[i] for i in pair} for pair in comparison.plan.pairs])

    def pictures(report: Report, client: Client | None, key: str) -> Drawn:
        def draw_pair(picture: Picture, chosen: Mapping[str, str]) -> str:
            if client is not None:
                return client.plot(key, picture.name, **chosen, **style).decode()
            a, b, metric, test = (chosen[part] for part in ("a", "b", "metric", "test"))
            values = distribute(comparison, a, b, metric, test, chosen.get("testset"))
            return picture.draw(report, {**chosen, **style}, values)

        return _pictures(report, options, draw_pair)

    def compute(progress: Progress | None) -> Report:
        return compare_here(comparison, progress, _jobs(comparison, options))

    answer(options, KIND, layout, comparison, compute, pictures, envelope=notes)


def suite(options: Chosen) -> None:
    """Compare on several test sets; see `compare`."""
    compare(options, files.read_folders)


def _jobs(comparison: Comparison, options: Chosen) -> int:
    """Processes that are worth starting.

    Raises:
        RecipeError: None are asked for.
    """
    if options.jobs is None:
        return cores() if ComparisonQuestion(comparison).seconds > WORTH_SHARING else 1
    jobs = files.number(options.jobs, "--jobs", int)
    if jobs < 1:
        raise RecipeError(f"--jobs must be 1 or more, not {jobs}.", field="--jobs")
    return min(jobs, MOST_JOBS)


# pictures

CHOSEN = ("metric", "test", "testset", "criterion", "alpha")  # what of a report is drawn

# Draws a picture of a pair; what is chosen names it: a, b, metric, test and perhaps testset.
DrawPair = Callable[[Picture, Mapping[str, str]], str]


def plot(options: Chosen) -> None:
    """`sigtest plot`: one picture of a stored report.

    Raises:
        UsageError: No kind of picture.
        SigtestError: An unknown kind of picture, metric or test, or no JSON report.
        OSError: A file that cannot be read or written.
    """
    if not options.kind:
        raise UsageError("plot which KIND of picture, of which REPORT? (see sigtest plot --help)")
    kinds: dict[str, list[Kind[Any]]] = {}
    for known in KINDS.values():
        for name in known.pictures:
            kinds.setdefault(name, []).append(known)
    candidates = kinds[choose(options.kind, kinds, "kind", "picture")]
    if candidates[0].pictures[options.kind].needs == "distribution":
        raise RecipeError(
            "A report keeps no distribution; draw it with sigtest compare ... --plots DIR "
            "--distribution A B."
        )
    files.check_output(options.output)
    kind, report = _stored(options.report, candidates)
    folded = {str(own).casefold(): str(own) for own in getattr(report, "metrics", ())}
    options.metric = folded.get(str(options.metric).casefold(), options.metric)
    chosen = options.some((*CHOSEN, *STYLE))
    kind.check_chosen(options.kind, chosen)
    svg = kind.pictures[options.kind].draw(report, chosen)
    files.write(converted(svg, options.suffix), options.output)


def require_folder(options: Chosen) -> None:
    """Complain about what is said of pictures where none are written.

    Raises:
        RecipeError: There is something, and no --plots.
    """
    for option in ("distribution", *STYLE):
        if getattr(options, option) and options.plots is None:
            raise RecipeError(f"--{option} is about pictures; it needs --plots DIR, where they go.")


def write_board_plots(report: Report, options: Chosen, draw_pair: DrawPair) -> None:
    """Write every picture of a leaderboard, which was not there to be checked before.

    Raises:
        InputError: It has no pairs.
        RecipeError: A distribution of systems that it has not.
        OSError: The folder cannot be made.
    """
    names = [system.name for system in report.systems]
    if not report.pairs:
        measured = "1 system is" if len(names) == 1 else f"{len(names)} systems are"
        raise InputError(f"{measured} measured; pictures need two.")
    _prepare(options, names, [{pair.a, pair.b} for pair in report.pairs])
    files.write_pictures(_pictures(report, options, draw_pair), options)


def _prepare(options: Chosen, names: Sequence[str], compared: Container[set[str]]) -> None:
    """Check the pairs whose distributions are wanted, and make the folder."""
    for a, b in options.distribution:
        choose(a, names, "distribution", "system")
        choose(b, names, "distribution", "system")
        if {a, b} not in compared:
            raise RecipeError(f"{a!r} and {b!r} are not compared.", field="distribution")
    Path(options.plots).mkdir(exist_ok=True)


def _pictures(
    report: Report, options: Chosen, draw_pair: DrawPair
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What each picture is called, and the picture: of every test set, and of all together."""
    names = [entry.name for entry in report.several.testsets] if report.several else []
    style = options.some(STYLE)
    fitting = [p for p in PICTURES.values() if p.needs == "report" and p.fits(report)]
    of_pairs = [p for p in PICTURES.values() if p.needs == "distribution"]
    for testset in (*names, None):
        of = {} if testset is None else {"testset": testset}
        for picture in fitting:
            if picture.whole:
                yield (picture.name, *of.values()), picture.draw(report, {**of, **style})
        for metric, test in product(report.metrics, report.tests):
            by = {"metric": metric, "test": test, **of}
            for picture in fitting:
                if not picture.whole:
                    named = (picture.name, *of.values(), metric, test)
                    yield named, picture.draw(report, {**by, **style})
            for picture, (a, b) in product(of_pairs, options.distribution):
                if testset or not names:
                    named = (picture.name, *of.values(), a, b, metric, test)
                    yield named, draw_pair(picture, {"a": a, "b": b, **by})


def _stored(path: str, kinds: Sequence[Kind[Any]]) -> tuple[Kind[Any], Any]:
    """The report in a file, and the kind that it is of, which the first says what is wrong with."""
    text = decode(files.read_bytes(path), files.shown(path))
    first, *others = kinds
    try:
        body = json.loads(text)
        for kind in others:
            with suppress(InputError):
                return kind, kind.read(body)
        return first, first.read(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{files.shown(path)} is no JSON report of this version: sigtest {first.command} ... "
            "--format json."
        ) from error


# other kinds of questions


def ask(options: Chosen) -> None:
    """Ask a question, here or of a service, and write the report.

    Raises:
        UsageError: Nothing to ask about.
        SigtestError: Bad input, or a service that refuses or cannot be reached.
        OSError: A file that cannot be read or written.
    """
    kind = options.kind
    layout = layout_of(options, lambda table: choose(table, kind.tables, "table", "table"))
    notes = notes_of(options)
    request, sent = READERS[options.command](options, words_of(options.fields, options))
    if options.plots is not None:
        Path(options.plots).mkdir(exist_ok=True)

    def compute(progress: Progress | None) -> Any:
        return kind.compute(kind.parse(request, sent), progress)

    def pictures(report: Any, *_: object) -> Drawn:
        for name in kind.drawable(report):
            picture = kind.pictures[name]
            for chosen in ({}, *picture.shows(report)[1:]):
                yield (name, *chosen.values()), picture.draw(report, chosen)

    answer(options, kind, layout, request, compute, pictures, files=sent, envelope=notes)


Submission = tuple[Request, list[FormFile]]  # a request, and files to send with it


def read_files(part: str, paths: Sequence[str]) -> list[FormFile]:
    """Files as they are sent, decompressed.

    Raises:
        InputError: Standard input is given twice, or a damaged gzip file.
        OSError: One cannot be read.
    """
    if list(paths).count(files.STDIN) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    return [
        FormFile(part, files.shown(path).removesuffix(".gz"), files.read_bytes(path))
        for path in paths
    ]


def _judging() -> tuple[Option, ...]:
    """The options that say what becomes of judgements."""
    from sigtest.requests.people import Judging  # late: comparisons have none

    return options_of(Judging)


def _read_judgements(options: Chosen, request: Request) -> Submission:
    if not options.files:
        raise UsageError("which files? (see sigtest human --help)")
    return request, read_files("judgements", options.files)


def _read_scores(options: Chosen, request: Request) -> Submission:
    if options.evalset is not None:
        return _read_evalset(options, request)
    if not options.human or not options.scores:
        raise UsageError("--human and --scores, or --evalset? (see sigtest meta --help)")
    human = words_of(_judging(), options)
    if unread := _chosen(options, {name: f"--{name}" for name in ("lp", "gold", "metric")}):
        raise UsageError(f"what --evalset reads is said by {unread}; there is none, leave that out")
    metrics = _metrics(options.scores)
    people = read_files("judgements", options.human)
    for label in options.lower:
        metrics[choose(label, metrics, "lower", "metric")]["higher"] = False
    return request | ({"human": human} if human else {}) | {"metrics": metrics}, people


def _chosen(options: Chosen, flags: Mapping[str, str]) -> str:
    """Which of some options are."""
    return ", ".join(flag for name, flag in flags.items() if getattr(options, name))


def _metrics(labelled: Sequence[str]) -> dict[str, Request]:
    """The scores of each metric, in their order, read here: a form would name files by labels."""
    paths: dict[str, str] = {}
    for spelled in labelled:
        label, equals, path = spelled.partition("=")
        if not label or not equals or not path:
            raise InputError(f"--scores takes LABEL=FILE, not {spelled!r}.")
        if label in paths:
            raise InputError(
                f"--scores gives {label} both {files.shown(paths[label])} and "
                f"{files.shown(path)}; every metric needs its own label."
            )
        paths[label] = path
    from sigtest.files.judgements import read_scores

    tables = read_files("scores", [*paths.values()])
    return {
        label: read_scores(file.data, file.name) for label, file in zip(paths, tables, strict=True)
    }


def _read_evalset(options: Chosen, request: Request) -> Submission:
    """The EvalSet of a directory is read here; an archive is sent as it is."""
    from sigtest.files.folders import EvalSet
    from sigtest.meta_evaluation.question import with_evalset

    others = {name: f"--{name}" for name in ("human", "scores", "lower")}
    others |= {field.name: field.flag for field in _judging()}
    if unread := _chosen(options, others):
        raise UsageError(
            f"--evalset brings all scores, of which more is better; leave out {unread}"
        )
    request |= options.some(["gold"])
    if options.lp:
        request["lp"] = options.lp if len(options.lp) > 1 else options.lp[0]
    if options.metric:
        request["metrics"] = options.metric
    path = Path(options.evalset)
    if path.is_dir():
        return with_evalset(request, EvalSet.of_folder(path)), []
    return request, [FormFile("evalset", path.name, path.read_bytes())]


def _read_study(options: Chosen, request: Request) -> Submission:
    if not options.human:
        raise UsageError("which judgements? --human FILE (see sigtest accuracy --help)")
    from sigtest.accuracy_of_tests.compute import DECIDED

    body = files.read_comparison(options).as_json()
    request["comparison"] = {name: part for name, part in body.items() if name not in DECIDED}
    request["human"] = words_of(_judging(), options)
    return request, read_files("judgements", options.human)


def _read_pilot(options: Chosen, request: Request) -> Submission:
    """The metric that the plan is for is the one that the pilot measures."""
    if options.metrics and len(options.metrics) > 1:
        raise UsageError("a plan is for one metric; give --metric once (see sigtest plan --help)")
    return request | {"comparison": files.read_comparison(options).as_json()}, []


def _read_race(options: Chosen, request: Request) -> Submission:
    """Scores are read here, in the order of their rows; judgements are sent as they are."""
    if options.human and not options.follow:
        return request, read_files("judgements", options.human)
    if options.file is None:
        raise UsageError("which FILE of scores, or --human FILE? (see sigtest race --help)")
    if options.follow:
        return _followed(options.file, request), []
    return request | _raced(read_path(options.file, how=Joining(columns="systems"))), []


def _raced(found: Material) -> Request:
    """The scores of a file, as a race takes them."""
    from sigtest.race.compute import scores_in  # late: other commands have no race

    lower = any(own.higher_is_better is False for own in found.scores)
    request: Request = {"scores": scores_in(found), "metric": found.score_labels[0]}
    return request | ({"lower": True} if lower else {})


def _followed(path: str, request: Request) -> Request:
    """A race to its end, of rows that are still written; what they decide is said as they come."""
    kind, known, size = KINDS["sequential-comparisons"], set(), 0
    while True:
        rows = Path(path).read_bytes().rpartition(b"\n")[0]  # without one that is half written
        if len(rows) > size and b"\n" in rows:
            size, found = len(rows), read_file(rows, path, how=Joining(columns="systems"))
            asked = request | _raced(found)
            report = kind.compute(kind.parse(asked))
            for pair in report.pairs:
                if pair.decided and (pair.a, pair.b) not in known:
                    known.add((pair.a, pair.b))
                    better, other = (pair.a, pair.b) if pair.decided == "a" else (pair.b, pair.a)
                    said = printable(f"item {pair.since}: {better} is better than {other}")
                    sys.stderr.write(f"{said}\n")
            if report.over:
                return asked
        time.sleep(FOLLOWING)


READERS: dict[str, Callable[[Chosen, Request], Submission]] = {
    "human": _read_judgements,
    "meta": _read_scores,
    "accuracy": _read_study,
    "plan": _read_pilot,
    "race": _read_race,
}


# what there is


def metrics(_: Chosen) -> None:
    """List what can be asked for, read off the registries."""
    sys.stdout.write(listing())
    sys.stdout.flush()


def listing() -> str:
    """Metrics with their options and defaults, tests, corrections, formats, pictures."""
    lines = ["metrics (--metric NAME:OPTION=VALUE,...)"]
    for name, kind in METRICS.items():
        lines += _entry(name, _summary(kind))
        lines += _options(kind)
    lines += ["", "significance tests (--test NAME)"]
    for name, test in TESTS.items():
        trust = "" if test.calibrated else " Not calibrated."
        lines += _entry(name, f"{_summary(type(test))}{trust}")
        lines.append(f"    Null hypothesis: {test.null}.")
    lines += ["", "corrections for multiple comparisons (--correction NAME)"]
    for name, correction in CORRECTIONS.items():
        alone = f" With {correction.joint} only." if correction.joint else ""
        lines += _entry(name, f"{_summary(correction.adjust)}{alone}")
    lines += ["", "formats (--format NAME)"]
    for entry in FORMATS.values():
        lines += _entry(entry.name, f"For {entry.title}.")
    lines += ["", "pictures (sigtest plot NAME, or all of them with --plots DIR)"]
    for asked in KINDS.values():
        for picture in asked.pictures.values():
            of = f"sigtest {asked.command}" if asked.command else f"a {asked.name}"
            lines += _entry(picture.name, f"{picture.title} (of {of}).")
    return "\n".join(lines) + "\n"


def _entry(name: str, summary: str) -> list[str]:
    return [f"  {name}", f"    {summary}"]


def _summary(documented: object) -> str:
    return (documented.__doc__ or "").strip().partition("\n")[0]


def _options(kind: type[Metric]) -> Iterable[str]:
    """Each with its default, what it is for, and what it may be."""
    words, choices = described(kind), kind.choices()
    for field in fields(kind):
        if field.default is not MISSING:
            default = field.default
            value = str(default).lower() if isinstance(default, bool) else str(default)
            yield f"      {field.name}={value}"
            about = [words[field.name]] if field.name in words else []
            if field.name in choices:
                about.append(f"One of {', '.join(choices[field.name])}.")
            yield from textwrap.wrap(" ".join(about), 90, initial_indent=" " * 8,
                                     subsequent_indent=" " * 8)  # fmt: skip
