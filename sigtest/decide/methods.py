"""What a paper says of how the numbers came about: sentences with citations, and what they cite."""

from __future__ import annotations

from collections.abc import Sequence

from sigtest.comparison.plan import Part, Plan
from sigtest.decide.decisions import Limit
from sigtest.metrics import Metric
from sigtest.metrics.scores import Supplied
from sigtest.report import Methods, PairReport
from sigtest.report.methods import Sources, listed
from sigtest.significance import CORRECTIONS, TESTS, SignificanceTest, swap_test

CLAIMS = {
    "two-sided": "two-sided",
    "greater": "one-sided with the claim that the first system of a pair is better",
    "less": "one-sided with the claim that the first system of a pair is worse",
}
INTERVALS = {
    "percentile": ("efron-tibshirani-1993-introduction", "koehn-2004-statistical"),
    "bootstrap_t": ("hall-1988-theoretical", "davison-hinkley-1997-bootstrap"),
}
ENUMERATED = ("riezler-maxwell-2005-pitfalls", "zmigrod-etal-2022-exact")


def methods_of(plan: Plan, pairs: Sequence[PairReport]) -> Methods:
    """What a paper says of a comparison.

    Args:
        plan: What was compared.
        pairs: What came out, which says where p-values are exact.
    """
    sources = Sources()
    sentences = [_data(plan), _metrics(plan, sources)]
    if pairs:
        sentences += [_tests(plan, sources), *_p_values(plan, pairs, sources)]
        recipe = plan.recipe
        limit = Limit(recipe.correction, recipe.alpha, plan.comparisons)
        systems = None if recipe.family == "present" else recipe.family
        sentences.append(_decisions(limit, systems, sources))
        if recipe.baseline is None:
            cited = sources.cite("mogstad-etal-2024-inference")
            sentences.append(f"Ranges of ranks follow from all decisions together{cited}.")
    sentences.append(_intervals(plan, sources))
    if shares := sorted({label for part in plan.parts for label in part.proportions}):
        cited = sources.cite("wilson-1927-probable")
        sentences.append(f"Shares of segments ({listed(shares)}) have score intervals, too{cited}.")
    return sources.methods(sentences)


def _data(plan: Plan) -> str:
    """Sizes of the test sets, and how several are put together."""
    size = f"{len(plan.systems)} system{'' if len(plan.systems) == 1 else 's'}"
    runs = plan.parts[0].replicas
    of = f", each with the outputs of {runs} training runs," if runs > 1 else ""
    if not plan.names:
        return f"We evaluated {size}{of} on {_size(plan.parts[0])}."
    sets = [f"{name} ({_size(part)})" for name, part in zip(plan.names, plan.parts, strict=True)]
    whole = "one test set" if plan.pooled else "means over the test sets"
    return (
        f"We evaluated {size}{of} on {listed(sets)}; scores of all together are those of {whole}."
    )


def _size(part: Part) -> str:
    counts = [(part.segments, "segment")]
    if part.document_count:
        counts.append((part.document_count, "document"))
    if part.references:
        counts.append((part.references, "reference"))
    return listed([f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts])


def _metrics(plan: Plan, sources: Sources) -> str:
    part = plan.parts[0]
    named = zip(plan.recipe.labels, plan.recipe.metrics, strict=True)
    return f"We report {listed([_metric(label, m, part, sources) for label, m in named])}."


def _metric(label: str, metric: Metric, part: Part, sources: Sources) -> str:
    if isinstance(metric, Supplied):
        return f"{label}, the {metric.title}"
    cited = sources.cite(*metric.papers)
    return f"{metric.title or label}{cited} with signature {metric.signature(part.references)}"


