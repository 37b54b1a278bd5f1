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

import html
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn
from xml.parsers import expat

from sigtest.data.text import decode
from sigtest.errors import InputError, at_line
from sigtest.files.file import PROLOGUE, File, Placed, Record, first_twice, record_in
from sigtest.files.material import ONLY_RUN, Assembly, Material, examples
from sigtest.files.tables import number

DEEPEST = 20
LONGEST = 1_000_000  # characters of a segment, which comes in as many pieces as it has lines
MOST_TRANSLATORS = 20  # each may lack most documents, and still takes a line for every segment
START = re.compile(rf"{PROLOGUE}(<!DOCTYPE.{{0,2000}}?)?<dataset\b", re.DOTALL)
Place = tuple[int, str]  # number of the document in the file, id of the segment in it
Key = tuple[str, str]  # of a text: its tag, and the name of its system or translator


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
    reader = _XmlReader(name)
    reader.read(data)
    places = reader.referenced() or [*reader.places]
    if not places:
        raise InputError(
            f"{name} has no document with a segment; those of test suites are passed over."
        )
    names, domains = zip(*(reader.documents[document] for document, _ in places), strict=True)
    ids = tuple(f"{document}#{i}" for document, (_, i) in zip(names, places, strict=True))
    if len(set(ids)) < len(ids):
        twice = names[ids.index(first_twice(ids))]
        raise InputError(f"{name}: two documents have the id {twice[:200]!a}.")
    compared = {document for document, _ in places}
    present = {
        text: lines
        for text, lines in reader.texts.items()
        if not compared.isdisjoint(reader.opened[text])
    }
    if sum(tag == "ref" for tag, _ in present) > MOST_TRANSLATORS:
        raise InputError(f"{name} has more than {MOST_TRANSLATORS} translators of references.")
    columns: dict[str, list[tuple[str, tuple[str | None, ...]]]] = {"src": [], "ref": [], "hyp": []}
    for (tag, key), lines in present.items():
        lacking = next((i for i, place in enumerate(places) if place not in lines), None)
        if tag == "hyp" and lacking is not None:
            raise InputError(
                f"{name}: system {key[:200]!a} has no hypothesis for segment "
                f"{places[lacking][1]!a} of document {names[lacking][:200]!a}; every system needs "
                "every segment.",
                system=key,
            )
        columns[tag].append((key, tuple(map(lines.get, places))))
    out = [repr(key) for tag, key in reader.texts if tag == "hyp" and (tag, key) not in present]
    note = f"{name}: systems without a segment that has a reference are left out: {examples(out)}."
    return Material(
        references=tuple(tuple(line or None for line in lines) for _, lines in columns["ref"]),
        systems=tuple((system, (lines,)) for system, lines in columns["hyp"]),
        documents=names,
        labels=domains if None not in domains else None,
        sources=next((lines for _, lines in columns["src"]), None),
        ids=ids,
        name=name,
        notes=(note,) if out else (),
    )


