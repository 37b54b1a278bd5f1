"""One recipe on test sets and their systems, checked to fit each other; and how a request asks so.

One shape everywhere: see `sigtest.requests.comparisons`, whose models bring the shorter spellings
into the long one and check what needs no text. Here is what only the texts decide.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from sigtest.cached import cached_property
from sigtest.comparison import notes
from sigtest.comparison.plan import ClusteredError, Part, Plan
from sigtest.data.names import check_name, choose, require_distinct_names
from sigtest.data.runs import ALONE, Crossed, check_runs
from sigtest.data.testset import MetricOptions, System, TestSet, inferred_metrics
from sigtest.data.text import check_lines
from sigtest.errors import InputError, RecipeError, SigtestError, inside
from sigtest.metrics import METRICS
from sigtest.report import WarningReport, warned_of_names
from sigtest.requests import comparisons
from sigtest.requests.recipe import ANY_METRIC, Baseline, Choices, Recipe, of_labels
from sigtest.significance import CORRECTIONS, units_tests

MOST_NOTES, LONGEST_NOTE = 100, 2000
MOST_APART = 10_000_000  # systems times all their items: 160 MB

ITEMS_ALONE = WarningReport(
    "dependent-items",
    "Clusters are the unit: standard errors from the choice of items take items as independent, "
    "which those of one cluster may not be; clustered_stderr does not.",
)


@dataclass(frozen=True)
class ComparisonEntry:
    """One test set, and what the systems bring to it.

    Attributes:
        testset: References and documents.
        systems: In input order, which pairs keep.
        notes: Sentences about how it was read, which the report repeats.
        runs: What is known of runs whose means are the scores.
    """

    testset: TestSet
    systems: tuple[System, ...]
    notes: tuple[str, ...] = ()
    runs: tuple[Crossed, ...] = ()

    def check(self, recipe: Recipe, least: int = 1) -> None:
        """Check that test set, systems and recipe fit each other.

        Args:
            recipe: What to compute.
            least: Systems that there must be; one alone has scores and intervals.

        Raises:
            InputError: Too few systems, a name used twice, scores or texts missing, systems
                with different numbers of replicas, a document with several labels.
            LengthError: A system with more or fewer lines than the test set has segments.
            RecipeError: More systems than the family holds; an unknown baseline; documents or
                labels asked for and not known.
        """
        names = [system.name for system in self.systems]
        if len(names) < least:
            # of files, such as columns that were passed over
            told = "".join(f" {note}" for note in self.notes)
            raise InputError(
                f"A comparison needs at least {'one system' if least == 1 else 'two systems'}; "
                f"{len(names)} given.{told}",
                field="systems",
            )
        require_distinct_names(names)
        recipe.check_design()
        self.require_outputs(recipe)
        if recipe.design == "number" and self.testset.segments == 1 and not self.shares(recipe):
            raise InputError(
                f"One item says nothing of how scores vary; against {recipe.bar} bring more.",
                field="systems",
            )
        if recipe.family != "present" and recipe.family < len(names):
            raise RecipeError(
                f"A family of {recipe.family} systems cannot hold the {len(names)} that are given.",
                field="family",
            )
        for baseline in recipe.baselines:
            choose(baseline, names, "pairs", "baseline")
        require_units(self.testset, recipe)

    def shares(self, recipe: Recipe) -> tuple[str, ...]:
        """Labels of the metrics that are 0 or 1 for every item of every system."""
        own = [system for system in self.systems if system.name != str(recipe.bar)]
        labels = [notes.proportions_of(system, recipe) for system in own]
        return tuple(label for label in recipe.labels if all(label in known for known in labels))

    def require_outputs(self, recipe: Recipe) -> None:
        """Check that every system brings what is measured, and as many replicas as the first.

        Raises:
            InputError: See `check`.
        """
        first = self.systems[0]
        for i, system in enumerate(self.systems):
            try:
                self._require_output(system, recipe)
            except InputError as error:
                if error.field == "tests":
                    error.message = f"System {system.name!r}: {error.message}"
                    error.args, error.system, error.field = (error.message,), system.name, "scores"
                if error.system is not None:
                    error.field = f"systems[{i}].{error.field}"
                raise
        if len(first.runs) > 1 and recipe.by_word:
            raise RecipeError(
                "matched_pairs takes one output of each system; stretches of several training runs "
                "are not independent.",
                field="tests",
            )
        for system in self.systems:
            if len(system.runs) != len(first.runs):
                counts = [len(own.replicas) or "no" for own in (first, system)]
                raise InputError(
                    f"System {first.name!r} brings {counts[0]} replicas and system "
                    f"{system.name!r} {counts[1]} replicas; all systems must bring equally many.",
                    field="systems",
                    system=system.name,
                )

    def _require_output(self, system: System, recipe: Recipe) -> None:
        system.require_segments(self.testset.segments)
        for metric in recipe.metrics:
            for run in system.runs:
                metric.check(self.testset, run)
            # of others it takes long, and sums are units
            plain = metric.implementation == "supplied" and recipe.unit == "segment"
            if plain and len(system.runs) == 1 and system.name != str(recipe.bar):
                for test in units_tests(recipe.tests).values():
                    test.check(metric, metric.statistics(self.testset, system))

    def as_json(self, unpaired: bool = False) -> dict[str, Any]:
        """The fields of a JSON request that bring it; of each system those items that it has."""
        systems = [{"name": system.name, **system.as_json()} for system in self.systems]
        notes = {"notes": list(self.notes)} if self.notes else {}
        runs = {"runs": [asdict(own) for own in self.runs]} if self.runs else {}
        if unpaired:
            for system in systems:
                rows = [
                    i for i, own in enumerate(self.testset.labels or ()) if own == system["name"]
                ]
                for label, table in system.get("scores", {}).items():
                    system["scores"][label] = [table[i] for i in rows]
        return {**self.testset.as_json(), "systems": systems, **notes, **runs}

    def part(self, recipe: Recipe) -> Part:
        """What is left of it once its texts are measured."""
        systems = self.systems
        part = part_of(
            self.testset,
            recipe,
            systems=tuple(system.name for system in systems),
            digests=tuple(system.sha256 for system in systems),
            replicas=len(systems[0].runs),
        )
        proportions = self.shares(recipe)
        warnings = [
            *(WarningReport("reading", note) for note in self.notes),
            *notes.findings_of(self.testset, systems, recipe),
            *notes.exact_notes(proportions, len(systems), recipe),
            *notes.error_rates(systems, recipe),
            *notes.constant_means(self.testset, systems, proportions, recipe),
            *warned_of_names(part.systems),
            *([ITEMS_ALONE] if self.runs and recipe.unit == "document" else []),
        ]
        clustered = tuple(
            ClusteredError(system.name, label, stderr)
            for system in systems
            for label, stderr in notes.errors_of(
                self.testset, system, recipe, part.document_index
            ).items()
        )
        return replace(
            part,
            notes=tuple(warnings),
            proportions=proportions,
            runs=self.runs,
            clustered=clustered,
        )


@dataclass(frozen=True)
class Comparison:
    """Validated when made; everything that follows may trust it.

    Attributes:
        entries: One a test set: the same systems, in the same order.
        recipe: What to compute.
        names: Of the test sets, where there are several.
        pooled: Whether several test sets share a language and everything else that makes sums
            over them meaningful; scores of all together are means over test sets otherwise.
    """

    entries: tuple[ComparisonEntry, ...]
    recipe: Recipe
    names: tuple[str, ...] = ()
    pooled: bool = False

    def __post_init__(self) -> None:
        """Check everything that can be wrong.

        Raises:
            InputError: See `ComparisonEntry.check`; of several test sets, a name used twice, other
                systems or other numbers of replicas than the first test set has, pooled ones with
                other numbers of reference sets.
            LengthError: See `ComparisonEntry.check`.
            RecipeError: See `ComparisonEntry.check`; a correction or test that cannot span
                test sets.
        """
        fitted = self.recipe.fitted([entry.testset for entry in self.entries])
        object.__setattr__(self, "recipe", fitted)
        if not self.names:
            self.entries[0].check(self.recipe)
            return
        for name, count in Counter(self.names).items():
            if count > 1:
                raise InputError(f"Two test sets are named {name!r}.", field="testsets")
        if CORRECTIONS[self.recipe.correction].joint is not None:
            raise RecipeError(
                f"correction {self.recipe.correction} counts in the draws of one test set; for "
                "several take holm or another one that needs p-values only.",
                field="correction",
            )
        if self.recipe.design != "paired":
            raise RecipeError(
                "Several test sets are compared item by item; leave out unpaired and numbers.",
                field="pairs",
            )
        for test in units_tests(self.recipe.tests):
            raise RecipeError(
                f"{test} compares the units of one test set; for several take "
                "approximate_randomization or another test that draws.",
                field="tests",
            )
        for i, entry in enumerate(self.entries):
            with _in_testset(i, self.names[i]):
                entry.check(self.recipe, least=2)
            self._check_fit(i, entry)

    def _check_fit(self, i: int, entry: ComparisonEntry) -> None:
        """Compare one test set with the first."""
        first, name, first_name = self.entries[0], self.names[i], self.names[0]
        found, expected = (tuple(own.name for own in e.systems) for e in (entry, first))
        if found != expected:
            raise _other_systems((name, found), (first_name, expected))
        replicas, as_many = (len(own.systems[0].runs) for own in (entry, first))
        if replicas != as_many:
            raise InputError(
                f"Systems have {replicas} replicas on test set {name!r} and {as_many} "
                f"on {first_name!r}; every test set needs equally many.",
                field="testsets",
            )
        references, as_many = (len(own.testset.references) for own in (entry, first))
        if self.pooled and references != as_many:
            raise InputError(
                f"Test set {name!r} has {references} reference sets and {first_name!r} has "
                f"{as_many}; pooled test sets need equally many.",
                field="pooled",
            )

    @cached_property
    def plan(self) -> Plan:
        """What is left of the comparison once its texts are measured.

        Several test sets get as many resamples, from random streams of their own.
        """
        parts = [entry.part(self.recipe) for entry in self.entries]
        if not self.names:
            return Plan(tuple(parts))
        resamples = self.recipe.resolved(len(parts[0].pairs), len(parts) + 1)
        recipe = self.recipe.but(resamples=resamples)
        stream = 1
        for t, part in enumerate(parts):
            parts[t] = replace(part, recipe=recipe, stream=stream)
            stream += part.streams
        return Plan(tuple(parts), self.names, self.pooled)

    @property
    def statistic_count(self) -> int:
        """Numbers that all outputs are measured as, at most."""
        return sum(
            own.numbers(entry.testset) * len(entry.systems) * len(entry.systems[0].runs)
            for entry in self.entries
            for own in self.recipe.measured
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON request that asks for this comparison."""
        bodies = [entry.as_json(self.recipe.unpaired) for entry in self.entries]
        if not self.names:
            return {**bodies[0], **self.recipe.as_json()}
        testsets = [{"name": name, **body} for name, body in zip(self.names, bodies, strict=True)]
        return {"testsets": testsets, "pooled": self.pooled, **self.recipe.as_json()}


