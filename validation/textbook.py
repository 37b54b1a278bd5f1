"""The significance tests as the papers print them: plain loops over resamples and segments.

Nothing of sigtest is used here. Draws and scores come as arguments; a loop that should differ
from the print says why. Scores are oriented by the caller: greater is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sigtest.arrays import Array

Score = Callable[[Array], float]


def approximate_randomization(
    score: Score, x: Sequence[Array], y: Sequence[Array], kept: Sequence[Sequence[bool]]
) -> dict[str, int]:
    """Riezler & Maxwell (2005), Figure 1; one-sided as Graham et al. (2014), Figure 2.

    Args:
        score: Of summed statistics.
        x: (n, k) statistics of the first system.
        y: (n, k) of the second.
        kept: For each of R rounds, which segments keep their labels.

    Returns:
        Counts by alternative.
    """
    observed = score(total(x)) - score(total(y))
    slack = _slack(score, x, y)
    count = {"two-sided": 0, "greater": 0, "less": 0}
    for flags in kept:
        shuffled_x, shuffled_y = [], []
        for i, keep in enumerate(flags):
            shuffled_x.append(x[i] if keep else y[i])
            shuffled_y.append(y[i] if keep else x[i])
        difference = score(total(shuffled_x)) - score(total(shuffled_y))
        if abs(difference) >= abs(observed) - slack:
            count["two-sided"] += 1
        if difference >= observed - slack:
            count["greater"] += 1
        if difference <= observed + slack:
            count["less"] += 1
    return count


def resampled_differences(
    score: Score, x: Sequence[Array], y: Sequence[Array], drawn: Sequence[Sequence[int]]
) -> list[float]:
    """S_Xb - S_Yb of each resample; X and Y are resampled together.

    Args:
        score: Of summed statistics.
        x: (n, k) statistics of the first system.
        y: (n, k) of the second.
        drawn: For each of B rounds, the n segments drawn with replacement.
    """
    found = []
    for segments in drawn:
        resampled_x = [x[i] for i in segments]
        resampled_y = [y[i] for i in segments]
        found.append(score(total(resampled_x)) - score(total(resampled_y)))
    return found


def bootstrap(
    score: Score, x: Sequence[Array], y: Sequence[Array], drawn: Sequence[Sequence[int]]
) -> dict[str, int]:
    """Graham, Mathur & Baldwin (2014), Figure 1 (two-sided) and Figure 3 (one-sided).

    Their tau estimates the mean of the bootstrap distribution; of means of segments that all weigh
    the same that is the observed difference itself.
    """
    differences = resampled_differences(score, x, y, drawn)
    observed = score(total(x)) - score(total(y))
    tau = sum(differences) / len(differences)
    if _is_mean(score, x) and _is_mean(score, y):
        tau = observed
    slack = _slack(score, x, y)
    count = {"two-sided": 0, "greater": 0, "less": 0}
    for difference in differences:
        if abs(difference - tau) >= abs(observed) - slack:
            count["two-sided"] += 1
        if difference - tau >= observed - slack:
            count["greater"] += 1
        if difference - tau <= observed + slack:
            count["less"] += 1
    return count


def bootstrap_t(
    score: Score, x: Sequence[Array], y: Sequence[Array], drawn: Sequence[Sequence[int]]
) -> dict[str, int]:
    """Davison & Hinkley (1997), section 5.2: influence values of the resample's own units.

    One-sided, resamples count as far out as the heavy tails of these ask for (Hall 1988).
    """
    values = [a - b for a, b in zip(_influence(score, x), _influence(score, y), strict=True)]
    difference = score(total(x)) - score(total(y))
    observed = _over(difference, _standard_error(values), _slack(score, x, y))
    slack = 1e-7 * abs(observed)  # influence values come from nearby weights
    tails = _heaviness(values)
    count = {"two-sided": 0, "greater": 0, "less": 0}
    found = resampled_differences(score, x, y, drawn)
    for resampled, segments in zip(found, drawn, strict=True):
        own_x, own_y = (_influence(score, [rows[i] for i in segments]) for rows in (x, y))
        error = _standard_error([a - b for a, b in zip(own_x, own_y, strict=True)])
        t = _over(resampled - difference, error, _slack(score, x, y))
        if abs(t) >= abs(observed) - slack:
            count["two-sided"] += 1
        t += tails * (t + 2 * t**3) / 6 if abs(t) < 1e90 else 0.0
        if t >= observed - slack:
            count["greater"] += 1
        if t <= observed + slack:
            count["less"] += 1
    return count


def _heaviness(values: Sequence[float]) -> float:
    """Kurtosis less 1.5 times squared skewness, over n: what jackknifing leaves of it, if any."""
    n = len(values)
    left_out = [_excess([*values[:i], *values[i + 1 :]]) for i in range(n)]
    return max(0.0, n * _excess(values) - (n - 1) * sum(left_out) / n) / n


def _excess(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    second, third, fourth = (sum((v - mean) ** k for v in values) / len(values) for k in (2, 3, 4))
    return fourth / second**2 - 3 - 1.5 * third**2 / second**3 if second > 0 else 0.0


def _influence(score: Score, x: Sequence[Array]) -> list[float]:
    """How fast the score moves where a segment is weighted more, from two nearby weights."""
    values = []
    for row in x:
        step = 1e-4
        up, down = score(total(x) + step * row), score(total(x) - step * row)
        values.append((up - down) / (2 * step))
    return values


def _standard_error(values: Sequence[float]) -> float:
    """Of the sum of values that were drawn independently."""
    n = len(values)
    mean = sum(values) / n
    variance = n / (n - 1) * sum((value - mean) ** 2 for value in values)
    return variance**0.5 if variance > 1e-12 * sum(value**2 for value in values) else 0.0


def _over(moved: float, error: float, slack: float) -> float:
    """In standard errors; far away where nothing varies and yet it moved."""
    if error > 0:
        return moved / error
    return 0.0 if abs(moved) <= slack else 1e300 if moved > 0 else -1e300


def paired_bootstrap(
    score: Score, x: Sequence[Array], y: Sequence[Array], drawn: Sequence[Sequence[int]]
) -> dict[str, int]:
    """Koehn (2004); Graham et al. (2014), Figure 4, with <= where it prints <.

    With <, identical systems have p = 0. Two-sided is the smaller of the two counts.
    """
    slack = _slack(score, x, y)
    count = {"two-sided": 0, "greater": 0, "less": 0}
    for difference in resampled_differences(score, x, y, drawn):
        if difference <= slack:
            count["greater"] += 1
        if difference >= -slack:
            count["less"] += 1
    count["two-sided"] = min(count["greater"], count["less"])
    return count


def riezler_maxwell_bootstrap(
    score: Score, x: Sequence[Array], y: Sequence[Array], drawn: Sequence[Sequence[int]]
) -> dict[str, int]:
    """Riezler & Maxwell (2005), Figure 2, as printed: absolute values, then the shift."""
    lengths = [abs(d) for d in resampled_differences(score, x, y, drawn)]
    tau = sum(lengths) / len(lengths)
    observed = abs(score(total(x)) - score(total(y)))
    slack = _slack(score, x, y)
    count = 0
    for length in lengths:
        if length - tau >= observed - slack:
            count += 1
    return {"two-sided": count}


def total(rows: Sequence[Array]) -> Array:
    """The rows added up, one by one."""
    added = rows[0]
    for row in rows[1:]:
        added = added + row
    return added


def _is_mean(score: Score, x: Sequence[Array]) -> bool:
    """Whether any two segments together score halfway between what each scores alone."""
    alone = [score(row) for row in x]
    return all(
        abs(score(x[i] + x[j]) - (alone[i] + alone[j]) / 2) <= 1e-9
        for i in range(len(x))
        for j in range(i)
    )


def _slack(score: Score, x: Sequence[Array], y: Sequence[Array]) -> float:
    """What rounding may add: sigtest documents 1e-9 of the larger score."""
    return 1e-9 * max(abs(score(total(x))), abs(score(total(y))))
