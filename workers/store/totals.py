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
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.decide.facts import wants_swap_sums
from sigtest.draws.totals import Totals
from workers.settings import Settings
from workers.store import codec, keys
from workers.store.cache import newest
from workers.store.codec import decoded

BASE = "base"
PRINTS = np.uint16  # two units that only look alike are found out when their statistics are read
WHOLE = (np.int16, np.int32)
BY_SIZE = {2: np.int16, 4: np.int32, 8: np.float64}  # bytes of a number
Parts = Mapping[str, bytes]
MOST_TOTALS = 10_000


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


def find(redis: Any, places: Sequence[str], names: Sequence[str]) -> list[dict[str, bytes]]:
    """Some parts of the totals under some keys; nothing of those that are gone."""
    with redis.pipeline(transaction=False) as pipe:
        for place in places:
            pipe.hmget(place, names)
        found = pipe.execute()
    return [
        {name: part for name, part in zip(names, parts, strict=True) if part is not None}
        for parts in found
    ]


def keep(redis: Any, settings: Settings, place: str, parts: Parts, expiry: int) -> None:
    """Keep a system's totals until a time (in ms), in the place of the oldest."""
    size, most = sum(map(len, parts.values())), settings.most_totals
    if not expiry or size > most:
        return
    with redis.pipeline() as pipe:
        pipe.hset(place, mapping=parts)
        pipe.pexpireat(place, expiry)
        pipe.delete(*keys.OLDER)
        pipe.execute()
    lasts = settings.retention
    if old := newest(redis, keys.TOTALS, place, lasts, MOST_TOTALS, size, most):
        redis.delete(*old)


def forget(redis: Any, testset_id: str, digests: Collection[str] | None = None) -> None:
    """Drop the totals of a test set, of all systems or of some digests."""
    members = map(decoded, redis.lrange(keys.TOTALS, 0, -1))
    with redis.pipeline(transaction=False) as pipe:
        for member in members:
            _, _, owner, *_, digest = member.split(":")
            if owner == testset_id and (digests is None or digest in digests):
                pipe.lrem(keys.TOTALS, 0, member)
                pipe.delete(member.partition(" ")[2])
        pipe.execute()


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
