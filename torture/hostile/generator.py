"""Requests over all routes, each a function of its number: valid ones, near misses and nonsense."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from torture.hostile.strange import WORDS, mutated, spelled
from torture.load.asked import MAKERS, AskedBoard, asked

JSON = "application/json"
MEDIA = (JSON, "text/plain", "application/gzip", "application/x-www-form-urlencoded",
         "multipart/form-data", "multipart/form-data; boundary=x", "", "image/png",
         "application/json; charset=utf-16")  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
KNOWN = ("s0", "s1", "bleu", "chrf", "ter", "approximate_randomization", "bootstrap", "matrix",
         "intervals", "distribution", "systems", "pairs", "t0", "0.05", "holm", "max_t", "16cm",
         "title,legend", "true", "1", "5", "100", "json", "text", "csv", "markdown", "latex",
         "html", "score", "share", "s0=Big", "en")  # fmt: skip
PICTURES = ("matrix", "intervals", "distribution", "agreement", "scores", "ranks")
HEADERS = {"Prefer": ("wait=1", "wait=0", "wait=-1", "wait=x", "respond-async", "wait=1,wait=2"),
           "Accept": ("*/*", "text/html", "application/json", "text/csv;q=0.5, */*;q=0.1", "q=;",
                      "image/svg+xml", "application/x-tex"),
           "If-None-Match": ("*", '"x"', "W/", ""),
           "Idempotency-Key": ("a", "b" * 300, "x y", "\x7f"),
           "Origin": ("http://evil.example", "null"), "Content-Encoding": ("gzip", "br"),
           "Range": ("bytes=0-1",), "X-Request-Id": ("r" * 65, "ok-1", "a b"),
           "Expect": ("nothing",), "Cookie": ("session=x", "=;=;")}  # fmt: skip
PAGES = ("/comparisons", "/comparisons/{id}", "/human-evaluations/{id}", "/plans", "/testsets",
         "/testsets/{id}", "/sign-in", "/shared/{id}", "/shared/{id}/report", "/api",
         "/static/x/page.js", "/openapi.json", "/docs", "/nothing", "/v1", "/v1/nothing",
         "/comparisons/new", "//", "/comparisons/{id}/segments")  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One method of one route.

    Attributes:
        method: As HTTP has it.
        path: With names of its parameters in braces.
        queries: Names of the parameters of its query, with values that the document names.
        media: Kinds of bodies that it reads.
        examples: Bodies that the document shows.
    """

    method: str
    path: str
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    media: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Sent:
    """A request.

    Attributes:
        method: As HTTP has it.
        target: Path and query.
        headers: Without the key.
        data: Its body.
        asks: Path of the kind of question and the JSON, where it may be a question.
        foreign: Whether it is about something of another caller.
        keyed: Whether it brings a key that is valid.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    data: bytes
    asks: tuple[str, Any] | None = None
    foreign: bool = False
    keyed: bool = True


def operations(document: Mapping[str, Any]) -> list[Operation]:
    """All of an OpenAPI document, and pages, which it does not have."""
    found = list(_documented(document))
    found += [Operation(method, path) for path in PAGES for method in ("GET", "POST")]
    return found


def _documented(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            content = told.get("requestBody", {}).get("content", {})
            shown = content.get(JSON, {}).get("examples", {}).values()
            queries = {
                parameter["name"]: tuple(map(str, parameter["schema"].get("enum", ())))
                for parameter in told.get("parameters", ())
                if parameter["in"] == "query"
            }
            examples = tuple(example["value"] for example in shown)
            yield Operation(method.upper(), path, queries, tuple(content), examples)


@dataclass
class Generator:
    """Makes requests.

    Attributes:
        operations: What there is.
        seed: Of all of them.
        known: Ids of the caller's own questions and test sets by kind, most recent last.
        foreign: Ids of another caller's.
    """

    operations: Sequence[Operation]
    seed: int
    known: dict[str, list[str]] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()

    def request(self, number: int) -> Sent:
        """The request with a number."""
        rng = random.Random(f"hostile {self.seed} {number}")
        one = self.operations[number % len(self.operations)]
        method = rng.choice(METHODS) if rng.random() < 0.03 else one.method
        path, foreign = self._path(rng, one.path)
        headers = {
            name: rng.choice(values) for name, values in HEADERS.items() if rng.random() < 0.06
        }
        data, asks = b"", None
        if one.media or rng.random() < 0.03:
            media, data, body = self._body(rng, one, number)
            headers["Content-Type"] = media
            kind = one.path.rpartition("/")[2]
            if body is not None and kind in MAKERS and "Content-Encoding" not in headers:
                asks = (kind, body)
        query = self._query(rng, one)
        target = path + (f"?{query}" if query else "")
        return Sent(method, target, headers, data, asks, foreign, rng.random() > 0.02)

    def learn(self, kind: str, identity: str) -> None:
        """Later requests may be about this."""
        self.known.setdefault(kind, []).append(identity)

    def _path(self, rng: random.Random, template: str) -> tuple[str, bool]:
        foreign = bool(self.foreign) and rng.random() < 0.1
        kind = [*template.split("/"), ""][2 if template.startswith("/v1") else 1]
        own = self.known.get(kind, [])[-40:]
        if foreign:
            identity = rng.choice(self.foreign)
        elif own and rng.random() < 0.85:
            identity = rng.choice(own)
        else:
            identity = rng.choice([f"{rng.getrandbits(128):032x}", *WORDS])
        foreign = foreign and "{id}" in template
        picture = rng.choice(PICTURES if rng.random() < 0.8 else WORDS)
        name = rng.choice(KNOWN if rng.random() < 0.7 else WORDS)
        filled = template.replace("{id}", _quoted(identity)).replace("{picture}", _quoted(picture))
        return filled.replace("{name}", _quoted(name)), foreign

    def _query(self, rng: random.Random, one: Operation) -> str:
        chosen = []
        for name, values in one.queries.items():
            if rng.random() < 0.12:
                pool = values if values and rng.random() < 0.6 else KNOWN
                value = rng.choice(WORDS) if rng.random() < 0.2 else rng.choice(pool)
                chosen.append((name, value.encode("utf-8", "surrogatepass")))
        if rng.random() < 0.02:
            chosen.append((rng.choice(("unknown", "limit", "format")), b"x"))
        return urlencode(chosen)

    def _body(
        self, rng: random.Random, one: Operation, number: int
    ) -> tuple[str, bytes, dict[str, Any] | None]:
        """Media type, bytes, and the JSON object where it is one that was sent whole."""
        body = self._base(rng, one, number)
        if rng.random() < 0.7:
            body = mutated(rng, body)
        forms = "multipart/form-data" in one.media
        if forms and rng.random() < 0.12:
            return _form(rng, body)
        data, whole = spelled(rng, body)
        media = JSON if rng.random() < 0.95 else rng.choice(MEDIA)
        sent = isinstance(body, dict) and whole and media == JSON
        return media, data, json.loads(data) if sent else None

    def _base(self, rng: random.Random, one: Operation, number: int) -> Any:
        kind = one.path.rpartition("/")[2]
        if one.examples and rng.random() < 0.5:
            return rng.choice(one.examples)
        if kind in MAKERS:
            return MAKERS[kind](rng)
        if kind == "testsets":
            board = next(b for n in count() if isinstance(b := asked(number, n), AskedBoard))
            return board.body
        return rng.choice([{"resamples": 500}, {"hypotheses": ["a b c", "d e f"]}])


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _form(rng: random.Random, body: Any) -> tuple[str, bytes, None]:
    """Parts of a form: the JSON as a request, lines as files, and what goes wrong with forms."""
    names = ("references", "systems", "scores", "documents", "request", "archive", "judgements",
             "human", "hypotheses", "labels", "source", "other", "")  # fmt: skip
    contents = (
        json.dumps(body).encode("utf-8", "surrogatepass"), b"a b c\nd e f\n", b"", b"\xff\xfe\x00",
        b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"1\n2\n", b"<?xml version='1.0'?><dataset/>",
        b"a\tb\n1\t2\n", b"{}", b"x" * 5000,
    )  # fmt: skip
    edge = "edge" if rng.random() < 0.95 else "other"
    parts = []
    for _ in range(rng.randint(1, 5)):
        file = f'; filename="{rng.choice(("a.en", "b.gz", "c.zip", "..", ""))}"'
        named = f'form-data; name="{rng.choice(names)}"{file if rng.random() < 0.8 else ""}'
        head = f"--edge\r\nContent-Disposition: {named}\r\n\r\n".encode()
        parts.append(head + rng.choice(contents) + b"\r\n")
    end = b"--edge--\r\n" if rng.random() < 0.95 else b""
    return f"multipart/form-data; boundary={edge}", b"".join(parts) + end, None
