"""WMT's files of texts: XML (2021 and later), SGML of NIST's mteval (until 2020), JSONL (2025).

Expat reads XML with every declaration refused: no DTD, so no entities, nothing external, and no
text that grows while it is read. As sacreBLEU reads the same files, documents of a test suite and
segments without a reference are passed over where others have one, and white space is one space.

SGML is seldom valid: attributes twice, tags in capitals, bare ampersands. So tags are found one by
one, as mteval does, and nothing is declared: a file with entity declarations is refused.

Of JSONL a row is a document and segments are paragraphs, which blank lines separate. Their ids say
how many a document has, so that documents cut differently share none:
`en-cs_CZ_#_news_#_name 2/5`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn
from xml.parsers import expat

from sigtest.data.text import decode
from sigtest.errors import InputError, at_line
from sigtest.files.assembly import ONLY_RUN, Assembly
from sigtest.files.cells import number
from sigtest.files.file import PROLOGUE, File, Placed, Record, first_twice
from sigtest.files.material import Material

DEEPEST = 20
LONGEST = 1_000_000  # characters of a segment, which comes in as many pieces as it has lines
MOST_TRANSLATORS = 20  # each may lack most documents, and still takes a line for every segment
START = re.compile(rf"{PROLOGUE}(<!DOCTYPE.{{0,2000}}?)?<dataset\b", re.DOTALL)
Segments = dict[str, str]  # text by segment id


@dataclass
class WmtDocument:
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
    sources = tuple(document.source.get(i) for document, i in places)
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
        sources=sources if any(line is not None for line in sources) else None,
        ids=_ids(places, name),
        name=name,
    )


def _ids(places: Sequence[tuple[WmtDocument, str]], name: str) -> tuple[str, ...]:
    """Document and segment; segments are counted anew in every document."""
    ids = tuple(f"{document.name}#{i}" for document, i in places)
    if len(set(ids)) < len(ids):
        twice = places[ids.index(first_twice(ids))][0].name
        raise InputError(f"{name}: two documents have the id {twice[:200]!a}.")
    return ids


def _hypothesis(document: WmtDocument, segment: str, system: str, name: str) -> str:
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
        self.documents: list[WmtDocument] = []
        self._languages: set[str] = set()
        self._document: WmtDocument | None = None
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

    def read(self, data: bytes) -> list[WmtDocument]:
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
            self._document = WmtDocument(name, attributes.get("domain"))
            self.documents.append(self._document)

    def _open_text(self, tag: str, attributes: dict[str, str], document: WmtDocument) -> None:
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


TAGS = "mteval|srcset|refset|tstset|doc|seg"
TAG = re.compile(rf"<(/?)({TAGS})\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(  # from its first letter, and from no other
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#39|#34|#38);")
SGML_START = re.compile(rf"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE.{{0,2000}}?)?<({TAGS})\b", re.I | re.S)


def sniff_sgml(file: File) -> bool:
    """One of mteval's elements at the beginning."""
    return SGML_START.match(file.head) is not None


def read_sgml(file: File) -> Material:
    """Read a srcset, a refset, a tstset, or several in one file.

    Raises:
        InputError: A document or segment without id or twice, an element that is not closed,
            entity declarations, CDATA.
    """
    if re.search(r"<!ENTITY", file.text, re.IGNORECASE):
        raise InputError(f"{file.name} declares entities, which are not read_sgml; take them out.")
    if "<![CDATA[" in file.text:
        raise InputError(f"{file.name} has CDATA, which is not read; write &amp; and &lt; instead.")
    return _Sgml(file).read()


class _Sgml:
    """Goes through the tags of one file, and knows which set, document and segment it is in."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._assembly = Assembly(file.name)
        self._set = self._set_system = self._document = self._system = self._genre = ""
        self._segment: tuple[int, str] | None = None  # where its text begins, and its id
        self._seen: set[tuple[str, str, str, str]] = set()
        self._line, self._counted = 1, 0

    def read(self) -> Material:
        """All of it."""
        for tag in TAG.finditer(self._file.text):
            self._line += self._file.text.count("\n", self._counted, tag.start())
            self._counted = tag.start()
            closing, name = bool(tag[1]), tag[2].lower()
            if name == "seg":
                self._end_segment(tag.start()) if closing else self._open_segment(tag)
            elif self._segment is not None:
                self._fail(f"segment {self._segment[1]!a} is not closed before <{name}>")
            elif name == "doc":
                self._open_document("" if closing else tag[3], closing)
            elif not closing and name != "mteval":
                found = _attributes(tag[3])
                self._set, self._set_system = name, found.get("sysid") or found.get("refid", "")
        if self._segment is not None:
            self._fail("the file ends within a segment")
        if not self._seen:
            raise InputError(f"{self._file.name} is mteval SGML without segments.")
        if self._document:
            self._fail("the file ends within a document")
        return self._assembly.material()

    def _open_document(self, tag: str, closing: bool) -> None:
        attributes = _attributes(tag)
        self._document = attributes.get("docid", attributes.get("id", ""))
        if closing:
            return
        if not self._document or not self._set:
            self._fail("a document without docid" if self._set else "a document outside of a set")
        self._system = attributes.get("sysid") or self._set_system or self._file.stem
        self._genre = attributes.get("genre", "")

    def _open_segment(self, tag: re.Match[str]) -> None:
        name = _attributes(tag[3]).get("id", "")
        if self._segment is not None:
            self._fail(f"segment {self._segment[1]!a} is not closed before the next")
        if not name or not self._document:
            self._fail("a segment without id" if not name else "a segment outside of a document")
        self._segment = (tag.end(), name)

    def _end_segment(self, end: int) -> None:
        if self._segment is None:
            self._fail("the end of a segment that has no beginning")
        start, name = self._segment
        self._segment = None
        key = (self._set, self._system, self._document, name)
        if key in self._seen:
            self._fail(f"segment {name!a} of document {self._document[:80]!a} twice")
        self._seen.add(key)
        self._add(name, _clean(self._file.text[start:end]))

    def _add(self, name: str, text: str) -> None:
        place = f"line {self._line}"
        i = self._assembly.place_of(f"{self._document}#{name}", place)
        self._assembly.about(i, "document", self._document, place)
        if self._genre:
            self._assembly.about(i, "domain", self._genre, place)
        if self._set == "srcset":
            self._assembly.about(i, "source", text, place)
        elif self._set == "refset":
            self._assembly.about(i, f"reference {self._system}", text, place)
        else:
            self._assembly.hypothesis(i, self._system, ONLY_RUN, text, place)

    def _fail(self, reason: str) -> NoReturn:
        raise at_line(self._file.name, self._line, f"{reason}.")


def _attributes(text: str) -> dict[str, str]:
    """Attributes by name in small letters; of one that stands twice the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), (double or single or bare).strip())
    return found


def _clean(text: str) -> str:
    """White space is one blank, as mteval and sacreBLEU read it; XML's entities are letters."""
    text = ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return re.sub(r"\s+", " ", text.strip())


SEPARATOR = "_#_"
SPEECH = "vid_"  # before names of speech documents, except among the scores
PARTS = 3  # of a document's id: languages, domain, name


def sniff_wmt25(file: File) -> bool:
    """A test set, outputs, or automatic scores."""
    return file.has_records and (
        _is_testset(file.first) or _is_output(file.first) or _is_scores(file.first)
    )


def read_wmt25(file: File) -> Material:
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
    material = assembly.material()
    # languages, domain and document stand in the ids
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
