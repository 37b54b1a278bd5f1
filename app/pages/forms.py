"""The form of the page: files of any name and choices become the form that the service reads.

A file's part follows from its name where it was not put into one: nothing in plain text says
whether it is a reference or an output. A folder of a known format is read as an archive of it is.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, get_origin

from starlette.datastructures import FormData, UploadFile

from app.requests.bodies import file_of, files_of, parse_json, plain, text_of
from app.requests.questions import Sent, read_form
from app.settings import Settings
from sigtest.comparison.comparison import ComparisonEntry
from sigtest.data.choices import choose
from sigtest.data.names import is_reference
from sigtest.data.testset import System
from sigtest.errors import InputError, LimitError, UnavailableError
from sigtest.files.folders import format_of_tree
from sigtest.files.tree import SMALL, Bounds, Meter, Tree, is_hidden
from sigtest.kinds import KINDS, FormFile, Kind, Question, QuestionReference
from sigtest.kinds.comparisons import Comparisons
from sigtest.metrics import METRICS, Metric
from sigtest.metrics.scores import Supplied
from sigtest.requests.model import Request
from sigtest.requests.options import Option, options, spelled
from sigtest.requests.recipe import OPTIONS
from workers.questions import Record

EXAMPLE = Path(__file__).parents[2] / "examples" / "shared-task"
EXAMPLE_REQUEST = {"metrics": ["bleu", "chrf", "ter"], "unit": "document"}
ANYTHING = "files"
PARTS = ("references", "systems", "scores", "documents", "labels", "source", "archive")
BEGINNINGS = {
    "documents": ("documents", "docids"),
    "labels": ("labels",),
    "source": ("source", "src.", "src-", "src_"),
}
# whose content says what they are, or why they are not read; the service calls this part an archive
TELLING = (".zip", ".tar", ".tar.gz", ".tgz", ".xml", ".sgm", ".sgml", ".jsonl", ".json", ".csv",
           ".tsv", ".eval", ".seg.score", ".xlsx", ".ods", ".docx", ".odt", ".pdf", ".html",
           )  # fmt: skip
PASTED = ("reference", "first", "second")  # text areas
LISTS = ("metrics", "tests")
USUAL = ["bleu", "chrf"]  # metrics of texts; scores alone have their own
COMPARED = tuple(
    own
    for own in OPTIONS
    if own.name in ("alternative", "correction", "alpha", "resamples", "seed")
)
WORDS = ("alternative", "correction", "unit", "resamples", "alpha", "seed", "builtin", "missing")


def part_of(name: str) -> str:
    """Which part of the service's form a file is meant for.

    Args:
        name: Its name, perhaps with folders.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    base = path.name.lower()
    named = "references" if is_reference(base) else None
    known = next((part for part, own in BEGINNINGS.items() if base.startswith(own)), named)
    if path.parent.name.lower() == "systems":
        return "systems"
    if known is None and base.removesuffix(".gz").endswith(TELLING):
        return "archive"
    return known or "systems"


def service_form(form: FormData) -> FormData:
    """The same as POST takes it: files under their parts, choices as JSON.

    Raises:
        InputError: Nothing was given; numbers that are none; systems without a reference.
    """
    entries: list[tuple[str, UploadFile | str]] = []
    for part in PARTS:
        entries += ((part, _named(file)) for file in files_of(form, part))
    entries += recognised_parts(form)
    entries += _pasted(form)
    choices = choices_of(form)
    if choices.get("metrics") == USUAL:
        del choices["metrics"]
    if not entries and "builtin" not in choices:
        raise InputError(
            "No files yet: give a reference and the outputs of two systems, or try the example.",
            field="files",
        )
    given = {part for part, _ in entries}
    if given and not given & {"references", "archive", "scores"} and "builtin" not in choices:
        names = ", ".join(file.filename or "" for _, file in entries if not isinstance(file, str))
        raise InputError(
            f"None of these files is a reference: {names[:300]}. Call one reference..., or choose "
            "it under Reference.",
            field="references",
        )
    return FormData([*entries, ("request", json.dumps(choices))])