class _XmlReader:
    """Collects texts while expat reads.

    Attributes:
        documents: Id and domain of each.
        texts: Lines by place, of each source, reference and hypothesis by its name.
        opened: Documents that have each of these, perhaps without a segment.
        places: All segments, in the order of the source where there is one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.documents: list[tuple[str, str | None]] = []
        self.texts: dict[Key, dict[Place, str]] = {}
        self.opened: dict[Key, set[int]] = {}
        self.places: dict[Place, None] = {}
        self._languages: set[str] = set()
        self._in_document = self._sourced = False
        self._lines: dict[Place, str] | None = None
        self._segment: Place | None = None
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

    def read(self, data: bytes) -> None:
        """Read a file.

        Raises:
            InputError: What is no well-formed data set without declarations.
        """
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.errors.messages[error.code]
            self._fail(f"not well-formed XML: {reason} at column {error.offset + 1}")

    def referenced(self) -> list[Place]:
        """Segments with a reference."""
        references = [lines for (tag, _), lines in self.texts.items() if tag == "ref"]
        known = {place for lines in references for place, line in lines.items() if line}
        return [place for place in self.places if place in known]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and tag != "dataset":
            self._fail(f"<{tag[:40]}> where a WMT file has <dataset>; older SGML is not read")
        if self._depth > DEEPEST:
            self._fail(f"elements more than {DEEPEST} deep")
        if self._segment is not None:
            self._fail("an element inside a segment")
        if tag == "doc":
            if self._in_document:
                self._fail("a document inside a document")
            if "testsuite" not in attributes:
                name = self._named(attributes, "id", "a document")
                self.documents.append((name, attributes.get("domain")))
                self._in_document, self._sourced = True, False
        elif tag in {"src", "ref", "hyp"} and self._in_document:
            self._open_text(tag, attributes)
        elif tag == "seg" and self._lines is not None:
            self._segment = (len(self.documents) - 1, self._named(attributes, "id", "a segment"))
            if self._segment in self._lines:
                self._fail(f"segment {self._segment[1][:40]!a} twice")

    def _open_text(self, tag: str, attributes: dict[str, str]) -> None:
        # a single reference may be without the name of a translator
        key = attributes.get("translator", "") if tag == "ref" else ""
        if tag == "hyp":
            key = self._named(attributes, "system", "a hypothesis")
        if tag == "ref":
            self._languages.add(attributes.get("lang", ""))
            if len(self._languages) > 1:
                self._fail(f"references in {' and '.join(map(repr, sorted(self._languages)))}")
        opened = self.opened.setdefault((tag, key), set())
        if len(self.documents) - 1 in opened:
            twice = f"two <{tag}> of {key[:200]!a} for one document"
            self._fail("a second source of one document" if tag == "src" else twice)
        opened.add(len(self.documents) - 1)
        self._lines = self.texts.setdefault((tag, key), {})

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "doc":
            self._in_document = False
        elif tag in {"src", "ref", "hyp"}:
            self._lines = None
        elif tag == "seg" and self._segment is not None and self._lines is not None:
            self._lines[self._segment] = _plain("".join(self._text))
            of_source = self._lines is self.texts.get(SOURCE)
            self._sourced |= of_source
            if of_source or not self._sourced:
                self.places.setdefault(self._segment)
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
        raise at_line(self.name, self._parser.CurrentLineNumber, f"{reason}.")


SOURCE = ("src", "")
TAGS = "mteval|srcset|refset|tstset|doc|seg"
TAG = re.compile(rf"<(/?)({TAGS})\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(  # from its first letter, and from no other
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#39|#34|#38);")
SGML_START = re.compile(rf"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE.{{0,2000}}?)?<({TAGS})\b", re.I | re.S)


def _plain(text: str) -> str:
    """White space is one blank, as mteval and sacreBLEU read it."""
    return re.sub(r"\s+", " ", text.strip())


def read_sgml(file: File) -> Material:
    """Read a srcset, a refset, a tstset, or several in one file.

    Raises:
        InputError: A document or segment without id or twice, an element that is not closed,
            entity declarations, CDATA.
    """
    if re.search(r"<!ENTITY", file.text, re.IGNORECASE):
        raise InputError(f"{file.name} declares entities, which are not read; take them out.")
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
        self._line = 1

    def read(self) -> Material:
        """All of it."""
        counted = 0
        for tag in TAG.finditer(self._file.text):
            self._line += self._file.text.count("\n", counted, tag.start())
            counted = tag.start()
            closing, name, attributes = bool(tag[1]), tag[2].lower(), _attributes(tag[3])
            if name == "seg" and closing:
                self._end_segment(tag.start())
            elif self._segment is not None:
                before = "the next" if name == "seg" else f"<{name}>"
                self._fail(f"segment {self._segment[1]!a} is not closed before {before}")
            elif name == "seg":
                self._open_segment(tag.end(), attributes.get("id", ""))
            elif name == "doc":
                self._open_document({} if closing else attributes, closing)
            elif not closing and name != "mteval":
                self._set = name
                self._set_system = attributes.get("sysid") or attributes.get("refid", "")
        if self._segment is not None:
            self._fail("the file ends within a segment")
        if not self._seen:
            raise InputError(f"{self._file.name} is mteval SGML without segments.")
        if self._document:
            self._fail("the file ends within a document")
        return self._assembly.material()

    def _open_document(self, attributes: dict[str, str], closing: bool) -> None:
        self._document = attributes.get("docid", attributes.get("id", ""))
        if not closing and not (self._document and self._set):
            self._fail("a document without docid" if self._set else "a document outside of a set")
        self._system = attributes.get("sysid") or self._set_system or self._file.stem
        self._genre = attributes.get("genre", "")

    def _open_segment(self, start: int, name: str) -> None:
        if not name or not self._document:
            self._fail("a segment without id" if not name else "a segment outside of a document")
        self._segment = (start, name)

    def _end_segment(self, end: int) -> None:
        if self._segment is None:
            self._fail("the end of a segment that has no beginning")
        start, name = self._segment
        self._segment = None
        key = (self._set, self._system, self._document, name)
        if key in self._seen:
            self._fail(f"segment {name!a} of document {self._document[:80]!a} twice")
        self._seen.add(key)
        text = ENTITY.sub(lambda entity: html.unescape(entity[0]), self._file.text[start:end])
        line, place, add = _plain(text), f"line {self._line}", self._assembly
        i = add.place_of(f"{self._document}#{name}", place)
        about = {"document": self._document, "domain": self._genre or None}
        about |= {"source": line} if self._set == "srcset" else {}
        about |= {f"reference {self._system}": line} if self._set == "refset" else {}
        add.describe(i, about, place)
        if self._set not in {"srcset", "refset"}:
            add.hypothesis(i, self._system, ONLY_RUN, line, place)

    def _fail(self, reason: str) -> NoReturn:
        raise at_line(self._file.name, self._line, f"{reason}.")


def _attributes(text: str) -> dict[str, str]:
    """Attributes by name in small letters; of one that stands twice the first counts."""
    found = ATTRIBUTE.findall(text)[::-1]
    return {name.lower(): (one or two or bare).strip() for name, one, two, bare in found}


SEPARATOR = "_#_"
SPEECH = "vid_"  # before names of speech documents, except among the scores
PARTS = 3  # of a document's id: languages, domain, name


def sniff_wmt25(file: File) -> bool:
    """A test set, outputs, or automatic scores."""
    return file.has_records and _adds(file.first) is not None


def read_wmt25(file: File) -> Material:
    """Read one file; it names the system, as it does for automatic scores.

    Raises:
        InputError: A row that lacks what others have, documents with unequal paragraphs.
    """
    assembly, add = Assembly(file.name), _adds(file.first) or _add_scores
    for row in file.records():
        add(assembly, row, file)
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


def _adds(record: Record) -> Callable[[Assembly, Placed, File], None] | None:
    """What adds a row, by its fields; with outputs and sources it would be people's scores."""
    fields = set(record)
    if {"doc_id", "src_text"} <= fields and "tgt_text" not in fields:
        return _add_document
    if {"doc_id", "hypothesis"} <= fields and SEPARATOR in str(record["doc_id"]):
        return _add_output
    return _add_scores if {"language_pair", "document_id", "metric_scores"} <= fields else None


