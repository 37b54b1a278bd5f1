"""What is refused, and in which words: generated requests and files, the same on every machine.

    PYTHONPATH=. python tests/nets/refusals.py [FILE]

writes tests/nets/refusals.jsonl anew, or another file, to compare two versions by `diff`.

A request is one that works with one thing wrong in it; a file is one that is read with one thing
wrong in it. Each has its line, so that `git diff` shows which words changed.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from looks import written

from app.main import create_app
from app.settings import Settings
from benchmarks.answering import answering
from sigtest.kinds import KINDS
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer

RECORD = Path(__file__).with_suffix(".jsonl")
LINES = ["a b c d e", "f g h i j", "k l m n o", "p q r s t"]
SYSTEMS = [
    {"name": "A", "hypotheses": LINES, "scores": {"comet": [0.9, 0.8, 0.7, 0.6]}},
    {"name": "B", "hypotheses": LINES[::-1], "scores": {"comet": [0.8, 0.8, 0.5, 0.6]}},
]
COMPARISON = {
    "references": [LINES],
    "systems": SYSTEMS,
    "documents": ["d1", "d1", "d2", "d2"],
    "labels": ["x", "x", "y", "y"],
    "metrics": ["chrf", {"name": "ter", "normalized": True}, "scores:of=comet"],
    "tests": ["approximate_randomization", "bootstrap"],
    "alternative": "greater",
    "pairs": {"baseline": "B"},
    "resamples": 99,
    "seed": 1,
    "alpha": 0.05,
    "correction": "holm",
    "exact": "never",
    "unit": "segment",
    "family": 3,
    "interval": "percentile",
    "stratified": False,
    "title": "Nightly",
    "tags": ["a"],
    "metadata": {"commit": "1"},
}
TWO_SETS = {
    "testsets": [
        {"name": name, "references": [LINES], "systems": SYSTEMS} for name in ("news", "talk")
    ],
    "metrics": ["chrf"],
    "pooled": True,
}
HUMAN = {
    **KINDS["human-evaluations"].examples["two systems"]["value"],
    "scale": [0, 100],
    "standardise": "annotator",
    "test": "rank_sum",
    "aggregate": "segment",
    "alpha": 0.05,
    "correction": "none",
    "aliases": {"A": "AA"},
    "categories": 5,
    "resamples": 99,
    "seed": 1,
    "show_annotators": False,
}
META = {
    **KINDS["metric-evaluations"].examples["two metrics"]["value"],
    "level": "system",
    "group": "none",
    "statistics": ["pearson"],
    "tests": ["williams"],
    "alternative": "greater",
    "absolute": False,
    "exclude_systems": [],
    "alpha": 0.05,
    "correction": "holm",
    "resamples": 99,
    "seed": 1,
}
ACCURACY = {
    **KINDS["test-accuracy"].examples["three systems"]["value"],
    "alphas": [0.05, 0.01],
    "human_alpha": 0.05,
}
PLAN = {**KINDS["plans"].examples["scores"]["value"], "difference": 0.1, "units": 20}
TESTSET = {
    "name": "nightly",
    "references": [LINES],
    "documents": ["d1", "d1", "d2", "d2"],
    "metrics": ["bleu", "chrf"],
    "tests": ["approximate_randomization"],
    "resamples": 99,
    "seed": 1,
    "alpha": 0.05,
    "correction": "holm",
    "capacity": 8,
}
WEBHOOK = {"url": "https://board.example/hook", "events": ["leaderboard.refreshed"]}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "comparison": ("/v1/comparisons", COMPARISON),
    "test sets": ("/v1/comparisons", TWO_SETS),
    "human": ("/v1/human-evaluations", HUMAN),
    "meta": ("/v1/metric-evaluations", META),
    "accuracy": ("/v1/test-accuracy", ACCURACY),
    "plan": ("/v1/plans", PLAN),
    "test set": ("/v1/testsets", TESTSET),
    "webhook": ("/v1/webhooks", WEBHOOK),
}
WRONG: dict[str, object] = {
    "null": None,
    "true": True,
    "minus": -1,
    "zero": 0,
    "half": 0.5,
    "huge": 10**30,
    "empty": "",
    "word": "zebra",
    "control": "a\x01b",
    "long": "x" * 300,
    "empty list": [],
    "list": ["zebra"],
    "nested": [[1]],
    "empty object": {},
    "object": {"zebra": 1},
}
SCORES = "id\tA\tB\n1\t0.5\t0.4\n2\t0.6\t0.7\n3\t0.9\t0.8\n4\t0.1\t0.2\n"
FILES: dict[str, tuple[str, str, str]] = {
    # name: file, command with FILE, content
    "wide": ("scores.tsv", "compare --from FILE", SCORES),
    "csv": (
        "scores.csv",
        "compare --from FILE -m scores:of=comet",
        "".join(
            f"{system},{i},{0.1 * i:.1f}\n" if i else "system,segment,comet\n"
            for system in "AB"
            for i in range(system == "B", 5)
        ),
    ),
    "jsonl": (
        "scores.jsonl",
        "compare --from FILE",
        "".join(
            json.dumps({"id": i, "model": m, "acc": (i + j) % 2}) + "\n"
            for j, m in enumerate("AB")
            for i in range(6)
        ),
    ),
    "lm-eval": (
        "samples_task.jsonl",
        "compare --from FILE",
        "".join(
            json.dumps(
                {
                    "doc_id": i,
                    "doc": {"q": str(i)},
                    "target": "x",
                    "filtered_resps": ["x"],
                    "acc": i % 2,
                }
            )
            + "\n"
            for i in range(6)
        ),
    ),
    "seg scores": (
        "news.seg.score",
        "compare --from FILE",
        "".join(f"{system}\t{0.1 * i:.1f}\n" for system in "AB" for i in range(5)),
    ),
    "comet": (
        "comet.txt",
        "compare --from FILE",
        "".join(
            f"{s}.txt\tSegment {i}\tscore: 0.{i}{j}\n" for i in range(4) for j, s in enumerate("AB")
        ),
    ),
    "sgml": (
        "set.sgm",
        "compare --from FILE",
        '<refset setid="x"><DOC docid="d" sysid="ref">'
        + "".join(f'<seg id="{i}">a b {i}</seg>\n' for i in range(1, 4))
        + "</DOC></refset>",
    ),
    "xml": (
        "set.xml",
        "compare --from FILE",
        "<?xml version='1.0' encoding='utf-8'?>\n"
        "<dataset id='x'>"
        "<doc id='d'><src lang='en'><p><seg id='1'>a</seg></p></src><ref lang='de' translator='A'>"
        "<p><seg id='1'>a b</seg></p></ref><hyp system='s' lang='de'><p><seg id='1'>a c</seg></p>"
        "</hyp><hyp system='t' lang='de'><p><seg id='1'>b</seg></p></hyp></doc></dataset>",
    ),
    "json": ("scores.json", "compare --from FILE", json.dumps({"A": [1, 2, 3], "B": [2, 2, 2]})),
    "text": ("ref.txt", "compare -r FILE FILE other=FILE", "a b c\nd e f\ng h i\n"),
    "judgements": (
        "judged.csv",
        "human FILE",
        "annotator,system,segment,score\n"
        + "".join(
            f"w{w},{s},{i},{10 * i + w}\n" for w in (1, 2) for s in "AB" for i in range(1, 5)
        ),
    ),
    "da": (
        "ad-good-raw.csv",
        "human FILE",
        "HITId WorkerId Input.src Input.trg Input.item Input.hit "
        "sys_id rid type sid score time\n"
        + "".join(
            f"h{i} w1 en de 1 1 {s} ref SYSTEM {i} {50 + i} 1.0\n"
            for s in "AB"
            for i in range(1, 5)
        ),
    ),
    "rankings": (
        "rnk.csv",
        "human FILE",
        "srcIndex,system1Id,system2Id,system1rank,system2rank\n"
        + "".join(f"{i},A,B,1,2\n" for i in range(1, 6)),
    ),
    "mqm": (
        "mqm.tsv",
        "human FILE",
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\t"
        "severity\n"
        + "".join(
            f"{s}\td\t1\t{i}\tr1\tx\t<v>y</v>\tFluency/Grammar\tMajor\n"
            for s in "AB"
            for i in range(1, 5)
        ),
    ),
    "esa": (
        "esa.csv",
        "human FILE",
        "".join(
            f'w1,{s},{i},TGT,eng,deu,{60 + i},doc#{s},False,"[]",1,2\n'
            for s in "AB"
            for i in range(1, 5)
        ),
    ),
    "metric": (
        "bleu.tsv",
        "meta --human examples/campaign/judgements.tsv --scores bleu=FILE",
        "".join(
            f"{s}\t{i}.5\n" for i, s in enumerate(("aspen", "birch", "cedar", "dogwood", "elm"))
        ),
    ),
    "labels": ("gold.txt", "classify --gold FILE a=FILE b=FILE", "x\ny\nx\ny\n"),
    "table": ("sets.tsv", "classify --table FILE", "over\tA\tB\nd1\t1\t2\nd2\t2\t3\nd3\t1\t4\n"),
}
SPOILED: dict[str, Callable[[str], bytes]] = {
    "empty": lambda text: b"",
    "blank": lambda text: b"\n\n\n",
    "first line alone": lambda text: text.partition("\n")[0].encode(),
    "half": lambda text: text.encode()[: len(text) // 2],
    "without last line": lambda text: "".join(text.splitlines(True)[:-1]).encode(),
    "last line twice": lambda text: (text + (text.splitlines(True) or [""])[-1]).encode(),
    "first line twice": lambda text: ((text.splitlines(True) or [""])[0] + text).encode(),
    "a ragged line": lambda text: text.replace("\n", "\tx\n", 3).encode(),
    "a short line": lambda text: (text + "x\n").encode(),
    "a word for a digit": lambda text: (
        text.replace("5", "five", 1).replace("4", "four", 1).encode()
    ),
    "no numbers": lambda text: "".join("x" if c in "0123456789" else c for c in text).encode(),
    "minus": lambda text: text.replace("1", "-1").encode(),
    "infinite": lambda text: text.replace("0.1", "inf").replace("10", "1e999").encode(),
    "nan": lambda text: text.replace("0.1", "nan").replace("11", "NaN").encode(),
    "NUL": lambda text: text.replace("A", "A\0", 1).encode(),
    "Latin-1": lambda text: text.replace("A", "Ä").encode("latin-1"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "an open quote": lambda text: text.replace("A", '"A', 1).encode(),
    "one system": lambda text: text.replace("B", "A").encode(),
    "no names": lambda text: text.replace("A", "").encode(),
    "zip": lambda text: b"PK\x03\x04" + text.encode(),
    "gzip": lambda text: b"\x1f\x8b\x08" + text.encode(),
    "binary": lambda text: bytes(range(256)) * 4,
}


def slips(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The request with one thing wrong, and what that is."""
    for number, place in enumerate(places(request)):
        parent, last = place[:-1], place[-1]
        name = ".".join(map(str, place))
        for what, value in list(WRONG.items())[number % 2 :: 2]:
            yield f"{name} {what}", changed(request, place, value)
        if isinstance(last, str):
            yield f"{name} left out", changed(request, place, ...)
            twin = changed(request, (*parent, last[:-1] + "x"), value_at(request, place))
            yield f"{name} misspelt", twin
    yield "unknown", {**request, "zebra": 1}


