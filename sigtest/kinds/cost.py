"""How long a comparison takes, told before anything is computed.

Seconds of one core. Rates are of the slowest input that was found: what is predicted may be several
times what ordinary texts take, and no input takes more than twice what is predicted
(`tests/sigtest/kinds/test_cost.py` looks for one).
"""

from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Counts
from sigtest.comparison.comparison import ComparisonEntry
from sigtest.comparison.plan import Part
from sigtest.draws.product import TWO_UNITS
from sigtest.metrics.kernels.tokens import SPACES, code_points
from sigtest.significance import swap_test
from sigtest.significance.exact import MOST_POINTS, MOST_UNITS

WIDENING_SECONDS = 5e-9  # for one weight, where numbers may not be whole
LOADING_SECONDS = 5.5e-8  # for one number of the statistics: read, and made ready to be multiplied
INTERVAL_SECONDS = 4e-8  # for one draw of a score or difference: order statistics, spread, counts
JOINT_SECONDS = 1e-7  # the same of the corrections that look at all pairs together
ERROR_SECONDS = 2e-7  # for one standard error in one resample: drawn, divided by, looked at
PAIR_SECONDS = 2e-4  # whatever is compared
PATTERN_SECONDS = 1.2e-7  # to put one exchange of units together
POINT_SECONDS = 1.5e-7  # of a convolution: 0.9e-7 to 2.5e-7 by machine
COMPARED = 1_000_000  # units of pairs that are looked at together
WIDEST = 0.15  # share of MOST_POINTS that a convolution of long sums of small steps has at most


def measuring_seconds(entry: ComparisonEntry, part: Part) -> float:
    """To measure all systems on one test set."""
    return sum(
        metric.seconds(entry.testset, run)
        for metric in part.recipe.metrics
        for system in entry.systems
        for run in system.runs
    )


def loading_seconds(part: Part) -> float:
    """To read the statistics of all systems and make them ready; what it takes, not what it may."""
    width = sum(metric.width for metric in part.recipe.metrics)
    return LOADING_SECONDS * width * part.segments * part.replicas * len(part.systems)


def resampling_seconds(part: Part) -> float:
    """To draw all resamples, and to see what they say."""
    swaps, pairs = bool(swap_test(part.recipe.tests)), len(part.pairs)
    systems, metrics = len(part.systems), part.recipe.metrics
    width = sum(metric.width for metric in metrics)
    columns = width * systems
    supplied = any(metric.implementation == "supplied" for metric in metrics)
    widened = supplied and (systems > 2 or part.units > TWO_UNITS)
    drawing = part.units * (1.2e-9 + 1.8e-11 * columns + WIDENING_SECONDS * widened)
    scoring = sum(metric.score_seconds for metric in metrics)
    looking = INTERVAL_SECONDS + ERROR_SECONDS * part.recipe.studentised
    # squares and products of every unit go into standard errors
    bootstrap = drawing * 8**part.recipe.studentised + scoring * systems + 1.3e-9 * columns
    bootstrap += len(metrics) * looking * (systems + pairs)
    # each replica has swaps of its own
    swapping = part.replicas * drawing + (2 * scoring + 3.8e-9 * width) * pairs
    joint = JOINT_SECONDS if part.recipe.correction in {"max_t", "tukey"} else 0.0
    others = swaps * swapping + len(metrics) * joint * pairs
    if part.recipe.correction == "tukey":  # exchanges the outputs of all systems, unit by unit
        others += part.units * part.replicas * systems * (2.5e-9 + 4.3e-10 * width)
    return part.draws * bootstrap + part.resamples * (others + 1e-7)


