"""Bodies that say nearly all that there is to say, and the same with a part wrong."""

import copy
import json
from collections.abc import Iterator
from typing import Any

Way = tuple[str | int, ...]

LINES = ["a b c d e", "f g h i j", "k l m n o"]
OTHERS = ["a b c d", "f g h i j k", "x y z n o"]
SYSTEMS = [{"name": "A", "hypotheses": LINES}, {"name": "B", "hypotheses": OTHERS}]
WRITTEN = {"title": "t", "tags": ["x", "y"], "metadata": {"k": 1, "l": [1, {"m": None}]}}
SETTINGS = {
    "metrics": ["chrf", {"name": "ter", "normalized": True}, "bleu:tokenize=none"],
    "tests": ["approximate_randomization", "bootstrap"],
    "alternative": "two-sided", "resamples": 99, "seed": 7, "alpha": 0.05, "correction": "holm",
    "exact": "auto", "unit": "segment", "stratified": False,
}  # fmt: skip
RECIPE = {**SETTINGS, "pairs": {"baseline": "A"}, "interval": "percentile", "family": 5}
CONTENT = {
    "references": [LINES, [None, *LINES[1:]]], "documents": ["d", "d", "e"],
    "labels": ["x", "x", "y"], "source": ["s", None, "u"], "segments": 3,
}  # fmt: skip
RUNS = {"system": "A", "metric": "c", "count": 2, "item_variance": 0.1, "run_variance": 0}
NUMBERS = {"c": [0.1, 0.2, 0.3], "pair": [[1, 2], [3, 4], [5, 6.5]]}
COMPARISONS: list[dict[str, Any]] = [
    {**WRITTEN, **RECIPE, **CONTENT, "notes": ["n"], "systems": SYSTEMS},
    {"references": LINES, "clusters": ["d", "d", "e"], "resamples": 9,
     "systems": {"A": LINES, "B": {"hypotheses": OTHERS, "scores": {"c": [1, 2, 3]}}}},
    {"systems": [{"name": name, "scores": NUMBERS} for name in "AB"], "metrics": ["scores:of=c"],
     "runs": [RUNS], "resamples": "auto", "pairs": "all", "family": "present"},
    {"references": LINES, "resamples": 9,
     "systems": {"A": [LINES, OTHERS], "B": {"replicas": [LINES, LINES]}}},
    {"testsets": [{"name": name, "references": LINES, "systems": SYSTEMS} for name in "xy"],
     "pooled": True, "resamples": 9},
    {"testsets": {name: {"references": LINES, "systems": SYSTEMS} for name in "xy"}},
]  # fmt: skip
FOUR = {"best_old": "A", "best_new": "B", "current_old": "A", "current_new": "C"}
ROWS: list[dict[str, Any]] = [
    {"annotator": who, "system": system, "segment": segment, "score": score + shift, "hit": "h",
     "criterion": "adequacy", "document": "d", "languages": "en-de", "kind": "SYSTEM",
     "seconds": 2.5}
    for who, shift in (("v", 0), ("w", -12))
    for system, scores in (("A", (81, 64, 90)), ("B", (55, 60, 71)), ("C", (41, 40, 50)))
    for segment, score in enumerate(scores, 1)
]  # fmt: skip
JUDGED = {
    "judgements": ROWS, "languages": "en-de", "scale": [0, 100], "standardise": "none",
    "criteria": ["adequacy"], "aggregate": "segment", "input": "columns",
}  # fmt: skip
HUMAN: list[dict[str, Any]] = [
    {**WRITTEN, **JUDGED, "test": "rank_sum", "alpha": 0.05, "correction": "holm",
     "aliases": {"A": "Z"}, "domains": "micro", "categories": 5, "resamples": 99, "seed": 3,
     "show_annotators": True},
    {"judgements": ROWS, "longitudinal": FOUR},
    {"judgements": ROWS, "longitudinal": {"en-de": FOUR}},
    {"judgements": [*ROWS, *({**row, "kind": "REPEAT"} for row in ROWS)],
     "quality": {"test": "paired_t", "threshold": 0.05, "min_pairs": 2, "untestable": "keep"}},
]  # fmt: skip
BY_SYSTEM = {"A": 0.31, "B": 0.12, "C": -0.05}
BY_SEGMENT = {name: [score, score + 0.1, None] for name, score in BY_SYSTEM.items()}
PAIRS = [
    {"a": a, "b": b, "p_greater": 0.02, "p_less": 0.98} for a, b in ("AB", "AC", "BC")
]  # fmt: skip
BOTH = {"system": BY_SYSTEM, "segment": BY_SEGMENT}
SCORED = {"human": {"scores": BOTH}, "metrics": {"m": {"system": {**BY_SYSTEM, "D": 0.1}}}}
METRICS: list[dict[str, Any]] = [
    {**WRITTEN, "human": {"scores": BOTH}, "level": "system", "group": "none",
     "metrics": {"comet": {**BOTH, "pairs": PAIRS, "higher": True}, "ter": {**BOTH}},
     "statistics": ["pearson", "kendall"], "tests": ["perm_both"], "alternative": "greater",
     "absolute": False, "exclude_systems": [], "alpha": 0.05, "correction": "holm",
     "resamples": 99, "seed": 3, "baseline": "comet"},
    {"human": {"scores": BY_SYSTEM},
     "metrics": {"m": {"segment": {name: {"1": 0.5, "2": None} for name in BY_SYSTEM}}}},
    {"human": {"scores": BY_SEGMENT}, "metrics": {"m": {"segment": BY_SEGMENT}},
     "level": "segment", "group": "item"},
    {"sets": {"x": {**SCORED, "exclude_systems": ["D"]}, "y": SCORED}, "exclude_systems": ["D"]},
    {"human": JUDGED, "metrics": {"m": {"system": BY_SYSTEM}}},
]  # fmt: skip
THREE = {"references": LINES, "resamples": 9, "systems": {"A": LINES, "B": OTHERS, "C": LINES}}
ACCURACY: list[dict[str, Any]] = [
    {**WRITTEN, "human": {"pairs": PAIRS, "criteria": ["overall"], "aliases": {}},
     "comparison": THREE, "alphas": [0.05, 0.01], "human_alpha": "same"},
    {"human": {"pairs": [{**pair, "criterion": "overall"} for pair in PAIRS]},
     "comparison": {"pairs": [{**pair, "metric": "m", "test": "t"} for pair in PAIRS]},
     "human_alpha": 0.05},
    {"human": JUDGED, "comparison": THREE},
]  # fmt: skip
FEW = [0.1, 0.5, 0.2, 0.7, 0.4, 0.6, 0.3, 0.9, 0.8, 0.2]
PLANS: list[dict[str, Any]] = [
    {**WRITTEN, "difference": 0.1, "metric": "scores", "a": "A", "b": "B", "units": 100,
     "corrected": True,
     "comparison": {"systems": {"A": {"scores": {"c": FEW}},
                                "B": {"scores": {"c": FEW[::-1]}}},
                    "metrics": ["scores"]}},
]  # fmt: skip
RACES: list[dict[str, Any]] = [
    {**WRITTEN, "scores": {"A": FEW, "B": [*FEW[1:], None]}, "scale": [0, 1], "burn_in": 10,
     "alpha": 0.1, "lower": True},
    {"comparison": {"systems": {"A": {"scores": {"c": FEW}}, "B": {"scores": {"c": FEW[::-1]}}},
                    "metrics": ["scores"]}, "metric": "scores"},
    {"human": JUDGED},
]  # fmt: skip
TESTSETS: list[dict[str, Any]] = [
    {**WRITTEN, **SETTINGS, **CONTENT, "name": "n", "replicas": 2, "capacity": 5},
    {"name": "n", "references": LINES, "clusters": ["d", "d", "e"], "resamples": "auto"},
    {"name": "n", "segments": 3, "metrics": ["scores"]},
]
CHANGES: list[dict[str, Any]] = [{**WRITTEN, "resamples": 199}]
OUTPUTS: list[dict[str, Any]] = [
    {**WRITTEN, "hypotheses": LINES, "scores": NUMBERS},
    {"replicas": [LINES, OTHERS]},
]
BODIES = {
    ("POST", "/v1/comparisons"): COMPARISONS,
    ("PATCH", "/v1/comparisons/{id}"): [WRITTEN],
    ("POST", "/v1/human-evaluations"): HUMAN,
    ("POST", "/v1/metric-evaluations"): METRICS,
    ("POST", "/v1/test-accuracy"): ACCURACY,
    ("POST", "/v1/plans"): PLANS,
    ("POST", "/v1/sequential-comparisons"): RACES,
    ("POST", "/v1/testsets"): TESTSETS,
    ("PATCH", "/v1/testsets/{id}"): CHANGES,
    ("PUT", "/v1/testsets/{id}/systems/{name}"): OUTPUTS,
}
WRONG: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.0, 1e3, 1.5, -0.0, 1e300, 2**70, "", "1", "x", "auto", [], {},
    [None], [True], [1], ["x"], ["x", "x"], [[]], [{}], {"x": 1}, {"x": None}, {"x": [True]},
    {"": "y"},
)  # fmt: skip