def recognised_parts(form: FormData) -> list[tuple[str, UploadFile]]:
    """The files that were not put into a part, under that which follows from their names."""
    folders: dict[str, list[tuple[PurePosixPath, UploadFile]]] = {}
    for file in files_of(form, ANYTHING):
        path = _path(file)
        top = path.parts[0] if len(path.parts) > 1 else ""
        if not is_hidden(path):
            folders.setdefault(top, []).append((path, file))
    parts = []
    for top, inside in folders.items():
        tree = Tree(dict.fromkeys((path for path, _ in inside), bytes), Meter("folder", Bounds()))
        # of a format that says what each file is by its place
        if top and not format_of_tree(tree).general:
            held = io.BytesIO()
            with zipfile.ZipFile(held, "w") as archive:
                for path, file in inside:
                    archive.writestr(str(path.relative_to(top)), file.file.read())
            parts.append(("archive", file_of(top, held.getvalue())))
        else:
            parts += [(part_of(str(path)), _named(file)) for path, file in inside]
    return parts


def choices_of(form: FormData) -> dict[str, Any]:
    """The fields of a JSON request that the form's choices mean; empty ones have their defaults."""
    choices: dict[str, Any] = {}
    for name in LISTS:
        if chosen := [value for value in form.getlist(name) if isinstance(value, str) and value]:
            choices[name] = chosen
    for name in WORDS:
        if value := text_of(form, name).strip():
            choices[name] = _value(name, value)
    choices |= {name: value for name, value in written(form).items() if value}
    if form.get("stratified"):
        choices["stratified"] = True
    if baseline := text_of(form, "baseline").strip():
        choices["pairs"] = {"baseline": baseline}
    if tokenizer := text_of(form, "tokenize"):  # an option of BLEU
        choices["metrics"] = [
            f"bleu:tokenize={tokenizer}" if metric == "bleu" else metric
            for metric in choices.get("metrics", ["bleu"])
        ]
    return choices


def written(form: FormData) -> dict[str, Any]:
    """Title and tags as the form's fields say them, as far as it has these."""
    said: dict[str, Any] = {}
    title, tags = form.get("title"), form.get("tags")
    if isinstance(title, str):
        said["title"] = title
    if isinstance(tags, str):
        said["tags"] = [tag.strip() for tag in tags.split(",") if tag.strip()]
    return said


def _value(name: str, text: str) -> object:
    """A number where one belongs; other words are left for the recipe to refuse."""
    if name == "alpha":
        return spelled(text, float)
    if name in ("seed", "resamples"):
        found = spelled(text.replace(",", "").replace(" ", ""), int)
        return found if isinstance(found, int) else text
    return text


def _pasted(form: FormData) -> Iterator[tuple[str, UploadFile]]:
    """Texts of text areas, as files."""
    for area in PASTED:
        text = text_of(form, f"{area}-text")
        if not text.strip():
            continue
        part = "references" if area == "reference" else "systems"
        called = text_of(form, f"{area}-name").strip() or area
        data = text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
        yield part, file_of(f"{called}.txt", data)


def _path(file: UploadFile) -> PurePosixPath:
    """Its name, perhaps with the folders that a browser names."""
    return PurePosixPath(plain(file.filename).replace("\\", "/"))


def _named(file: UploadFile) -> UploadFile:
    """The file without the folders that a browser names."""
    return UploadFile(file.file, size=file.size, filename=_path(file).name, headers=file.headers)


def with_request(files: Iterable[tuple[str, UploadFile]], request: Mapping[str, Any]) -> FormData:
    """A form of the service: files under their parts, and choices."""
    entries: list[tuple[str, UploadFile | str]] = [*files]
    return FormData([*entries, ("request", json.dumps(request))])


