"""WMT's files of texts: XML (2021 and later), SGML of NIST's mteval (until 2020), JSONL (2025).

Both of marked-up text are sets, documents and segments, however nested, and are read tag by tag. Of
XML, expat refuses every declaration: no DTD, so no entities, nothing external, and no text that
grows while it is read. As sacreBLEU reads the same files, documents of a test suite and segments
without a reference are passed over where others have one, and white space is one space.

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

from sigtest.errors import InputError, at_line
from sigtest.files.file import PROLOGUE, File, Placed, Record, record_in
from sigtest.files.material import ONLY_RUN, Assembly, Material, examples
from sigtest.files.tables import number

MOST_TRANSLATORS = 20  # each may lack most documents, and still takes a line for every segment
START = re.compile(rf"{PROLOGUE}(<!DOCTYPE.{{0,2000}}?)?<dataset\b", re.DOTALL)
SIDES = {"src": "source", "srcset": "source", "ref": "reference", "refset": "reference"}
SIDES |= {"hyp": "hypothesis", "tstset": "hypothesis"}
NAMES = ("system", "translator", "sysid", "refid")  # attributes that say whose a text is
TAGS = "mteval|srcset|refset|tstset|doc|seg"
TAG = re.compile(rf"<(/?)({TAGS})\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(  # from its first letter, and from no other
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#39|#34|#38);")
SGML_START = re.compile(rf"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE.{{0,2000}}?)?<({TAGS})\b", re.I | re.S)


class _Markup:
    """Goes through the tags of one file, and knows which text, document and segment it is in.

    Attributes:
        line: Where it is.
        systems: Documents that have an output of each, perhaps without a segment.
        document: Id of the one that is open.
        segment: Id of the one that is open.
    """

    def __init__(self, file: File) -> None:
        self.line = 1
        self.systems: dict[str, set[str]] = {}
        self.document = ""
        self.segment: str | None = None
        self.assembly = Assembly(file.name)
        self._file = file
        self._side = self._set = self._system = ""
        self._domain: str | None = None
        self._passed = False  # over, as a document of a test suite
        self._languages: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """A tag that begins something."""
        if self.segment is not None:
            before = f"is not closed before <{tag[:40]}>; no element stands inside a segment"
            self.fail(f"segment {self.segment[:40]!a} {before}")
        if tag == "doc":
            self.document = attributes.get("docid", attributes.get("id", "")).strip()
            self._system = attributes.get("sysid") or self._set
            self._domain = attributes.get("domain") or attributes.get("genre") or None
            self._passed = "testsuite" in attributes
        if self._passed:
            return
        if tag in SIDES:
            named = next(filter(None, map(attributes.get, NAMES)), "").strip()
            self._set = named or (self._file.stem if tag.endswith("set") else "")
            self._side, self._system = SIDES[tag], self._set
        if tag == "hyp":
            self.systems.setdefault(self._system, set()).add(self.document)
        if tag == "ref":
            self._languages.add(attributes.get("lang", ""))
        if tag == "seg":
            self.segment = attributes.get("id", "").strip()
        for what, wrong in {
            "a document without id": tag == "doc" and not self.document,
            "a hypothesis without system": tag == "hyp" and not self._system,
            f"references in {' and '.join(map(repr, sorted(self._languages)))}":
                len(self._languages) > 1,
            "a segment without id": self.segment == "",
            "a segment outside of a document": tag == "seg" and not self.document,
            "a segment outside of a set": tag == "seg" and not self._side,
        }.items():  # fmt: skip
            if wrong:
                self.fail(what)

    def close(self, tag: str, text: str) -> None:
        """A tag that ends something, and the text before it."""
        if tag == "seg" and not self._passed:
            self._add(text)
        elif self.segment is not None:
            self.fail(f"segment {self.segment[:40]!a} is not closed before </{tag[:40]}>")
        elif tag == "doc":
            self.document, self._passed = "", False
        elif tag in SIDES:
            self._side = ""

    def _add(self, text: str) -> None:
        if self.segment is None:
            self.fail("the end of a segment that has no beginning")
        key = (self._side, self._system, self.document, self.segment)
        if key in self._seen:
            of = f" for {self._system[:80]!a}" if self._system else ""
            self.fail(f"segment {self.segment!a} of document {self.document[:80]!a} twice{of}")
        self._seen.add(key)
        # white space is one blank, as mteval and sacreBLEU read it
        line, place = re.sub(r"\s+", " ", text.strip()), f"line {self.line}"
        i = self.assembly.place_of(f"{self.document}#{self.segment}", place)
        about: dict[str, str | None] = {"document": self.document, "domain": self._domain}
        if self._side == "hypothesis":
            self.assembly.hypothesis(i, self._system, ONLY_RUN, line, place)
        elif self._side == "source":
            about["source"] = line
        else:
            about[f"reference {self._system}"] = line
        self.assembly.describe(i, about, place)
        self.segment = None

    def fail(self, reason: str) -> NoReturn:
        """What is wrong here."""
        raise at_line(self._file.name, self.line, f"{reason}.")


def read_wmt(file: File) -> Material:
    """Read the content of one file: a test set, submissions, or both.

    Raises:
        InputError: Not XML, a DTD or an entity, no WMT data set, something in it twice.
    """
    markup, texts = _Markup(file), list[str]()
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        texts.clear()
        markup.line = parser.CurrentLineNumber
        markup.open(tag, attributes)

    def end(tag: str) -> None:
        markup.line = parser.CurrentLineNumber
        markup.close(tag, "".join(texts))
        texts.clear()

    def refuse(*_: object) -> NoReturn:
        markup.line = parser.CurrentLineNumber
        markup.fail("a document type or an entity, which are not read; take the declaration out")

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = texts.append
    try:
        parser.Parse(file.text, True)
    except expat.ExpatError as error:
        markup.line = parser.CurrentLineNumber
        reason = expat.errors.messages[error.code]
        markup.fail(f"not well-formed XML: {reason} at column {error.offset + 1}")
    return _compared(markup.assembly.material(), markup)


def _compared(material: Material, markup: _Markup) -> Material:
    """Segments with a reference, where some have one, and the systems that have any of them."""
    name = material.name
    referenced = [i for i, lines in enumerate(zip(*material.references, strict=True)) if any(lines)]
    material = material.rows(referenced or range(len(material)))
    if not len(material):
        raise InputError(
            f"{name} has no document with a segment; those of test suites are passed over."
        )
    references = [tuple(line or None for line in lines) for lines in material.references]
    references = [lines for lines in references if any(lines)]
    if len(references) > MOST_TRANSLATORS:
        raise InputError(f"{name} has more than {MOST_TRANSLATORS} translators of references.")
    compared, outputs = {*(material.documents or ())}, dict(material.systems)
    systems = {
        own: outputs.get(own, ((None,) * len(material),))
        for own, documents in markup.systems.items()
        if compared & documents
    }
    out = [repr(own) for own in markup.systems if own not in systems]
    note = f"{name}: systems without a segment that has a reference are left out: {examples(out)}."
    return replace(
        material,
        references=tuple(references),
        systems=tuple(systems.items()),
        notes=(*material.notes, note) if out else material.notes,
    )


def read_sgml(file: File) -> Material:
    """Read a srcset, a refset, a tstset, or several in one file.

    Raises:
        InputError: A document or segment without id or twice, an element that is not closed,
            entity declarations, CDATA.
    """
    text = file.text
    if re.search(r"<!ENTITY", text, re.IGNORECASE):
        raise InputError(f"{file.name} declares entities, which are not read; take them out.")
    if "<![CDATA[" in text:
        raise InputError(f"{file.name} has CDATA, which is not read; write &amp; and &lt; instead.")
    markup, counted, start = _Markup(file), 0, 0
    for tag in TAG.finditer(text):
        markup.line += text.count("\n", counted, tag.start())
        if tag[1]:
            inside = ENTITY.sub(lambda entity: html.unescape(entity[0]), text[start : tag.start()])
            markup.close(tag[2].lower(), inside)
        else:
            # of an attribute that stands twice the first counts
            found = ATTRIBUTE.findall(tag[3])[::-1]
            own = {name.lower(): (one or two or bare).strip() for name, one, two, bare in found}
            markup.open(tag[2].lower(), own)
        counted, start = tag.span()
    material = markup.assembly.material()
    if markup.document or markup.segment is not None:
        inner = "document" if markup.segment is None else "segment"
        markup.fail(f"the file ends within a {inner}")
    if not len(material):
        raise InputError(f"{file.name} is mteval SGML without segments.")
    return material


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