def places(value: Any, way: Way = ()) -> Iterator[Way]:
    """Where something stands, of lists the first entry alone."""
    yield way
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*way, name))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*way, 0))


def found(body: Any, way: Way) -> Any:
    """What stands in a place."""
    for step in way:
        body = body[step]
    return body


def with_part(body: Any, way: Way, part: Any) -> Any:
    """A body with something else in a place."""
    changed = copy.deepcopy(body)
    found(changed, way[:-1])[way[-1]] = part
    return changed


def twisted(body: dict[str, Any]) -> Iterator[tuple[Way, Any, Any]]:
    """The body with one part wrong, or perhaps wrong: where, what is there, and the whole."""
    yield (), "unknown", {**body, "unknown": None}
    for way in filter(None, places(body)):
        part = found(body, way)
        for other in (*WRONG, [part], *_others(part)):
            yield way, other, with_part(body, way, other)
        without = copy.deepcopy(body)
        del found(without, way[:-1])[way[-1]]
        yield way, "nothing", without


def _others(part: Any) -> Iterator[Any]:
    """What is almost the same."""
    if isinstance(part, str):
        yield from (part.upper(), f" {part}")
    elif isinstance(part, dict):
        yield {**part, "unknown": None}
    elif isinstance(part, list):
        yield [*part, *part[-1:]]
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield from (json.dumps(part), part + 0.5)