def measurable() -> list[str]:
    """Names of the metrics that need nothing but texts, and that can run here."""
    return [
        name
        for name, metric in METRICS.items()
        if metric.prose and not issubclass(metric, Supplied) and _installed(metric)
    ]


def _installed(metric: type[Metric]) -> bool:
    try:
        metric()
    except UnavailableError:  # METEOR without its packages
        return False
    return True


LABELS = {"a": "first system", "b": "second system"}
PLAIN = ("TEXT", "NAME")  # what to write is clear without a pattern


@dataclass(frozen=True)
class Control:
    """One thing to be chosen.

    Attributes:
        name: What the form calls it: the way to it in a request.
        label: Above it.
        about: One sentence.
        look: `select`, `box`, `boxes`, `text`, `lines`, or `ends`: two numbers.
        options: To choose from.
        hint: What stands in an empty one.
        digits: Whether a number belongs there.
    """

    name: str
    label: str
    about: str
    look: str
    options: tuple[str, ...] = ()
    hint: str = ""
    digits: bool = False


@dataclass(frozen=True)
class FinishedQuestions:
    """A finished question that may be named instead of bringing what it says.

    Attributes:
        name: What the form calls it.
        kind: What it is.
        records: Those of the caller, newest first.
    """

    name: str
    kind: str
    records: tuple[Record, ...]


def controls(fields: Iterable[Option], inside: str = "") -> tuple[Control, ...]:
    """What there is to choose; an object's own fields stand in its place.

    Args:
        fields: Of a request, or of an object in it.
        inside: Name of that object.
    """
    made: list[Control] = []
    for field in fields:
        own = _control(field, inside)
        if not _is_object(field):
            made.append(own)
            continue
        first, *rest = (
            replace(inner, label=f"{own.label}: {inner.label.lower()}")
            for inner in controls(options(field.kind), own.name)
        )
        hint = "none" if first.look == "select" else first.hint
        made += [replace(first, about=f"{own.about} {first.about}", hint=hint), *rest]
    return tuple(made)


def _is_object(field: Option) -> bool:
    return isinstance(field.kind, type) and issubclass(field.kind, Request)


def _control(field: Option, inside: str) -> Control:
    about = f"{field.about[:1].upper()}{field.about[1:]}."
    usual = field.default
    words = str(usual) if isinstance(usual, str | int | float) and usual is not False else ""
    look = "text"
    if field.kind is bool:
        look = "box"
    elif field.known:
        look = "boxes" if field.several else "select"
    elif get_origin(field.kind) is tuple:
        look = "ends"
    elif field.repeatable:
        look, about = "lines", f"{about} One a line."
    plain = field.metavar in PLAIN
    label = LABELS.get(field.name, field.name.replace("_", " "))
    return Control(
        name=f"{inside}.{field.name}" if inside else field.name,
        label=f"{label[:1].upper()}{label[1:]}",
        about=about,
        look=look,
        options=tuple(field.known),
        hint=words or (field.metavar if look in {"text", "lines"} and not plain else ""),
        digits=field.kind in (int, float),
    )


def references(kind: Kind[Any]) -> Iterator[tuple[str, QuestionReference]]:
    """Where a form may name finished questions; those in the sets of a request stay to JSON."""
    for reference in kind.named:
        if "*" not in reference.place:
            yield ".".join(reference.place), reference


def sent(form: FormData, kind: Kind[Any], settings: Settings) -> Sent:
    """The request and the files that a form of the page brings.

    Raises:
        SigtestError: Nothing was brought, or something that cannot be read.
    """
    if isinstance(kind, Comparisons):
        return read_form(service_form(form), kind.path, settings, USUAL)
    request = request_of(form, kind)
    parts = [
        (part, file)
        for part in (*kind.parts, *(PARTS if kind.compares else ()))
        for file in files_of(form, part)
    ]
    if kind.compares:
        parts += recognised_parts(form)
    if not parts and not any(form.get(name) for name, _ in references(kind)):
        raise InputError(
            "No files yet: choose them here, or try the example.",
            field=next(iter(kind.parts), "files"),
        )
    return read_form(with_request(parts, request), kind.path, settings)


