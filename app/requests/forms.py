"""The forms of pages: files of any name, and choices, become requests.

A file's part follows from its name where it was not put into one: nothing in plain text says
whether it is a reference or an output. A folder of a known format is read as an archive of it is.
"""

import base64
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar, get_origin

from fastapi import Depends
from fastapi import Request as HTTPRequest

from app.requests.bodies import (
    JSON,
    Body,
    Files,
    Form,
    body_of,
    bounds_of,
    files_of,
    parse_json,
    text_of,
    written,
)
from app.settings import Settings
from sigtest.data.names import choose, is_reference
from sigtest.errors import InputError
from sigtest.files.folders import format_of_tree
from sigtest.files.gathering import Upload
from sigtest.files.tree import Bounds, Meter, Tree, is_hidden
from sigtest.kinds import FormFile, Kind, QuestionReference
from sigtest.kinds.comparisons import Comparisons
from sigtest.requests.model import Option, Request, options
from sigtest.requests.notes import PARTS
from sigtest.requests.recipe import OPTIONS

EXAMPLE = Path(__file__).parents[2] / "examples" / "shared-task"
EXAMPLE_REQUEST = {"metrics": ["bleu", "chrf", "ter"], "unit": "document"}
ANYTHING = "files"
TEXTS = ("references", "systems", "scores", "documents", "labels", "source", "archive")
BEGINNINGS = {
    "documents": ("documents", "docids"),
    "labels": ("labels",),
    "source": ("source", "src.", "src-", "src_"),
}
# whose content says what they are, or why they are not read; the service calls this part an archive
TELLING = (".zip", ".tar", ".tar.gz", ".tgz", ".xml", ".sgm", ".sgml", ".jsonl", ".json", ".csv",
           ".tsv", ".eval", ".seg.score", ".xlsx", ".ods", ".docx", ".odt", ".pdf", ".html",
           )  # fmt: skip
PASTED = {"reference": "references", "first": "systems", "second": "systems"}  # text areas
USUAL = ["bleu", "chrf"]  # metrics of texts; scores alone have their own
GROUPED = re.compile(r"[0-9]{1,3}((,[0-9]{3})+|( [0-9]{3})+)")  # 1,000 or 1 000

Parts = dict[str, list[Upload]]


@dataclass(frozen=True)
class RawRequest:
    """A request before it is checked.

    Attributes:
        body: As JSON has it, with the texts of files where the kind compares.
        files: That the kind reads itself.
    """

    body: Mapping[str, Any]
    files: Sequence[FormFile] = ()


@dataclass(frozen=True)
class PageForm:
    """What the form of a page says.

    Attributes:
        request: Its choices, as JSON has them.
        files: By part.
        usual: Metrics of a comparison of texts where none is chosen, instead of those inferred.
    """

    request: dict[str, Any]
    files: Files
    usual: Sequence[str] = ()


def texts_of(kind: Kind[Any]) -> tuple[str, ...]:
    """Parts of a form that bring texts to compare, where a kind does."""
    return TEXTS if isinstance(kind, Comparisons) or kind.compares else ()


def page_form(form: Form, kind: Kind[Any]) -> PageForm | RawRequest:
    """The form of a page: files and choices, an example, or what was looked at.

    Raises:
        SigtestError: Nothing was brought, or something that cannot be read.
    """
    example = form.get("example")
    if isinstance(example, str) and isinstance(kind, Comparisons):
        return _example()
    if isinstance(example, str):
        name = choose(example, kind.examples, "example", "example")
        return RawRequest(kind.examples[name]["value"])
    comparing, texts = isinstance(kind, Comparisons), texts_of(kind)
    request = choices_of(form) | written(form) if comparing else request_of(form, kind)
    parts = {part: files_of(form, part) for part in (*kind.parts, *texts)}
    for part, file in (*_by_name(form), *_pasted(form)) if texts else ():
        parts[part].append(file)
    elsewhere = ("builtin", *(name for name, _ in references(kind)))
    if not any(parts.values()) and not any(map(form.get, elsewhere)):
        raise InputError(
            "No files yet: choose them here, or try the example.",
            field=next(iter(kind.parts), "files"),
        )
    if comparing and request.get("metrics") == USUAL:
        del request["metrics"]
    return PageForm(request, parts, USUAL if comparing else ())


def _example() -> PageForm:
    if not EXAMPLE.is_dir():
        raise InputError("The example is not installed here.")
    paths = {
        "references": [EXAMPLE / "reference.en"],
        "documents": [EXAMPLE / "documents.txt"],
        "systems": sorted((EXAMPLE / "systems").iterdir()),
    }
    files = {part: [Upload(p.name, p.read_bytes()) for p in own] for part, own in paths.items()}
    return PageForm({**EXAMPLE_REQUEST}, files)


# files


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


def _by_name(form: Form) -> list[tuple[str, Upload]]:
    """The files that were not put into a part, under that which follows from their names."""
    folders: dict[str, list[tuple[PurePosixPath, Upload]]] = {}
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
                    archive.writestr(str(path.relative_to(top)), file.data)
            parts.append(("archive", Upload(top, held.getvalue())))
        else:
            parts += [(part_of(str(p)), replace(file, name=p.name)) for p, file in inside]
    return parts