def part_of(
    testset: TestSet,
    recipe: Recipe,
    systems: tuple[str, ...],
    digests: tuple[str, ...],
    replicas: int,
) -> Part:
    """What is compared on a test set, from content hashes of the systems."""
    return Part(
        systems=systems,
        digests=digests,
        segments=testset.segments,
        references=len(testset.references),
        documents=testset.documents,
        labels=testset.labels if recipe.stratified or recipe.unpaired else None,
        replicas=replicas,
        testset=testset.sha256,
        recipe=recipe,
    )


def require_units(testset: TestSet, recipe: Recipe) -> None:
    """Check that a test set has the units that a recipe resamples, and the strata.

    Raises:
        RecipeError: Documents or labels asked for and not known; fewer units than a test needs.
        InputError: A document with several labels.
    """
    units = testset.segments
    if recipe.unit == "document":
        if testset.documents is None:
            raise RecipeError(
                "unit=document needs the document of every segment; give documents.", field="unit"
            )
        units = len(set(testset.documents))
    for name, test in units_tests(recipe.tests).items():
        if units < test.fewest_units:
            raise RecipeError(
                f"{name} needs at least {test.fewest_units} units (segments, data sets or folds); "
                f"{units} given.",
                field="tests",
            )
    if recipe.stratified:
        _require_strata(testset, recipe)


