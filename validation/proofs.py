"""Parts 1 and 2: proof by exhaustion, invariances, textbook loops, other programs."""

from __future__ import annotations

from validation import addressed, again, exhaustion, fixtures, invariance, loops, peers, published
from validation.results import Part
from validation.settings import Settings


def exhaustive(settings: Settings) -> Part:
    """Part 1."""
    workers = settings.workers
    checks = (
        exhaustion.level_holds_exactly(settings.datasets, settings.exhausted, workers),
        exhaustion.exact_paths_agree(settings.datasets),
        exhaustion.convolution_is_exact(),
        exhaustion.exact_p_knows_no_unit(),
        exhaustion.resampled_agrees_with_exact(settings.datasets),
        published.fixtures_have_their_probabilities(),
        invariance.identical_systems_have_p_one(),
        invariance.identical_systems_have_exact_p_one(),
        invariance.p_is_never_zero(),
        invariance.order_of_segments_is_irrelevant(settings.datasets),
        invariance.order_of_systems_is_irrelevant(),
        invariance.opposite_claims_add_up(),
        invariance.blocks_are_irrelevant(workers),
        invariance.resamples_extend(),
        invariance.draws_are_fair(),
        invariance.large_sums_are_exact(),
        invariance.error_metrics_are_turned_round(),
        addressed.draws_are_addressed(),
        addressed.kinds_of_draws_differ(),
        addressed.strata_have_their_streams(),
        addressed.draws_are_fair_with_many_units(),
        addressed.sums_around_the_limit_are_exact(),
        addressed.columns_are_told_apart(),
        addressed.sums_of_fractions_are_exact(),
        again.every_swap_is_enumerated(),
        again.slack_is_that_of_rounding(),
        again.the_level_is_met(),
    )
    return Part(
        1,
        "Proof by exhaustion, and what p may not depend on",
        "Is randomization exact, without any simulation? Does p depend on order, blocks, workers?",
        checks,
        text=(
            "Under the null hypothesis all 2^n swapped data sets are equally probable. If, with "
            "each in turn taken for the observed one, at most j of them have p <= j/2^n, for every "
            "j, then P(p <= t) <= t for every t: a proof for these data, not an estimate.",
        ),
        headline=(
            f"On all 2^n swapped data sets (n up to {settings.exhausted}) the exact p-values keep "
            "every level exactly; p depends on nothing it should not."
        ),
    )


def textbook(settings: Settings) -> Part:
    """Part 2."""
    slow = not settings.quick
    checks = (
        loops.every_test_has_its_loop(),
        loops.counts_equal_plain_loops(
            settings.datasets, 16 if settings.quick else 40, 120, slow, settings.workers
        ),
        loops.p_values_follow_from_counts(),
        again.the_centre_is_that_of_all_draws(),
        again.ranks_follow_from_adjusted_p_values(),
        again.documents_and_replicas_equal_plain_loops(),
        again.max_t_steps_down(),
        peers.scipy_permutations_agree(settings.datasets),
        peers.scipy_bootstrap_agrees(),
        peers.sacrebleu_agrees(),
    )
    named = ", ".join(dict.fromkeys(metric.name for metric in fixtures.metrics(slow)))
    return Part(
        2,
        "Textbook loops and other programs",
        "Does the fast code compute what the papers print? What of SciPy and sacreBLEU?",
        checks,
        text=(
            "`validation/textbook.py` has the papers' figures as plain loops over resamples and "
            "segments; scores there come from sacreBLEU or from the published formula.",
        ),
        tables=(peers.differences_table(),),
        headline=f"Every count equals that of the papers' plain loops, for {named}.",
    )