def example_of(kind: Kind[Any], name: str) -> Sent:
    """One of the kind's examples.

    Raises:
        RecipeError: It has no such.
    """
    examples = kind.examples
    return Sent(examples[choose(name, examples, "example", "example")]["value"], ())


def request_of(form: FormData, kind: Kind[Any]) -> dict[str, Any]:
    """What the choices of a form mean, as a request has it; empty ones have their defaults."""
    request = _choices(form, kind.fields, "") | written(form)
    for inside, fields in kind.inside.items():
        if chosen := _choices(form, fields, f"{inside}."):
            request[inside] = chosen
    if kind.compares and (chosen := choices_of(_within(form, kind.compares))):
        request[kind.compares] = chosen
    for name, reference in references(kind):
        if question_id := text_of(form, name):
            *way, last = reference.place
            inner = request
            for step in way:
                inner = inner.setdefault(step, {})
            inner[last] = question_id
    return request


def _within(form: FormData, inside: str) -> FormData:
    """The entries of a form that are about an object of the request, under their own names."""
    start = f"{inside}."
    entries = form.multi_items()
    return FormData([(k.removeprefix(start), v) for k, v in entries if k.startswith(start)])


def _choices(form: FormData, fields: Sequence[Option], start: str) -> dict[str, Any]:
    """What was chosen of these fields, as the shell's words would be read."""
    chosen: dict[str, Any] = {}
    for field in fields:
        name = f"{start}{field.name}"
        if _is_object(field):
            if inner := _choices(form, options(field.kind), f"{name}."):
                chosen[field.name] = inner
            continue
        entries = [entry for entry in form.getlist(name) if isinstance(entry, str)]
        words = [word for entry in entries for word in _words(entry, field)]
        if get_origin(field.kind) is tuple:
            words = [",".join(words)] if words else []
        if words:
            chosen[field.name] = True if field.kind is bool else field.read(words)
    return chosen


def _words(entry: str, field: Option) -> list[str]:
    """One a line; numbers also side by side."""
    numbers = field.several and field.kind is float
    parts = entry.replace(",", " ").split() if numbers else entry.splitlines()
    return [part.strip() for part in parts if part.strip()]


DAMAGED = "What was recognised came back damaged; give the files again."
QUOTED = 3  # segments that are quoted


@dataclass(frozen=True)
class SystemSummary:
    """What one system brings.

    Attributes:
        name: Its name.
        outputs: How many outputs of training runs; 0 where it brings scores alone.
        characters: Mean length of a line.
        scores: Labels of its scores.
        lines: Its first lines.
    """

    name: str
    outputs: int
    characters: float
    scores: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Recognised:
    """One test set and its systems, as people should check them.

    Attributes:
        name: Of the test set, where there are several.
        segments: How many.
        documents: How many, if they are known.
        labels: How many different ones, if they are known.
        references: First lines of each reference set.
        systems: In order.
        oddities: Sentences of the health checks.
    """

    name: str
    segments: int
    documents: int | None
    labels: int | None
    references: tuple[tuple[str, ...], ...]
    systems: tuple[SystemSummary, ...]
    oddities: tuple[str, ...]


def recognised(kind: Kind[Any], question: Question) -> tuple[Recognised, ...]:
    """What a comparison was read as, or the one that a question of another kind makes."""
    comparison = kind.comparison(question)
    if comparison is None:
        return ()
    names = comparison.names or ("",) * len(comparison.entries)
    parts = zip(names, comparison.entries, comparison.plan.parts, strict=True)
    return tuple(_of_entry(name, entry, part.notes) for name, entry, part in parts)