def _require_strata(testset: TestSet, recipe: Recipe) -> None:
    """Check that every unit of resampling lies in one stratum."""
    if testset.labels is None:
        raise RecipeError(
            "stratified needs the label of every segment; give labels.", field="stratified"
        )
    if recipe.unit != "document" or testset.documents is None:
        return
    label_of: dict[str, str] = {}
    for i, (document, label) in enumerate(zip(testset.documents, testset.labels, strict=True)):
        if label_of.setdefault(document, label) != label:
            raise InputError(
                f"Document {document!r} has segments labelled {label_of[document]!r} and {label!r} "
                f"(segment {i + 1}); a document that is a unit lies in one stratum.",
                field="labels",
                line=i + 1,
            )


@contextmanager
def _in_testset(i: int, name: str) -> Iterator[None]:
    """Errors of one test set of several say which."""
    try:
        with inside(f"testsets[{i}]"):
            yield
    except SigtestError as error:
        if isinstance(error, RecipeError) and error.field:  # choices stand beside the test sets
            error.field = error.field.removeprefix(f"testsets[{i}].")
        error.message = f"Test set {name!r}: {error.message}"
        error.args = (error.message,)
        raise


def _other_systems(
    found: tuple[str, tuple[str, ...]], wanted: tuple[str, tuple[str, ...]]
) -> InputError:
    """The error of a test set whose systems are not those of the first; each with its name."""
    (name, systems), (first, expected) = found, wanted
    if missing := [system for system in expected if system not in systems]:
        odd = missing[0]
        differs = f"lacks {', '.join(missing)}, which test set {first!r} has"
    elif further := [system for system in systems if system not in expected]:
        odd = further[0]
        differs = f"has {', '.join(further)}, which test set {first!r} lacks"
    else:
        place = next(i for i, system in enumerate(systems) if system != expected[i])
        odd = systems[place]
        differs = f"has {odd} where test set {first!r} has {expected[place]}"
    return InputError(
        f"Test set {name!r} {differs}; every test set needs the same systems, in the same order."
        f"{'' if set(systems) == set(expected) else ' Where they differ, compare on each alone.'}",
        field="testsets",
        system=odd,
    )