def _pasted(form: Form) -> Iterator[tuple[str, Upload]]:
    """Texts of text areas, as files."""
    for area, part in PASTED.items():
        text = form.get(f"{area}-text")
        if isinstance(text, str) and text.strip():
            data = text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
            yield part, Upload(f"{text_of(form, f'{area}-name') or area}.txt", data)


def _path(file: Upload) -> PurePosixPath:
    """Its name, perhaps with the folders that a browser names."""
    return PurePosixPath(file.name.replace("\\", "/"))


# choices


def choices_of(form: Form, start: str = "") -> dict[str, Any]:
    """What is chosen of a comparison or a test set; what is empty has its default.

    Args:
        form: As it was sent.
        start: What the names of its fields begin with.
    """
    choices = chosen_of(form, OPTIONS, start)
    if "baseline" in choices:
        choices["pairs"] = {"baseline": choices.pop("baseline")}
    for name in ("builtin", "missing", "select", "columns"):
        if value := text_of(form, start + name):
            choices[name] = value
    if tokenizer := text_of(form, f"{start}tokenize"):  # an option of BLEU
        choices["metrics"] = [
            f"bleu:tokenize={tokenizer}" if metric == "bleu" else metric
            for metric in choices.get("metrics", ["bleu"])
        ]
    return choices


def references(kind: Kind[Any]) -> Iterator[tuple[str, QuestionReference]]:
    """Where a form may name finished questions; those in the sets of a request stay to JSON."""
    for reference in kind.named:
        if "*" not in reference.place:
            yield ".".join(reference.place), reference


def request_of(form: Form, kind: Kind[Any]) -> dict[str, Any]:
    """What the choices of a form mean, as a request has it; empty ones have their defaults."""
    reading = {name: text for name in kind.reading if (text := text_of(form, name))}
    request = chosen_of(form, kind.fields, "") | written(form) | reading
    for inside, fields in kind.inside.items():
        if chosen := chosen_of(form, fields, f"{inside}."):
            request[inside] = chosen
    if kind.compares and (chosen := choices_of(form, f"{kind.compares}.")):
        request[kind.compares] = chosen
    for name, reference in references(kind):
        if question_id := text_of(form, name):
            *way, last = reference.place
            inner = request
            for step in way:
                inner = inner.setdefault(step, {})
            inner[last] = question_id
    return request


def is_object(field: Option) -> bool:
    """Whether a field holds an object, whose own fields stand in its place."""
    return isinstance(field.kind, type) and issubclass(field.kind, Request)


def chosen_of(form: Form, fields: Sequence[Option], start: str) -> dict[str, Any]:
    """What was chosen of these fields, as the shell's words would be read."""
    chosen: dict[str, Any] = {}
    for field in fields:
        name = f"{start}{field.name}"
        if is_object(field):
            if inner := chosen_of(form, options(field.kind), f"{name}."):
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
    """One a line; numbers also side by side, whole ones with marks between groups of digits."""
    if field.several and field.kind is float:
        return entry.replace(",", " ").split()
    if field.metavar == "N" and GROUPED.fullmatch(entry.strip()):
        return [entry.replace(",", "").replace(" ", "")]
    return [part.strip() for part in entry.splitlines() if part.strip()]


M = TypeVar("M", bound=Request)


def reader(model: type[M], besides: Callable[[Form], dict[str, Any]] | None = None) -> Any:
    """A dependency: a model as JSON, or as the form of a page says it.

    Args:
        model: What the body says.
        besides: What the form says of fields that are no plain controls.
    """

    async def read(request: HTTPRequest) -> M:
        async with body_of(request, JSON) as (body, work), work:
            return await work.run(_modelled, model, besides, body)

    return Depends(read)


def _modelled(model: type[M], besides: Callable[[Form], dict[str, Any]] | None, body: Body) -> M:
    if isinstance(body, bytes):
        return model.of(parse_json(body, "body"))
    own = besides(body) if besides else {}
    controls = options(model, (*PARTS, *own))
    return model.of(chosen_of(body, controls, "") | written(body) | own)


# what was looked at


def packed(raw: RawRequest) -> str:
    """What was brought as text that a form can carry back."""
    files = [[own.part, own.name, base64.b64encode(own.data).decode()] for own in raw.files]
    body = json.dumps([raw.body, files], ensure_ascii=False)
    return base64.b85encode(gzip.compress(body.encode("utf-8", "surrogatepass"), 6)).decode()


def unpacked(text: str, settings: Settings) -> RawRequest:
    """What `packed` wrote, within the limits of an upload.

    Args:
        text: As a form brought it back.
        settings: How far what is packed may unpack.

    Raises:
        InputError: It is damaged.
        LimitError: It is larger than what may be uploaded.
    """
    meter = Meter("What was recognised", bounds_of(settings), len(text))
    try:
        data = meter.unzipped(base64.b85decode(text), meter.name)
        body, files = parse_json(b'{"sent": %b}' % data, "kept")["sent"]
        held = [FormFile(part, name, base64.b64decode(own, validate=True))
                for part, name, own in files]  # fmt: skip
        return RawRequest({**body}, held)
    except (InputError, ValueError, TypeError) as error:
        raise InputError("What was recognised came back damaged; give it again.") from error
