"""The JSONL of WMT25's general task: test set, outputs, automatic scores; a row is a document.

Segments are paragraphs, which blank lines separate. Their ids say how many a document has, so that
documents cut differently share none: `en-cs_CZ_#_news_#_name 2/5`.
"""

from __future__ import annotations

from dataclasses import replace

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File, Placed, Record
from sigtest.data.imports.formats.cells import number
from sigtest.data.imports.material import Material
from sigtest.errors import InputError

SEPARATOR = "_#_"
SPEECH = "vid_"  # before names of speech documents, except among the scores
PARTS = 3  # of a document's id: languages, domain, name


def sniff(file: File) -> bool:
    """A test set, outputs, or automatic scores."""
    return file.has_records and (
        _is_testset(file.first) or _is_output(file.first) or _is_scores(file.first)
    )


def read(file: File) -> Material:
    """Read one file; it names the system, as it does for automatic scores.

    Raises:
        InputError: A row that lacks what others have, documents with unequal paragraphs.
    """
    assembly = Assembly(file.name)
    for row in file.records():
        if _is_testset(file.first):
            _add_document(assembly, row, file)
        elif _is_output(file.first):
            _add_output(assembly, row, file)
        else:
            _add_scores(assembly, row, file)
    return _with_documents(assembly.material())


def _with_documents(material: Material) -> Material:
    """Languages, domain and document, which the ids say."""
    documents = tuple(name.rpartition(" ")[0] for name in material.ids or ())
    parts = [document.split(SEPARATOR) for document in documents]
    whole = all(len(part) == PARTS for part in parts)
    return replace(
        material,
        documents=documents,
        testsets=tuple(part[0] for part in parts) if whole else None,
        labels=tuple(part[1] for part in parts) if whole else None,
    )


def _is_testset(record: Record) -> bool:
    return {"doc_id", "src_text"} <= set(record) and "tgt_text" not in record  # people's scores


def _is_output(record: Record) -> bool:
    return {"doc_id", "hypothesis"} <= set(record) and SEPARATOR in str(record["doc_id"])


def _is_scores(record: Record) -> bool:
    return {"language_pair", "document_id", "metric_scores"} <= set(record)


def _add_document(assembly: Assembly, row: Placed, file: File) -> None:
    document = _text(row, "doc_id", file)
    sources = _paragraphs(_text(row, "src_text", file))
    texts = {"source": sources}
    references = row.record.get("refs")
    for name, entry in (references if isinstance(references, dict) else {}).items():
        if isinstance(entry, dict) and isinstance(text := entry.get("ref"), str):
            texts[f"reference {name}"] = _paragraphs(text)
    for column, paragraphs in texts.items():
        if len(paragraphs) != len(sources):
            raise InputError(
                f"{file.name}, {row.place}: the {column} of {document[:80]!a} has "
                f"{len(paragraphs)} paragraphs, its source {len(sources)}."
            )
        for i, paragraph in enumerate(paragraphs):
            place = assembly.place_of(_id(document, i, len(paragraphs)), row.place)
            assembly.about(place, column, paragraph, row.place)


def _add_output(assembly: Assembly, row: Placed, file: File) -> None:
    document = _text(row, "doc_id", file)
    paragraphs = _paragraphs(_text(row, "hypothesis", file))
    for i, paragraph in enumerate(paragraphs):
        place = assembly.place_of(_id(document, i, len(paragraphs)), row.place)
        assembly.hypothesis(place, file.stem, ONLY_RUN, paragraph, row.place)


def _add_scores(assembly: Assembly, row: Placed, file: File) -> None:
    parts = [_text(row, name, file) for name in ("language_pair", "domain", "document_id")]
    document = SEPARATOR.join(parts)
    metrics = row.record.get("metric_scores")
    if not isinstance(metrics, dict):
        raise InputError(f"{file.name}, {row.place}: metric_scores is no object.")
    counts = {name: len(listed) for name, listed in metrics.items() if isinstance(listed, list)}
    if len(counts) < len(metrics) or len(set(counts.values())) > 1:
        raise InputError(
            f"{file.name}, {row.place}: every metric needs a list with one number a paragraph; "
            f"they have {counts}."
        )
    size = max(counts.values(), default=0)
    places = [assembly.place_of(_id(document, i, size), row.place) for i in range(size)]
    for metric, listed in metrics.items():
        where = f"{file.name}, {row.place}, {metric}"
        group = (file.stem, metric, ONLY_RUN)
        for place, score in zip(places, listed, strict=True):
            value = number(score, where)
            assembly.score(place, group, value, row.place, higher=True)  # MetricX is negated


def _id(document: str, i: int, count: int) -> str:
    """The id of a paragraph, the same whichever of the files names its document."""
    parts = document.split(SEPARATOR)
    name = SEPARATOR.join([*parts[:-1], parts[-1].removeprefix(SPEECH)])
    return f"{name} {i + 1}/{count}"


def _paragraphs(text: str) -> list[str]:
    """Paragraphs as lines; breaks inside them become blanks."""
    return [part.replace("\n", " ").strip() for part in text.split("\n\n")]


def _text(row: Placed, name: str, file: File) -> str:
    value = row.record.get(name)
    if not isinstance(value, str):
        raise InputError(f"{file.name}, {row.place}: no text {name!r}.")
    return value