def parse_comparison(request: Mapping[str, Any]) -> Comparison:
    """The comparison that a request of the form of POST /v1/comparisons asks for.

    Raises:
        SigtestError: A field that is unknown, of the wrong type or out of range, or parts that do
            not fit each other; messages name the test set, the system and the line.
    """
    if not isinstance(request, Mapping):
        raise InputError("A comparison is asked for with a JSON object.")
    if "testsets" in request:
        return _of_several(comparisons.ComparedOnSeveralRequest.of(request))
    wanted = comparisons.ComparedRequest.of(request)
    for field in ("builtin", "testset"):
        if getattr(wanted, field) is not None:
            raise InputError(
                f"{field} names texts that only a service looks up; give references here.",
                field=field,
            )
    wanted.recipe()  # a wrong choice is cheaper to find than a wrong text
    if wanted.unpaired:
        _require_separate_items(wanted)
    wanted, entry = _met(wanted, _entry(wanted))
    recipe = _recipe(wanted, entry)
    if "tests" not in wanted.model_fields_set and recipe.design != "paired":
        recipe = _tested(entry, recipe.fitted([entry.testset]))
    return Comparison((entry,), recipe)


def _require_separate_items(wanted: comparisons.ComparedRequest) -> None:
    """Check that nothing is said of items that systems have in common.

    Raises:
        RecipeError: Something is; stored comparisons say by labels whose each item is.
    """
    for field in ("documents", "clusters", "labels", "source", "references"):
        if getattr(wanted, field) and not (field == "labels" and wanted.segments):
            why = (
                f"unpaired compares scores of items of each system's own, of which {field} say "
                f"nothing; leave {field} out."
            )
            raise RecipeError(ALONE if field in ("documents", "clusters") else why, field=field)


