"""The recipe that a report's signature stands for."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from sigtest.errors import InputError, quoted
from sigtest.metrics import METRICS

RECIPE = ("alternative", "resamples", "seed", "alpha", "correction", "family", "exact", "unit",
          "interval")  # fmt: skip
# Labels of scores and names of systems may hold every sign that stands between the parts.
PARTS = re.compile(
    r"(testsets:.+\|average:(?P<average>macro|pooled)\|)?"
    r"\((?P<metrics>.+)\)"
    r"\|tests:(?P<tests>[^|]+)"
    r"\|alternative:(?P<alternative>[^|]+)"
    r"\|resamples:(?P<resamples>\d+)"
    r"\|seed:(?P<seed>\d+)"
    r"\|alpha:(?P<alpha>[^|]+)"
    r"\|correction:(?P<correction>[^|]+)"
    r"(\|family:(?P<family>\d+))?"
    r"\|pairs:(?P<pairs>.+)"
    r"\|exact:(?P<exact>[^|]+)"
    r"\|unit:(?P<unit>[^|]+)"
    r"(\|stratified:(?P<stratified>true))?"
    r"(\|interval:(?P<interval>[^|]+))?"
    r"(\|replicas:\d+)?"
    r"\|sigtest:[^|]+"
    r"(\|decided:alpha=(?P<anew_alpha>[^,|]+),correction=(?P<anew_correction>[^|]+))?",
    re.DOTALL,
)


def recipe_of(signature: str) -> dict[str, Any]:
    """The options of the command line that a report's signature stands for.

    Raises:
        InputError: A signature that cannot be read.
    """
    parts = _parts(signature)
    pairs = parts["pairs"]
    # one metric ends where the next begins, with its name and its number of references
    between = rf"\)\+\((?=(?:{'|'.join(map(re.escape, METRICS))})\|nrefs:\d+\|)"
    return {
        "metrics": [_metric(own, signature) for own in re.split(between, parts["metrics"])],
        "tests": parts["tests"].split("+"),
        "baseline": pairs.removeprefix("baseline=") if pairs != "all" else None,
        "stratified": parts["stratified"] is not None,
        "pooled": parts["average"] == "pooled",
        **{name: parts[name] for name in RECIPE},
    }


def anew_of(signature: str) -> tuple[float | None, str | None]:
    """With which alpha and correction a report was decided after it was computed, if it was.

    Raises:
        InputError: A signature that cannot be read.
    """
    parts = _parts(signature)
    if parts["anew_alpha"] is None:
        return None, None
    try:
        return float(parts["anew_alpha"]), parts["anew_correction"]
    except ValueError:
        raise _unreadable(signature) from None


def _parts(signature: str) -> dict[str, str]:
    found = PARTS.fullmatch(signature)
    if found is None:
        raise _unreadable(signature)
    return found.groupdict()


def _metric(own: str, signature: str) -> dict[str, Any]:
    """A metric as recipes have it, from its own signature."""
    name = own.partition("|")[0]
    if name not in METRICS:
        raise _unreadable(signature)
    options = [field.name for field in fields(METRICS[name])]
    shown = "".join(rf"(\|{option}:(?P<{option}>.*?))?" for option in options)
    found = re.fullmatch(rf"{re.escape(name)}\|nrefs:\d+{shown}(\|[^|]*)?", own, re.DOTALL)
    if found is None:
        raise _unreadable(signature)
    return {"name": name, **{key: value for key, value in found.groupdict().items() if value}}


def _unreadable(signature: str) -> InputError:
    return InputError(
        f"The report's signature cannot be read: {quoted(signature, 200)}. verify takes reports of "
        "comparisons, suites and leaderboards."
    )
