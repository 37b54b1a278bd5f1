"""Values that are never meant, and bodies that have them."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

DEEP: list[Any] = []
for _ in range(150):
    DEEP = [DEEP]
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7.5, -0.0, 1e-300, 1e308, 10**18, 2**64, 10**40, "", " ", "a",
    "A" * 3000, "\x00", "\ud800", "é", "é", "\u202e", "NaN", "null", "<script>", "../../etc",
    "' OR 1", "{{7*7}}", "%s%n", "auto", "present", "holm", "bleu", "bleu:tokenize=zh", "meteor",
    "scores", "scores:of=x", "chrf:beta=-1", [], {}, [None], [[]], [[], []], [{}], {"": ""},
    {"name": "ter"}, {"id": "0" * 32}, ["a"], ["a", "a"], [1, 2], ["a", None], DEEP,
    [""] * 300, {"baseline": "A"}, {"system": {"A": 1}}, list(range(50)), "a\nb", "a\u2028b",
)  # fmt: skip
WORDS = tuple(value for value in STRANGE if isinstance(value, str))
NAMES = ("systems", "references", "metrics", "tests", "resamples", "seed", "documents", "labels",
         "replicas", "scores", "hypotheses", "pairs", "family", "testsets", "human", "id",
         "comparison", "judgements", "alpha", "unknown", "", "__proto__", "segments", "source",
         "clusters", "notes", "pooled", "builtin", "testset", "correction", "unit")  # fmt: skip


def strange(rng: random.Random) -> Any:
    """One of these values, for this caller alone: it may be changed next."""
    return copy.deepcopy(rng.choice(STRANGE))


def mutated(rng: random.Random, body: Any) -> Any:
    """A body with one to three places changed."""
    changed = copy.deepcopy(body)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        changed = _changed(rng, changed)
    return changed


def _changed(rng: random.Random, body: Any) -> Any:
    """One place of a body replaced, removed, added, doubled or wrapped."""
    places = list(_places(body))
    if not places:
        return strange(rng)
    holder, name = rng.choice(places)
    way = rng.random()
    if way < 0.5:
        holder[name] = strange(rng)
    elif way < 0.65:
        del holder[name]
    elif way < 0.75 and isinstance(holder, dict):
        holder[rng.choice(NAMES)] = strange(rng)
    elif way < 0.85 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[name]))
    elif way < 0.92:
        other, place = rng.choice(places)
        holder[name] = copy.deepcopy(other.get(place) if isinstance(other, dict) else other[place])
    else:
        holder[name] = [holder[name]]
    return body


def _places(value: Any, most: int = 400) -> list[tuple[Any, Any]]:
    """Where values stand: containers with indices or names, the outer ones first."""
    found: list[tuple[Any, Any]] = []
    waiting = [value] if isinstance(value, dict | list) else []
    while waiting and len(found) < most:
        holder = waiting.pop(0)
        names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for name in names[:40]:
            found.append((holder, name))
            if isinstance(holder[name], dict | list):
                waiting.append(holder[name])
    return found


def spelled(rng: random.Random, body: Any) -> tuple[bytes, bool]:
    """The bytes of a body, now and then broken; and whether they are that body's JSON."""
    data = json.dumps(body).encode("utf-8", "surrogatepass")
    way = rng.random()
    if way < 0.94:
        return data, True
    at = rng.randrange(len(data) + 1)
    if way < 0.96:
        return data[:at], False
    if way < 0.98:
        return data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at:], False
    doubled = data[:-1] + b', "seed": 1, "seed": 2}' if data.endswith(b"}") else data * 2
    return rng.choice([b"\xef\xbb\xbf" + data, doubled, b"NaN", b"", b"[" * 20_000]), False