def _tested(entry: ComparisonEntry, recipe: Recipe) -> Recipe:
    """The recipe with the exact test of shares, or with that of other means.

    Raises:
        RecipeError: Some metrics are shares and others are not, so that no one test suits all.
    """
    if any(metric.name != ANY_METRIC for metric in recipe.metrics):
        return recipe  # refused where designs are checked
    entry.require_outputs(recipe)
    shares = entry.shares(recipe)
    exact = "fisher" if recipe.unpaired else "binomial"
    if others := [label for label in recipe.labels if shares and label not in shares]:
        raise RecipeError(
            f"{shares[0]} is 0 or 1 for every item and {others[0]} is not: ask for the metrics one "
            f"by one ({exact} suits the first), or name a test for all, such as bootstrap_t.",
            field="tests",
        )
    return recipe.but(tests=(exact if shares else "bootstrap_t",))


StoredComparison = Annotated[
    Comparison, PlainValidator(parse_comparison), PlainSerializer(Comparison.as_json)
]


def parse_named(body: Mapping[str, Any], what: str) -> Comparison:
    """The comparison in the field `comparison` of a request of another kind, on one test set.

    Args:
        what: Is about it.
        body: A request for one, or nothing but the `id` of a finished one, which a service has
            replaced by the comparison.

    Raises:
        SigtestError: No such comparison; errors name the field within `comparison`.
    """
    made = body.get("id")
    if made is None:
        with inside("comparison"):
            made = parse_comparison(body)
    elif not isinstance(made, Comparison):
        raise InputError(
            "comparison.id is the id of a comparison, which only a service can look up; give "
            "references and systems here.",
            field="comparison.id",
        )
    elif len(body) > 1:
        raise InputError(
            "comparison.id has its texts and its recipe; leave others out.", field="comparison.id"
        )
    if len(made.entries) > 1:
        raise RecipeError(f"{what} is about one test set.", field="comparison")
    if len(made.plan.pairs) < 1:
        raise InputError("The comparison has no pairs of systems.", field="comparison.systems")
    return made


def _of_several(wanted: comparisons.ComparedOnSeveralRequest) -> Comparison:
    wanted.recipe()
    if len(wanted.testsets) < 2:
        raise InputError(
            f"testsets needs at least two test sets; {len(wanted.testsets)} given. One is asked "
            "for without testsets.",
            field="testsets",
        )
    entries = []
    for i, testset in enumerate(wanted.testsets):
        check_name(testset.name, "test set", f"testsets[{i}].name")
        with _in_testset(i, testset.name):
            entries.append(_entry(testset))
    names = tuple(testset.name for testset in wanted.testsets)
    return Comparison(tuple(entries), _recipe(wanted, entries[0]), names, wanted.pooled)


