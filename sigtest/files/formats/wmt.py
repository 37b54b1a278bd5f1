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
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn
from xml.parsers import expat

from sigtest.data.names import name_in
from sigtest.errors import InputError, at_line
from sigtest.files.file import PROLOGUE, File, Placed, entries_of, record_in
from sigtest.files.material import ONLY_RUN, Assembly, Material, examples
from sigtest.files.tables import number

MOST_TRANSLATORS = 20  # each may lack most documents, and still takes a line for every segment
START = rf"(?s)\A{PROLOGUE}(<!DOCTYPE.{{0,2000}}?)?<dataset\b"
SIDES = {"src": "source", "srcset": "source", "ref": "reference", "refset": "reference"}
SIDES |= {"hyp": "hypothesis", "tstset": "hypothesis"}
NAMES = ("system", "translator", "sysid", "refid")  # attributes that say whose a text is
TAGS = "mteval|srcset|refset|tstset|doc|seg"
TAG = re.compile(rf"<(/?)({TAGS})\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(  # from its first letter, and from no other
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#39|#34|#38);")
SGML_START = rf"(?is)\A\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE.{{0,2000}}?)?<({TAGS})\b"


class _Markup:
    """Goes through the tags of one file, and knows which text, document and segment it is in.

    Attributes:
        line: Where it is.
        systems: Documents that have an output of each, perhaps without a segment.
        domains: Of each document.
        document: Id of the one that is open.
        segment: Id of the one that is open.
    """

    def __init__(self, file: File) -> None:
        self.line = 1
        self.systems: dict[str, set[str]] = {}
        self.domains: dict[str, str | None] = {}
        self.document = ""
        self.segment: str | None = None
        self.assembly = Assembly(file.name)
        self._file = file
        self._side = self._set = self._system = ""
        self._passed = False  # over, as a document of a test suite
        self._languages: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """A tag that begins something."""
        if self.segment is not None:
            before = f"is not closed before <{tag[:40]}>; no element stands inside a segment"
            self.fail(f"segment {self.segment[:40]!a} {before}")
        if tag == "doc":
            name = attributes.get("docid", attributes.get("id", "")).strip()
            self.document = name_in(name, f"{self._file.name}, line {self.line}")
            self._system = attributes.get("sysid") or self._set
            domain = attributes.get("domain") or attributes.get("genre") or None
            self.domains[self.document] = domain
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
            "a segment outside of a set": tag == "seg" and not (self.document and self._side),
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
        about = {"document": self.document, "domain": self.domains[self.document]}
        if self._side == "hypothesis":
            self.assembly.hypothesis(i, self._system, ONLY_RUN, line, place)
        else:
            about["source" if self._side == "source" else f"reference {self._system}"] = line
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
    parser.StartDoctypeDeclHandler = refuse
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
    if not material.ids:
        raise InputError(
            f"{name} has no document with a segment; those of test suites are passed over."
        )
    references = [tuple(line or None for line in lines) for lines in material.references]
    references = [lines for lines in references if any(lines)]
    if len(references) > MOST_TRANSLATORS:
        raise InputError(f"{name} has more than {MOST_TRANSLATORS} translators of references.")
    compared = set(material.documents or ())
    outputs = dict.fromkeys(markup.systems, ((None,) * len(material),)) | dict(material.systems)
    systems = {
        own: outputs[own] for own, documents in markup.systems.items() if compared & documents
    }
    out = [repr(own) for own in markup.systems if own not in systems]
    labels = [own for own in map(markup.domains.get, material.documents or ()) if own]
    note = f"{name}: systems without a segment that has a reference are left out: {examples(out)}."
    return replace(
        material,
        references=tuple(references),
        systems=tuple(systems.items()),
        labels=tuple(labels) if len(labels) == len(material) else None,
        notes=(note,) if out else (),
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
    if not material.ids:
        raise InputError(f"{file.name} is mteval SGML without segments.")
    return material


SEPARATOR = "_#_"
SPEECH = "vid_"  # before names of speech documents, except among the scores
PARTS = 3  # of a document's id: languages, domain, name


FORMS = (  # fields of a test set, of outputs, and of automatic scores
    {"doc_id", "src_text"},
    {"doc_id", "hypothesis"},
    {"language_pair", "document_id", "metric_scores"},
)


def sniff_wmt25(file: File) -> bool:
    """A test set, outputs, or automatic scores; with outputs and sources it is people's scores."""
    known = any(form <= {*file.first} for form in FORMS) and "tgt_text" not in file.first
    parted = "hypothesis" not in file.first or SEPARATOR in str(file.first.get("doc_id"))
    return file.has_records and known and parted


def read_wmt25(file: File) -> Material:
    """Read one file; it names the system, as it does for automatic scores.

    Raises:
        InputError: A row that lacks what others have, documents with unequal paragraphs.
    """
    assembly = Assembly(file.name)
    for row in file.records():
        document, columns = _columns_of(row, file)
        name_in(document, f"{file.name}, {row.place}")
        counts = {" ".join(key).strip(): len(cells) for key, cells in columns.items()}
        if len({*counts.values()}) != 1:
            raise InputError(
                f"{file.name}, {row.place}: {document[:80]!a} needs equally many paragraphs, and a "
                f"score for each; there are {counts}."
            )
        # ids are the same whichever of the files names the document
        *parts, name = document.split(SEPARATOR)
        whole = SEPARATOR.join([*parts, name.removeprefix(SPEECH)])
        for k, cells in enumerate(zip(*columns.values(), strict=True), 1):
            i = assembly.place_of(f"{whole} {k}/{max(counts.values())}", row.place)
            for (kind, name), cell in zip(columns, cells, strict=True):
                if kind == "score":
                    value = number(cell, f"{file.name}, {row.place}, {name}")
                    group = (file.stem, name, ONLY_RUN)
                    assembly.score(i, group, value, row.place, higher=True)  # MetricX is negated
                elif kind == "hypothesis":
                    assembly.hypothesis(i, file.stem, ONLY_RUN, str(cell), row.place)
                else:
                    assembly.describe(i, {f"{kind} {name}".strip(): str(cell)}, row.place)
    material = assembly.material()
    # languages, domain and document stand in the ids
    documents = tuple(name.rpartition(" ")[0] for name in material.ids or ())
    parts_of = [document.split(SEPARATOR) for document in documents]
    named = all(len(part) == PARTS for part in parts_of)
    return replace(
        material,
        documents=documents,
        testsets=tuple(part[0] for part in parts_of) if named else None,
        labels=tuple(part[1] for part in parts_of) if named else None,
    )


def _columns_of(row: Placed, file: File) -> tuple[str, dict[tuple[str, str], Sequence[object]]]:
    """A row's document, and what it has of each paragraph, by kind and name."""

    def text(name: str) -> str:
        if not isinstance(value := row.record.get(name), str):
            raise InputError(f"{file.name}, {row.place}: no text {name!r}.")
        return value

    if "metric_scores" in file.first:
        parts = [text(name) for name in ("language_pair", "domain", "document_id")]
        scores = record_in(row.record, "metric_scores").items()
        return SEPARATOR.join(parts), {("score", own): entries_of(cells) for own, cells in scores}
    kind, name = ("hypothesis",) * 2 if "hypothesis" in file.first else ("source", "src_text")
    texts = {(kind, ""): text(name)}
    for own, entry in record_in(row.record, "refs").items() if kind == "source" else ():
        if isinstance(entry, dict) and isinstance(reference := entry.get("ref"), str):
            texts["reference", own] = reference
    # line breaks inside paragraphs become blanks
    columns: dict[tuple[str, str], Sequence[object]] = {
        key: [part.replace("\n", " ").strip() for part in whole.split("\n\n")]
        for key, whole in texts.items()
    }
    return text("doc_id"), columns
