"""SGML of NIST's mteval, as WMT used until 2020: sources, references, or outputs of systems.

It is seldom valid: attributes twice, tags in capitals, bare ampersands. So tags are found one by
one, as mteval does, and nothing is declared: a file with entity declarations is refused.
"""

from __future__ import annotations

import html
import re
from typing import NoReturn

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File
from sigtest.data.imports.material import Material
from sigtest.errors import InputError, at_line

TAGS = "mteval|srcset|refset|tstset|doc|seg"
TAG = re.compile(rf"<(/?)({TAGS})\b([^<>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(  # from its first letter, and from no other
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|#39|#34|#38);")
START = re.compile(rf"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE.{{0,2000}}?)?<({TAGS})\b", re.I | re.S)


def sniff(file: File) -> bool:
    """One of mteval's elements at the beginning."""
    return START.match(file.head) is not None


def read(file: File) -> Material:
    """Read a srcset, a refset, a tstset, or several in one file.

    Raises:
        InputError: A document or segment without id or twice, an element that is not closed,
            entity declarations, CDATA.
    """
    if re.search(r"<!ENTITY", file.text, re.IGNORECASE):
        raise InputError(f"{file.name} declares entities, which are not read; take them out.")
    if "<![CDATA[" in file.text:
        raise InputError(f"{file.name} has CDATA, which is not read; write &amp; and &lt; instead.")
    return _Reader(file).read()


class _Reader:
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