def places(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every field and the first two entries of every list, four deep."""
    if len(way) < 4:
        entries: list[tuple[str | int, Any]] = []
        if isinstance(value, dict):
            entries = list(value.items())
        elif isinstance(value, list):
            entries = list(enumerate(value[:2]))
        for name, entry in entries:
            yield (*way, name)
            yield from places(entry, (*way, name))


def value_at(request: Any, place: tuple[str | int, ...]) -> Any:
    for part in place:
        request = request[part]
    return request


def changed(request: dict[str, Any], place: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """The request with another value there; without it where that is an ellipsis."""
    twin = copy.deepcopy(request)
    parent = value_at(twin, place[:-1])
    if value is ...:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return twin


def refused_requests(client: httpx.Client, share: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each wrong request, or one of so many, and what the service says of it if it refuses it."""
    for name, (path, request) in REQUESTS.items():
        client.post(path, json=request).raise_for_status()
        for slip, body in list(slips(request))[::share]:
            answer = client.post(path, json=body)
            assert answer.status_code < 500, (name, slip, answer.text)
            refused = {}
            if answer.status_code >= 400:
                problem = answer.json()
                refused = {
                    "status": answer.status_code,
                    "type": problem["type"].rpartition(":")[2],
                    "errors": problem.get("errors", problem.get("detail")),
                }
            yield f"{name}: {slip}", refused


def refused_files(share: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each wrong file, or one of so many, and what the shell says of it if it refuses it."""
    with TemporaryDirectory() as temporary:
        for name, slip in list(itertools.product(FILES, SPOILED))[::share]:
            file, command, text = FILES[name]
            # a folder of one name: some formats find a meaning in a name such as tmpa__b
            path = Path(temporary, "files", file)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(SPOILED[slip](text))
            try:
                told = written([*command.replace("FILE", str(path)).split(), "--resamples", "99"])
            except Exception as fault:
                told = f"status 2: FAULT {type(fault).__name__}: {fault}"
            words = told.partition("status 2: ")[2].replace(str(path.parent), "FOLDER")
            yield f"{name}: {slip}", {"words": words.strip()} if "status 2: " in told else {}


@contextmanager
def front_end() -> Iterator[httpx.Client]:
    """A front end in this process on a store without workers."""
    with TemporaryDirectory() as state:
        queue = QueueSettings(state=Path(state))
        server = EmbeddedServer(queue)
        server.ensure()
        with (
            answering(create_app(Settings(), queue)) as url,
            httpx.Client(base_url=url, timeout=600) as client,
        ):
            yield client
        server.stop()


def refusals(share: int = 1) -> Iterator[tuple[str, str]]:
    """What is tried, and its line of the record; an empty one where it is not refused.

    Args:
        share: One of so many requests and files is tried.
    """
    with front_end() as client:
        for what, refused in refused_requests(client, share):
            yield f"request {what}", line("request", what, refused)
    for what, refused in refused_files(share):
        yield f"file {what}", line("file", what, refused)


def line(kind: str, what: str, refused: dict[str, Any]) -> str:
    return json.dumps({kind: what, **refused}, ensure_ascii=False) + "\n" if refused else ""


def recorded() -> dict[str, str]:
    """The record, by what was tried."""
    lines = RECORD.read_text("utf-8").splitlines(keepends=True)
    return {" ".join(next(iter(json.loads(own).items()))): own for own in lines}


if __name__ == "__main__":
    record = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD
    record.write_text("".join(told for _, told in refusals()), encoding="utf-8")