def _entry(wanted: comparisons.EntryRequest) -> ComparisonEntry:
    """One test set and its systems; without references, scores say how many segments there are."""
    systems = comparisons.systems_of(wanted)
    lines = check_lines(wanted.notes if wanted.notes is not None else (), "notes", field="notes")
    cut = [n if len(n) <= LONGEST_NOTE else f"{n[: LONGEST_NOTE - 3]}..." for n in lines if n]
    more = len(cut) - MOST_NOTES + 1
    if more > 1:
        cut = [*cut[:-more], f"There are {more:,} more notes."]
    runs = tuple(Crossed(**dict(own)) for own in wanted.runs)
    check_runs(runs, [system.name for system in systems])
    segments = next((len(table) for own in systems for table in own.scores.values()), None)
    return ComparisonEntry(comparisons.testset_of(wanted, segments), systems, tuple(cut), runs)


def _met(
    wanted: comparisons.ComparedRequest, entry: ComparisonEntry
) -> tuple[comparisons.ComparedRequest, ComparisonEntry]:
    """A request, and systems that have items of their own, or a number beside them."""
    systems, testset = entry.systems, entry.testset
    names = [system.name for system in systems]
    given = [] if wanted.pairs == "all" else [*wanted.pairs.baseline]
    for i, own in enumerate(given):
        with suppress(ValueError):  # of names; the shell has numbers as words, too
            given[i] = own if own in names else float(own)
    bar = next((own for own in given if isinstance(own, float)), None)
    if bar is not None:  # whether another baseline is beside it is checked with the design
        wanted = wanted.model_copy(update={"pairs": Baseline.of({"baseline": given})})
        labels = dict.fromkeys(label for system in systems for label in system.scores)
        if labels and str(bar) not in names:
            scores = {label: [bar] * testset.segments for label in labels}
            systems = (*systems, System.of(str(bar), None, scores))
    if wanted.unpaired:
        systems, owners = _apart(systems)
        testset = replace(testset, segments=len(owners), labels=owners)
    return wanted, replace(entry, systems=systems, testset=testset)


def _apart(systems: Sequence[System]) -> tuple[tuple[System, ...], tuple[str, ...]]:
    """Systems with weight 0 on the items of others, and whose each item is.

    Raises:
        InputError: So many that their product takes too much memory; one item alone.
    """
    sizes = [max(map(len, own.scores.values()), default=0) for own in systems]
    total, start, made = sum(sizes), 0, []
    if total * len(systems) > MOST_APART:
        raise InputError(
            f"{len(systems)} systems with {total:,} items of their own are more than can be "
            "compared at once; leave some out.",
            field="systems",
        )
    for own, size in zip(systems, sizes, strict=True):
        if size == 1:
            raise InputError(
                f"System {own.name!r} has one item of its own; unpaired needs two "
                "of every system, or nothing says how its scores vary.",
                field="systems",
                system=own.name,
            )
        around = ((start, total - start - size), (0, 0))
        scores = {
            label: np.pad(rows if rows.shape[1] > 1 else np.insert(rows, 1, 1.0, axis=1), around)
            for label, rows in own.scores.items()
        }
        made.append(replace(own, scores=scores))
        start += size
    owners = np.repeat([own.name for own in systems], sizes)
    return tuple(made), tuple(owners.tolist())


def _recipe(wanted: Choices, entry: ComparisonEntry) -> Recipe:
    """The recipe with metrics by the names of scores, or those that nothing needs to name."""
    scores = {system.name: system.scores for system in entry.systems}
    texts = bool(entry.testset.references) and all(
        system.hypotheses is not None or system.replicas for system in entry.systems
    )
    if wanted.metrics is not None:
        labels: MetricOptions = {
            label: {}
            for own in scores.values()
            for label in own
            if not (texts and label.lower() in METRICS)
        }
        return wanted.recipe(of_labels(wanted.metrics, labels))
    return wanted.recipe(inferred_metrics(scores, texts))