def _add_document(assembly: Assembly, row: Placed, file: File) -> None:
    document, source = _text(row, "doc_id", file), _text(row, "src_text", file)
    texts = {"source": _paragraphs(source)}
    for name, entry in record_in(row.record, "refs").items():
        if isinstance(entry, dict) and isinstance(text := entry.get("ref"), str):
            texts[f"reference {name}"] = _paragraphs(text)
    count = len(texts["source"])
    for column, paragraphs in texts.items():
        if len(paragraphs) != count:
            raise InputError(
                f"{file.name}, {row.place}: the {column} of {document[:80]!a} has "
                f"{len(paragraphs)} paragraphs, its source {count}."
            )
        for i, paragraph in zip(_places(assembly, document, count, row), paragraphs, strict=True):
            assembly.describe(i, {column: paragraph}, row.place)


def _add_output(assembly: Assembly, row: Placed, file: File) -> None:
    document = _text(row, "doc_id", file)
    paragraphs = _paragraphs(_text(row, "hypothesis", file))
    places = _places(assembly, document, len(paragraphs), row)
    for i, paragraph in zip(places, paragraphs, strict=True):
        assembly.hypothesis(i, file.stem, ONLY_RUN, paragraph, row.place)


def _add_scores(assembly: Assembly, row: Placed, file: File) -> None:
    parts = [_text(row, name, file) for name in ("language_pair", "domain", "document_id")]
    metrics = row.record.get("metric_scores")
    if not isinstance(metrics, dict):
        raise InputError(f"{file.name}, {row.place}: metric_scores is no object.")
    counts = {name: len(listed) for name, listed in metrics.items() if isinstance(listed, list)}
    if len(counts) < len(metrics) or len(set(counts.values())) > 1:
        raise InputError(
            f"{file.name}, {row.place}: every metric needs a list with one number a paragraph; "
            f"they have {counts}."
        )
    places = _places(assembly, SEPARATOR.join(parts), max(counts.values(), default=0), row)
    for metric, listed in metrics.items():
        for i, score in zip(places, listed, strict=True):
            value = number(score, f"{file.name}, {row.place}, {metric}")
            group = (file.stem, metric, ONLY_RUN)
            assembly.score(i, group, value, row.place, higher=True)  # MetricX is negated


def _places(assembly: Assembly, document: str, count: int, row: Placed) -> list[int]:
    """Paragraphs by ids that are the same whichever of the files names their document."""
    *parts, name = document.split(SEPARATOR)
    document = SEPARATOR.join([*parts, name.removeprefix(SPEECH)])
    return [assembly.place_of(f"{document} {i + 1}/{count}", row.place) for i in range(count)]


def _paragraphs(text: str) -> list[str]:
    """Paragraphs as lines; breaks inside them become blanks."""
    return [part.replace("\n", " ").strip() for part in text.split("\n\n")]


def _text(row: Placed, name: str, file: File) -> str:
    value = row.record.get(name)
    if not isinstance(value, str):
        raise InputError(f"{file.name}, {row.place}: no text {name!r}.")
    return value
