"""The form of the page: files of any name and choices become the form that the service reads.

A file's part follows from its name where it was not put into one: nothing in plain text says
whether it is a reference or an output. A folder of a known format is read as an archive of it is.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from starlette.datastructures import FormData, UploadFile

from app.requests.form import file_of, files_of, plain, text_of
from app.requests.json import parse_json
from sigtest.data.names import is_reference
from sigtest.errors import InputError, UnavailableError
from sigtest.files.folders import format_of_tree
from sigtest.files.tree import Bounds, Meter, Tree, is_hidden
from sigtest.metrics import METRICS, Metric
from sigtest.metrics.scores import Supplied
from sigtest.requests.options import spelled

ANYTHING = "files"
FURTHER = "request"  # the text area with whatever else a request may say
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
        if top and _belong_together(path for path, _ in inside):
            parts.append(("archive", _packed(top, inside)))
        else:
            parts += [(part_of(str(path)), _named(file)) for path, file in inside]
    return parts


def choices_of(form: FormData) -> dict[str, Any]:
    """The fields of a JSON request that the form's choices mean; empty ones have their defaults."""
    choices = further_of(form)
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


def further_of(form: FormData) -> dict[str, Any]:
    """Whatever else a request may say, as the form's text area has it.

    Raises:
        InputError: It is no JSON object.
    """
    further = text_of(form, FURTHER)
    return parse_json(further.encode(), FURTHER) if further.strip() else {}


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


def _belong_together(paths: Iterable[PurePosixPath]) -> bool:
    """Whether the files of a folder are of a format that says what each is by its place."""
    tree = Tree(dict.fromkeys(paths, bytes), Meter("folder", Bounds()))
    return not format_of_tree(tree).general


def _packed(top: str, inside: Iterable[tuple[PurePosixPath, UploadFile]]) -> UploadFile:
    """A folder as an archive."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path, file in inside:
            archive.writestr(str(path.relative_to(top)), file.file.read())
    return file_of(top, held.getvalue())


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