def exact_seconds(entry: ComparisonEntry, part: Part) -> float:
    """To count every exchange, for the pairs and metrics where that is possible."""
    metrics, pairs = part.recipe.metrics, len(part.pairs)
    if not swap_test(part.recipe.tests) or part.recipe.exact == "never":
        return PAIR_SECONDS * len(metrics) * pairs
    listed = [metric for metric in metrics if metric.fraction is None]
    points = sum(
        min(WIDEST * MOST_POINTS, metric.steps * part.units * part.replicas)
        for metric in metrics
        if metric.fraction is not None
    )
    each = sum(PATTERN_SECONDS + 2 * metric.score_seconds for metric in listed)
    patterns = _patterns(entry, part) if listed else 0.0
    known = PAIR_SECONDS * len(metrics) + POINT_SECONDS * points
    return known * pairs + each * patterns


def _patterns(entry: ComparisonEntry, part: Part) -> float:
    """Exchanges of the units in which two systems differ, summed over the pairs with few such.

    Statistics may differ in fewer units than lines do. They do differ where both the words and the
    characters of a unit are more or fewer; where that is seen in too few units to be sure, as many
    are counted as are ever listed.
    """
    outputs = [
        [line for run in system.runs if run.hypotheses for line in run.hypotheses.lines]
        for system in entry.systems
    ]
    if not outputs or not outputs[0]:
        return 0.0
    order, starts = _units(part)
    pairs = _pairs_with_few(outputs, part.pairs, order, starts)
    lines = {
        system: np.fromiter(map(hash, outputs[system]), int, len(order))[order]
        for system in np.unique(pairs).tolist()
    }
    most = [np.logical_or.reduceat(lines[a] != lines[b], starts).sum() for a, b in pairs.tolist()]
    return float(np.exp2(np.minimum(most, MOST_UNITS)).sum())


def _pairs_with_few(
    outputs: Sequence[Sequence[str | None]], pairs: Counts, order: Counts, starts: Counts
) -> Counts:
    """The pairs that are seen to differ in few units, in text as long as that takes.

    Args:
        outputs: The lines of every system.
        pairs: (P, 2) systems.
        order: Lines, those of a unit together.
        starts: Where units begin in it.
    """
    ends = np.append(starts[1:], len(order))
    seen = np.zeros(len(pairs), int)
    first, count = 0, 4 * MOST_UNITS
    while first < len(starts) and len(pairs):
        last = min(first + count, len(starts))
        rows, begin = order[starts[first] : ends[last - 1]], starts[first:last] - starts[first]
        systems, place = np.unique(pairs, return_inverse=True)
        texts = [[outputs[system][row] for row in rows.tolist()] for system in systems.tolist()]
        words, characters = np.add.reduceat(_sizes(texts), begin, axis=2)
        at_once = max(1, COMPARED // words.shape[1])
        for some in range(0, len(pairs), at_once):
            a, b = place.reshape(-1, 2)[some : some + at_once].T
            unlike = (words[a] != words[b]) & (characters[a] != characters[b])
            seen[some : some + at_once] += unlike.sum(axis=1)
        few = seen <= MOST_UNITS
        pairs, seen = pairs[few], seen[few]
        first, count = last, 4 * count
    return pairs


def _sizes(outputs: Sequence[Sequence[str | None]]) -> Counts:
    """(2, S, n) words and characters of every line, without spaces; other threads run meanwhile."""
    sizes = np.zeros((2, len(outputs), len(outputs[0])), int)
    for s, output in enumerate(outputs):  # one at a time: it is large
        lines = code_points([f" {line or ''}" for line in output])  # no word crosses a space
        shown = ~SPACES[lines.symbols]
        for size, found in zip(sizes, (shown & ~np.roll(shown, 1), shown), strict=True):
            size[s] = np.add.reduceat(found, lines.starts[:-1], dtype=int)
    return sizes


def _units(part: Part) -> tuple[Counts, Counts]:
    """The rows of all replicas, those of a unit together; and where units begin."""
    rows = np.arange(part.segments * part.replicas)
    if part.recipe.unit != "document":
        return rows, rows
    replica = rows // part.segments
    unit = replica * part.document_count + np.tile(part.document_index, part.replicas)
    order = np.argsort(unit, kind="stable")
    return order, np.flatnonzero(np.diff(unit[order], prepend=-1))
