"""Part 3's section of the page: rejection rates, level by level."""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.decide.words import FEW_UNITS
from validation import calibration, figures
from validation.calibration import EXACT, Agreement, Cell
from validation.populations import TEXT_METRICS, Population
from validation.results import Check, Figure, Part, Table
from validation.settings import ALPHAS, FOUR_ERRORS, Settings

# A first laboratory run with BLEU before sigtest was written, two-sided, shifted bootstrap.
FIRST_RUN = {10: 0.103, 20: 0.076, 50: 0.062, 300: 0.055, 2000: 0.050}
TESTS_SHOWN = (
    "approximate_randomization",
    EXACT,
    "bootstrap",
    "paired_bootstrap",
    "riezler_maxwell_bootstrap",
)


def part(
    populations: list[Population], found: list[Cell], plain: list[Cell], settings: Settings
) -> Part:
    """Checks, tables and pictures of the calibration."""
    paired = calibration.agreements(found, plain)
    checks = (
        calibration.randomization_keeps_its_level(found),
        calibration.randomization_is_super_uniform(found),
        calibration.bootstraps_agree_with_plain_loops(paired),
        calibration.few_units_are_justified(found, FEW_UNITS),
    )
    described = "; ".join(
        f"{p.name}: {' and '.join(p.systems)}, {p.segments:,} segments" for p in populations
    )
    metrics = ", ".join(dict.fromkeys(label for p in populations for label in p.labels))
    return Part(
        3,
        "Calibration: how often a true null hypothesis is rejected",
        "Is p <= .05 really seen at most once in twenty when there is nothing to see?",
        checks,
        text=(
            "A null comparison is n segments drawn with replacement from two real systems' "
            "segments, the two exchanged on each segment with probability 1/2, so that neither is "
            f"better. Populations: {described}. Metrics: {metrics} (mean score: the mean of each "
            "segment's own chrF, a real number such as neural metrics give). Each of the "
            f"{settings.simulations:,} simulations of a cell has {settings.resamples:,} resamples "
            "of its own, drawn, scored and counted by the product's own code; all metrics, tests "
            f"and alternatives look at the same simulated data.{_absent(populations)}",
            "A rate is marked * when it lies above the binomial 1 - 1e-6 quantile of its level. "
            "Approximate randomization may have no such mark; a mark on a bootstrap is a finding, "
            "published and not hidden: it is why reports warn below "
            f"{FEW_UNITS} units. riezler_maxwell_bootstrap is there to reproduce the literature.",
        ),
        tables=(
            _glance(found),
            *(_level_table(found, test, settings.sizes) for test in TESTS_SHOWN),
            _uniformity(found),
            _agreement_table(paired),
        ),
        figures=_pictures(found, settings),
        headline=_headline(found, checks),
    )


def _absent(populations: list[Population]) -> str:
    """Which metrics could not be measured."""
    labels = {label for population in populations for label in population.labels}
    absent = [metric for metric in TEXT_METRICS if metric not in labels]
    return f" Not measured in this run: {', '.join(absent)}." if absent else ""


def _headline(found: list[Cell], checks: Sequence[Check]) -> str:
    worst = max(
        (cell for cell in found if cell.test == "approximate_randomization"),
        key=lambda cell: cell.rates[0],
    )
    held = "rejects no true null more often than it says" if checks[0].passed else "FAILS"
    return (
        f"Approximate randomization {held}: its highest rate at .05 in "
        f"{sum(c.test == 'approximate_randomization' for c in found)} cells of "
        f"{worst.simulations:,} simulations is {worst.rates[0]:.4f} "
        f"(limit {calibration.limit(0.05, worst.simulations):.4f}); the bootstraps do below "
        f"about {FEW_UNITS} units, as the reports warn."
    )


def _glance(found: list[Cell]) -> Table:
    """Smallest and largest two-sided rate at .05 by test and size."""
    sizes = sorted({cell.n for cell in found})
    rows = []
    for test in TESTS_SHOWN:
        row = [test]
        for n in sizes:
            rates = [
                cell.rates[0]
                for cell in found
                if (cell.test, cell.n, cell.alternative) == (test, n, "two-sided")
            ]
            row.append(f"{min(rates):.4f} to {max(rates):.4f}" if rates else "")
        rows.append(tuple(row))
    first = ["first laboratory run: bootstrap, BLEU"]
    rows.append((*first, *(f"{FIRST_RUN[n]:.3f}" if n in FIRST_RUN else "" for n in sizes)))
    return Table(
        "Size at a glance: two-sided rejection rate at .05, smallest to largest over metrics and "
        "populations",
        ("test", *(f"n = {n:,}" for n in sizes)),
        tuple(rows),
        "The test of 2005 has no two-sided version; its one formula is shown.",
    )


