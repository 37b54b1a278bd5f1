"""WMT's XML (2021 and later): documents with their source, references and hypotheses.

Expat reads it with every declaration refused: no DTD, so no entities, nothing external, and no
text that grows while it is read. As sacreBLEU reads the same files, documents of a test suite and
segments without a reference are passed over where others have one, and white space is one space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from sigtest.data.imports.file import PROLOGUE, File, first_twice
from sigtest.data.imports.material import Material
from sigtest.data.text import decode
from sigtest.errors import InputError, at_line

DEEPEST = 20
LONGEST = 1_000_000  # characters of a segment, which comes in as many pieces as it has lines
MOST_TRANSLATORS = 20  # each may lack most documents, and still takes a line for every segment
START = re.compile(rf"{PROLOGUE}(<!DOCTYPE.{{0,2000}}?)?<dataset\b", re.DOTALL)
Segments = dict[str, str]  # text by segment id


@dataclass
class Document:
    """One document.

    Attributes:
        name: Its id.
        domain: What it is labelled, if it is.
        source: Its segments; their order is that of the test set.
        references: By translator.
        hypotheses: By system.
    """

    name: str
    domain: str | None = None
    source: Segments = field(default_factory=dict)
    references: dict[str, Segments] = field(default_factory=dict)
    hypotheses: dict[str, Segments] = field(default_factory=dict)

    def segments(self, referenced: bool) -> list[str]:
        """Ids of segments, in the order of the source; only those with a reference, if asked."""
        texts = [*self.references.values(), *self.hypotheses.values()]
        first = self.source or next(iter(texts), {})
        known = {i for text in self.references.values() for i, line in text.items() if line}
        return [i for i in first if i in known or not referenced]


def sniff_wmt(file: File) -> bool:
    """A `<dataset>`, perhaps after an XML declaration or a document type, which is refused."""
    return START.match(file.head) is not None


def read_wmt(data: bytes, name: str) -> Material:
    """Read the content of one file: a test set, submissions, or both.

    Args:
        data: The file, which must be UTF-8.
        name: What messages call it.

    Raises:
        InputError: Not XML, a DTD or an entity, no WMT data set, a segment that a system has not
            translated, or something in it twice.
    """
    decode(data, name)  # for the message; expat takes UTF-8 whatever the file declares
    documents = _Reader(name).read(data)
    referenced = any(document.segments(referenced=True) for document in documents)
    places = [(document, i) for document in documents for i in document.segments(referenced)]
    if not places:
        raise InputError(
            f"{name} has no document with a segment; those of test suites are passed over."
        )
    documents = [document for document in documents if document.segments(referenced)]
    translators = _union(document.references for document in documents)
    if len(translators) > MOST_TRANSLATORS:
        raise InputError(f"{name} has more than {MOST_TRANSLATORS} translators of references.")
    systems = _union(document.hypotheses for document in documents)
    domains = tuple(document.domain for document, _ in places)
    known = tuple(domain for domain in domains if domain is not None)
    return Material(
        references=tuple(
            tuple(document.references.get(t, {}).get(i) or None for document, i in places)
            for t in translators
        ),
        systems=tuple(
            (system, (tuple(_hypothesis(document, i, system, name) for document, i in places),))
            for system in systems
        ),
        documents=tuple(document.name for document, _ in places),
        labels=known if len(known) == len(domains) else None,
        sources=_sources(places),
        ids=_ids(places, name),
        name=name,
    )


def _sources(places: Sequence[tuple[Document, str]]) -> tuple[str | None, ...] | None:
    lines = tuple(document.source.get(i) for document, i in places)
    return lines if any(line is not None for line in lines) else None


def _ids(places: Sequence[tuple[Document, str]], name: str) -> tuple[str, ...]:
    """Document and segment; segments are counted anew in every document."""
    ids = tuple(f"{document.name}#{i}" for document, i in places)
    if len(set(ids)) < len(ids):
        twice = places[ids.index(first_twice(ids))][0].name
        raise InputError(f"{name}: two documents have the id {twice[:200]!a}.")
    return ids


def _hypothesis(document: Document, segment: str, system: str, name: str) -> str:
    text = document.hypotheses.get(system, {}).get(segment)
    if text is None:
        raise InputError(
            f"{name}: system {system[:200]!a} has no hypothesis for segment {segment!a} of "
            f"document {document.name[:200]!a}; every system needs every segment.",
            system=system,
        )
    return text


def _union(parts: Iterable[Iterable[str]]) -> list[str]:
    """All names, in the order of their first mention."""
    return list(dict.fromkeys(name for part in parts for name in part))


class _Reader:
    """Collects documents while expat reads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.documents: list[Document] = []
        self._languages: set[str] = set()
        self._document: Document | None = None
        self._segments: Segments | None = None
        self._segment: str | None = None
        self._text: list[str] = []
        self._length = 0
        self._depth = 0
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def read(self, data: bytes) -> list[Document]:
        """All documents of a file.

        Raises:
            InputError: What is no well-formed data set without declarations.
        """
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            self._fail(f"not well-formed XML: {reason} at column {error.offset + 1}")
        return self.documents

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and tag != "dataset":
            self._fail(f"<{tag[:40]}> where a WMT file has <dataset>; older SGML is not read")
        if self._depth > DEEPEST:
            self._fail(f"elements more than {DEEPEST} deep")
        if self._segment is not None:
            self._fail("an element inside a segment")
        if tag == "doc":
            self._open_document(attributes)
        elif tag in {"src", "ref", "hyp"} and self._document is not None:
            self._open_text(tag, attributes, self._document)
        elif tag == "seg" and self._segments is not None:
            self._segment = self._named(attributes, "id", "a segment")
            if self._segment in self._segments:
                self._fail(f"segment {self._segment[:40]!a} twice")

    def _open_document(self, attributes: dict[str, str]) -> None:
        if self._document is not None:
            self._fail("a document inside a document")
        if "testsuite" not in attributes:
            name = self._named(attributes, "id", "a document")
            self._document = Document(name, attributes.get("domain"))
            self.documents.append(self._document)

    def _open_text(self, tag: str, attributes: dict[str, str], document: Document) -> None:
        self._segments = {}
        if tag == "src":
            if document.source:
                self._fail("a second source of one document")
            document.source = self._segments
            return
        if tag == "ref":
            self._languages.add(attributes.get("lang", ""))
            if len(self._languages) > 1:
                self._fail(f"references in {' and '.join(map(repr, sorted(self._languages)))}")
        # a single reference may be without the name of a translator
        texts = document.references if tag == "ref" else document.hypotheses
        key = attributes.get("translator", "") if tag == "ref" else None
        if key is None:
            key = self._named(attributes, "system", "a hypothesis")
        if key in texts:
            self._fail(f"two <{tag}> of {key[:200]!a} for one document")
        texts[key] = self._segments

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "doc":
            self._document = None
        elif tag in {"src", "ref", "hyp"}:
            self._segments = None
        elif tag == "seg" and self._segment is not None and self._segments is not None:
            self._segments[self._segment] = re.sub(r"\s+", " ", "".join(self._text).strip())
            self._segment = None
            self._text.clear()
            self._length = 0

    def _characters(self, text: str) -> None:
        if self._segment is not None:
            self._text.append(text)
            self._length += len(text)
            if self._length > LONGEST:
                self._fail(f"a segment of more than {LONGEST:,} characters")

    def _named(self, attributes: dict[str, str], attribute: str, what: str) -> str:
        value = attributes.get(attribute, "").strip()
        if not value:
            self._fail(f"{what} without {attribute}")
        return value

    def _refuse(self, *_: object) -> NoReturn:
        self._fail("a document type or an entity, which are not read; take the declaration out")

    def _fail(self, reason: str) -> NoReturn:
        line = self._parser.CurrentLineNumber
        raise at_line(self.name, line, f"{reason}.")