def packed(sent: Sent) -> str:
    """What was brought as text that a form can carry back."""
    files = [[own.part, own.name, base64.b64encode(own.data).decode()] for own in sent.files]
    body = json.dumps([sent.body, files], ensure_ascii=False)
    return base64.b85encode(zlib.compress(body.encode("utf-8", "surrogatepass"), 6)).decode()


def unpacked(text: str, settings: Settings) -> Sent:
    """What `packed` wrote, within the limits of an upload.

    Args:
        text: As a form brought it back.
        settings: How large a body may be, and how far what is packed may unpack.

    Raises:
        InputError: It is damaged.
        LimitError: It is larger than what may be uploaded.
    """
    most = min(settings.max_body_bytes * 4 // 3, settings.max_archive_ratio * len(text))
    try:
        stream = zlib.decompressobj()
        data = stream.decompress(base64.b85decode(text), max(most, SMALL))
        if stream.unconsumed_tail:
            raise LimitError(
                f"What was recognised unpacks to more than {most:,} bytes, the most that this "
                "service takes (max_body_bytes, max_archive_ratio); give fewer files.",
                limit="max_body_bytes",
            )
        if not stream.eof:
            raise InputError(DAMAGED)
        request = parse_json(b'{"sent": %b}' % data, "kept")
        body, files = request["sent"]
        brought = [
            FormFile(part, name, base64.b64decode(own, validate=True)) for part, name, own in files
        ]
    except (ValueError, TypeError, AttributeError, zlib.error) as error:
        raise InputError(DAMAGED) from error
    if not isinstance(body, dict):
        raise InputError(DAMAGED)
    return Sent(body, brought)


def _of_entry(name: str, entry: ComparisonEntry, oddities: tuple[str, ...]) -> Recognised:
    testset = entry.testset
    return Recognised(
        name=name,
        segments=testset.segments,
        documents=len(set(testset.documents)) if testset.documents is not None else None,
        labels=len(set(testset.labels)) if testset.labels is not None else None,
        references=tuple(
            tuple(line or "" for line in text.lines[:QUOTED]) for text in testset.references
        ),
        systems=tuple(map(_summary, entry.systems)),
        oddities=oddities,
    )


def _summary(system: System) -> SystemSummary:
    text = system.runs[0].hypotheses
    lines = tuple(line or "" for line in text.lines) if text is not None else ()
    return SystemSummary(
        name=system.name,
        outputs=len(system.runs) if lines else 0,
        characters=sum(map(len, lines)) / len(lines) if lines else 0.0,
        scores=tuple(system.scores),
        lines=lines[:QUOTED],
    )


def repacked(form: FormData, path: str, settings: Settings) -> str:
    """What the form of a page brings, as text that another form carries back."""
    for _, part in form.multi_items():
        if not isinstance(part, str):
            part.file.seek(0)
    return packed(read(form, path, settings))


def read(form: FormData, path: str, settings: Settings) -> Sent:
    """What the form of a page brings: files and choices, an example, or what was looked at."""
    kind = KINDS[path]
    kept, example = form.get("kept"), form.get("example")
    if isinstance(kept, str):
        return unpacked(kept, settings)
    if isinstance(example, str) and kind is KINDS["comparisons"]:
        return read_form(_example(), path, settings)
    if isinstance(example, str):
        return example_of(kind, example)
    return sent(form, kind, settings)


def _example() -> FormData:
    if not EXAMPLE.is_dir():
        raise InputError("The example is not installed here.")
    files = [
        ("references", EXAMPLE / "reference.en"),
        ("documents", EXAMPLE / "documents.txt"),
        *(("systems", path) for path in sorted((EXAMPLE / "systems").iterdir())),
    ]
    brought = [(part, file_of(path.name, path.read_bytes())) for part, path in files]
    return with_request(brought, EXAMPLE_REQUEST)
