"""One system's totals in Redis, cut into parts so that no more is read than is needed.

Those that were made the longest time ago go where there is no room.

base       JSON: sums over all units and scores of the replicas, by metric
scores:M   bootstrap scores of metric M, float64
kept:M     sums under swaps, where a swap test may need them: whole numbers as their distance from
half of all, which fits 16 bits for most; a byte saved by compressing costs more time
than moving it, and a header more than reading it
prints:M   what tells the units of two systems apart
table:M    statistics, where exact p-values need them of every pair
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.decide.facts import wants_swap_sums
from sigtest.draws.totals import Totals
from workers.store import codec

BASE = "base"
PRINTS = np.uint16  # two units that only look alike are found out when their statistics are read
WHOLE = (np.int16, np.int32)
BY_SIZE = {2: np.int16, 4: np.int32, 8: np.float64}  # bytes of a number
Parts = Mapping[str, bytes]


def pack(part: Part, totals: Totals, tables: Sequence[Array]) -> dict[str, bytes]:
    """All parts of one system's totals.

    Args:
        part: Of the test set.
        totals: From `incremental.resample`.
        tables: (n, k) statistics, one array a metric.
    """
    base = {
        "observed": [sums.tolist() for sums in totals.observed],
        "replicas": totals.replica_scores.tolist(),
        "evenness": totals.evenness.tolist(),
    }
    parts = {BASE: json.dumps(base).encode()}
    for m, metric in enumerate(part.recipe.metrics):
        parts[f"scores:{m}"] = totals.scores[m].tobytes()
        if wants_swap_sums(part, m, tables[m]):
            parts[f"kept:{m}"] = _pack_swap_sums(totals.swap_sums(m), totals.observed[m])
        if part.recipe.exact != "never" or metric.fraction is not None:  # may be of shares
            parts[f"prints:{m}"] = totals.prints[m].astype(PRINTS).tobytes()
        if part.recipe.exact != "never" and metric.fraction is not None:
            parts[f"table:{m}"] = codec.pack_statistics(tables[m])
    return parts


def names(part: Part) -> list[str]:
    """Every part that the totals of a system may have."""
    kinds = ("scores", "kept", "prints", "table")
    metrics = range(len(part.recipe.metrics))
    return [BASE, *(f"{kind}:{m}" for kind in kinds for m in metrics)]


def unpack(part: Part, parts: Parts) -> Totals:
    """The totals that `pack` wrote; `kept` is empty where it was not stored."""
    base = json.loads(parts[BASE])
    metrics = range(len(part.recipe.metrics))
    nothing = np.empty(0, np.uint64)
    observed = tuple(np.array(sums, float) for sums in base["observed"])
    return Totals(
        observed=observed,
        scores=np.stack([scores(parts, m) for m in metrics]),
        # when it is asked for: pages of memory take longer than making it anew for each pair
        swap_sums=partial(_swap_sums, parts, observed, part.resamples),
        prints=tuple(
            np.frombuffer(parts[f"prints:{m}"], PRINTS).astype(np.uint64)
            if f"prints:{m}" in parts
            else nothing
            for m in metrics
        ),
        replica_scores=np.array(base["replicas"], float),
        evenness=np.array(base["evenness"], float),
    )


def scores(parts: Parts, m: int) -> Array:
    """(`Part.draws`,) bootstrap scores of metric m."""
    return np.frombuffer(parts[f"scores:{m}"], float)


def table(parts: Parts, m: int) -> Array | None:
    """(n, k) statistics of metric m, where they are kept."""
    data = parts.get(f"table:{m}")
    return None if data is None else codec.unpack_statistics(data)


def _swap_sums(parts: Parts, observed: Sequence[Array], resamples: int, m: int) -> Array:
    """(k, R) sums of metric m under swaps; R is 0 where they are not kept."""
    data, own = parts.get(f"kept:{m}"), observed[m]
    if data is None:
        return np.empty((len(own), 0))
    kind = BY_SIZE[len(data) // (resamples * len(own))]
    stored = np.frombuffer(data, kind).reshape(len(own), -1)
    sums: Array = stored if kind is np.float64 else stored + _half(own)
    return sums


def _pack_swap_sums(sums: Array, observed: Array) -> bytes:
    away = sums - _half(observed)
    stored: npt.NDArray[Any] = sums
    for kind in WHOLE:
        with np.errstate(invalid="ignore"):
            narrow: npt.NDArray[Any] = away.astype(kind)
        if np.array_equal(narrow + _half(observed), sums):
            stored = narrow
            break
    return stored.tobytes()


def _half(observed: Array) -> Array:
    return np.floor(observed / 2.0)[:, None]