def _tests(plan: Plan, sources: Sources) -> str:
    """Which tests, on what units, against which alternative."""
    recipe, part = plan.recipe, plan.parts[0]
    tests = [TESTS[name] for name in recipe.tests]
    named = [f"{test.words}{sources.cite(*test.papers)}" for test in tests]
    which = (
        "all pairs of systems" if recipe.baseline is None else f"every system and {recipe.baseline}"
    )
    drawn = f", with {part.resamples:,} resamples (seed {recipe.seed})"
    resampled = any(test.draws != "none" for test in tests)
    orders = ", each in both orders" if recipe.both_claims else ""
    strata = " within the segments of each label" if recipe.stratified else ""
    runs = f"{recipe.unit} with all its training runs" if part.replicas > 1 else recipe.unit
    if part.replicas > 1 and swap_test(recipe.tests):
        strata += f", that of exchange the {recipe.unit} of one training run"
    drawn_in = ""
    if recipe.alternative != "two-sided" and any(test.draws == "studentised" for test in tests):
        drawn_in = (
            " As one-sided claims err under heavy tails, the studentised difference is drawn in by "
            f"the term of second order{sources.cite('hall-1988-theoretical')}."
        )
    return (
        f"Differences between {which}{orders} were tested by {listed(named)}, "
        f"{CLAIMS[recipe.alternative]}{drawn if resampled else ''}; "
        f"the unit of inference is the {runs}{strata}.{drawn_in} {_nulls(tests)}"
    )


def _nulls(tests: Sequence[SignificanceTest]) -> str:
    """What each test takes for granted until it is rejected."""
    told: dict[str, list[str]] = {}
    for test in tests:
        told.setdefault(test.null, []).append(test.words)
    if len(told) == 1:
        return f"The null hypothesis is that of {next(iter(told))}."
    each = [f"{null} ({listed(own)})" for null, own in told.items()]
    return f"The null hypotheses are those of {listed(each)}."


def _p_values(plan: Plan, pairs: Sequence[PairReport], sources: Sources) -> list[str]:
    """How p-values follow from draws, where some do."""
    drawn = {name for name in plan.recipe.tests if TESTS[name].draws != "none"}
    exact = {pair.exact for pair in pairs if pair.test in drawn}
    sentences = []
    if False in exact:
        cited = sources.cite("phipson-smyth-2010-permutation")
        tests = [TESTS[name] for name in plan.recipe.tests if name in drawn]
        doubled = [test.words for test in tests if test.sides(plan.recipe.alternative) > 1]
        twice = f", twice that for {listed(doubled)}" if doubled else ""
        sentences.append(f"Estimated p-values are (count + 1) / (resamples + 1){cited}{twice}.")
    if True in exact:
        where = "All p-values are" if exact == {True} else "Where the report says so, p-values are"
        cited = sources.cite(*ENUMERATED)
        sentences.append(f"{where} exact: every exchange of two systems' outputs counts{cited}.")
    return sentences


def _decisions(limit: Limit, systems: int | None, sources: Sources) -> str:
    """What is called significant; `systems` says how many there may be, where some may come."""
    correction = CORRECTIONS[limit.correction]
    called = f"a difference is called significant where that p is at most {limit.alpha:g}"
    if limit.correction == "none":
        return f"P-values are not corrected for multiple comparisons; {called}."
    coming = f", those of {systems} systems, of which some may come later," if systems else ""
    if limit.family == 1:
        return f"One comparison per metric and test needs no correction; {called}."
    return (
        f"P-values are corrected for {limit.family:,} comparisons per metric and test{coming} "
        f"by the method of {correction.title}{sources.cite(*correction.papers)}; {called}."
    )


def decided_anew(methods: Methods, old: Limit, new: Limit, systems: int | None) -> Methods | None:
    """The same methods with other decisions; nothing where the sentence about these is not there.

    Args:
        methods: Of a report.
        old: How it was decided.
        new: How it is decided now.
        systems: How many there may be, where some may come later.
    """
    before, now = Sources(), Sources()
    sentence, other = _decisions(old, systems, before), _decisions(new, systems, now)
    if sentence not in methods.text:
        return None
    text = methods.text.replace(sentence, other)
    known = {own.key: own for own in methods.references} | now.cited
    cited = [own for own in known.values() if own.cited in text]
    return Methods(text, tuple(sorted(cited, key=lambda own: text.index(own.cited))))


def _intervals(plan: Plan, sources: Sources) -> str:
    level = f"{round(100 * (1 - plan.recipe.alpha), 6):g}"
    drawn = f"{plan.resamples:,} bootstrap resamples"
    cited = sources.cite(*INTERVALS[plan.recipe.interval])
    kind = plan.recipe.interval.replace("_", "-")
    return f"Intervals are {level} % {kind} intervals of {drawn}{cited}."