def _level_table(found: list[Cell], test: str, sizes: Sequence[int]) -> Table:
    """Every cell of one test: .05, .01 and .001 at every size."""
    groups: dict[tuple[str, str, str], dict[int, Cell]] = {}
    for cell in found:
        if cell.test == test:
            groups.setdefault((cell.population, cell.alternative, cell.metric), {})[cell.n] = cell
    rows = tuple(
        (*key, *(_rates(by_size[n]) if n in by_size else "" for n in sizes))
        for key, by_size in sorted(groups.items(), key=lambda item: item[0][:2])
    )
    simulations = max((cell.simulations for cell in found), default=1)
    errors = " / ".join(f"{(a * (1 - a) / simulations) ** 0.5:.4f}" for a in ALPHAS)
    return Table(
        f"{test}: rejection rates at .05 / .01 / .001",
        ("population", "alternative", "metric", *(f"n = {n:,}" for n in sizes)),
        rows,
        f"Binomial standard error of a rate that is as it should be: {errors}. * above the "
        f"limit ({_limits(simulations)}).",
    )


def _rates(cell: Cell) -> str:
    digits = (4, 4, 5)
    return " / ".join(
        f"{rate:.{d}f}".removeprefix("0") + ("*" if over else "")
        for rate, over, d in zip(cell.rates, cell.over, digits, strict=True)
    )


def _limits(simulations: int) -> str:
    return " / ".join(f"{calibration.limit(alpha, simulations):.5g}" for alpha in ALPHAS)


def _uniformity(found: list[Cell]) -> Table:
    """The largest excess of the distribution function over the diagonal."""
    rows = []
    for test in TESTS_SHOWN:
        for n in sorted({cell.n for cell in found}):
            cells = [cell for cell in found if cell.test == test and cell.n == n]
            if not cells:
                continue
            worst = max(cells, key=lambda cell: cell.excess)
            bound = calibration.dkw_bound(worst.simulations)
            over = sum(cell.excess > bound for cell in cells)
            rows.append(
                (test, f"{n:,}", f"{worst.excess:.4f}", f"{bound:.4f}", f"{over} of {len(cells)}")
            )
    return Table(
        "Super-uniformity: by how much F(t) exceeds t at the worst t of the worst cell",
        ("test", "n", "largest F(t) - t", "bound", "cells above the bound"),
        tuple(rows),
        "Bound: one-sided Dvoretzky-Kiefer-Wolfowitz at 1e-6. It binds approximate_randomization; "
        "the bootstraps are shown for comparison.",
    )


def _agreement_table(paired: list[Agreement]) -> Table:
    """Product and plain loops side by side at .05, by test and size; the worst cell of each."""
    groups: dict[tuple[str, str, int], list[Agreement]] = {}
    for pair in paired:
        if pair.alpha == ALPHAS[0]:
            key = (pair.product.test, pair.product.alternative, pair.product.n)
            groups.setdefault(key, []).append(pair)
    rows = []
    for (test, alternative, n), members in groups.items():
        worst = max(members, key=lambda pair: pair.errors)
        rows.append(
            (
                test,
                alternative,
                f"{n:,}",
                f"{worst.product.population}, {worst.product.metric}",
                f"{worst.product.rates[0]:.4f}",
                f"{worst.plain.rates[0]:.4f}",
                f"{worst.plain.simulations:,}",
                f"{worst.errors:.2f}",
            )
        )
    return Table(
        "The bootstraps against plain loops with another generator: rate at .05, the cell that "
        "differs most",
        ("test", "alternative", "n", "cell", "sigtest", "loops", "simulations", "standard errors"),
        tuple(rows),
        f"Every cell at every level has to be within {FOUR_ERRORS:.0f} standard errors.",
    )


def _pictures(found: list[Cell], settings: Settings) -> tuple[Figure, ...]:
    series = {}
    for test in TESTS_SHOWN:
        if test == EXACT:
            continue
        points = []
        for n in settings.sizes:
            rates = [
                cell.rates[0]
                for cell in found
                if (cell.test, cell.n, cell.alternative) == (test, n, "two-sided")
            ]
            points.append((float(n), sum(rates) / len(rates)))
        series[test] = points
    return (
        Figure(
            "size",
            figures.lines(
                series,
                "units n",
                "rate of p <= .05",
                levels={"nominal .05": 0.05},
                logarithmic=True,
            ),
            "Two-sided rejection rate of true null hypotheses at a nominal .05, mean over metrics "
            "and populations.",
        ),
    )
