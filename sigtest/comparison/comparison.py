"""One recipe on test sets and their systems, checked to fit each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from sigtest.cached import cached_property
from sigtest.comparison import proportions
from sigtest.comparison.clusters import ClusteredError, errors_of
from sigtest.comparison.findings import findings_of
from sigtest.comparison.plan import Part, Plan
from sigtest.data.choices import choose
from sigtest.data.names import check_name, look_alikes, require_own_names, summaries
from sigtest.data.runs import Crossed
from sigtest.data.testset import System, TestSet
from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.requests.recipe import Recipe
from sigtest.significance import CORRECTIONS, own_tests

ITEMS_ALONE = (
    "Clusters are the unit: standard errors from the choice of items take items as independent, "
    "which those of one cluster may not be; clustered_stderr does not."
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
        require_own_names(names)
        for i, system in enumerate(self.systems):
            with _in_system(i):
                system.require_segments(self.testset.segments)
                for metric in recipe.metrics:
                    for run in system.runs:
                        metric.check(self.testset, run)
        _require_equal_replicas(self.systems)
        if recipe.family != "present" and recipe.family < len(names):
            raise RecipeError(
                f"A family of {recipe.family} systems cannot hold the {len(names)} that are given.",
                field="family",
            )
        if recipe.baseline is not None:
            choose(recipe.baseline, names, "pairs", "baseline")
        require_units(self.testset, recipe)

    def as_json(self) -> dict[str, Any]:
        """The fields of a JSON request that bring it."""
        systems = [{"name": system.name, **system.as_json()} for system in self.systems]
        notes = {"notes": list(self.notes)} if self.notes else {}
        runs = {"runs": [asdict(own) for own in self.runs]} if self.runs else {}
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
        found = findings_of(self.testset, systems, recipe)
        right = {system.name: proportions.right_of(system, recipe) for system in systems}
        labels = proportions.labels_of([*right.values()], recipe)
        said = [finding.sentence for finding in found]
        said += proportions.notes_of(right, part.segments, recipe)
        said += proportions.counted_errors(systems, recipe)
        said += [*look_alikes(part.systems), *summaries(part.systems)]
        notes = (*self.notes, *said)
        if self.runs and recipe.unit == "document":
            notes = (*notes, ITEMS_ALONE)
        clustered = tuple(
            ClusteredError(system.name, label, stderr)
            for system in systems
            for label, stderr in errors_of(
                self.testset, system, recipe, part.document_index
            ).items()
        )
        return replace(part, notes=notes, proportions=labels, runs=self.runs, clustered=clustered)


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
        if len(self.names) < 2:
            raise InputError(
                f"testsets needs at least two test sets; {len(self.names)} given.",
                field="testsets",
            )
        for name, count in Counter(check_name(name, "test set") for name in self.names).items():
            if count > 1:
                raise InputError(f"Two test sets are named {name!r}.", field="testsets")
        self._check_correction()
        for i, entry in enumerate(self.entries):
            self._check_entry(i, entry)
            self._check_fit(i, entry)

    def _check_correction(self) -> None:
        if CORRECTIONS[self.recipe.correction].joint is not None:
            raise RecipeError(
                f"correction {self.recipe.correction} counts in the draws of one test set; for "
                "several take holm or another one that needs p-values only.",
                field="correction",
            )
        for test in own_tests(self.recipe.tests):
            raise RecipeError(
                f"{test} compares the units of one test set; for several take "
                "approximate_randomization or another test that draws.",
                field="tests",
            )

    def _check_entry(self, i: int, entry: ComparisonEntry) -> None:
        """Check one test set of several; the error says which."""
        try:
            entry.check(self.recipe, least=2)
        except SigtestError as error:
            path = f"testsets[{i}]"
            if not isinstance(error, RecipeError):
                error.field = f"{path}.{error.field}" if error.field else path
            error.message = f"Test set {self.names[i]!r}: {error.message}"
            error.args = (error.message,)
            raise

    def _check_fit(self, i: int, entry: ComparisonEntry) -> None:
        """Compare one test set with the first."""
        first, name = self.entries[0], self.names[i]
        found = tuple(system.name for system in entry.systems)
        wanted = tuple(system.name for system in first.systems)
        if found != wanted:
            raise _other_systems((name, found), (self.names[0], wanted))
        replicas, expected = (len(own.systems[0].runs) for own in (entry, first))
        if replicas != expected:
            raise InputError(
                f"Systems have {replicas} replicas on test set {name!r} and {expected} "
                f"on {self.names[0]!r}; every test set needs equally many.",
                field="testsets",
            )
        references, expected = (len(own.testset.references) for own in (entry, first))
        if self.pooled and references != expected:
            raise InputError(
                f"Test set {name!r} has {references} reference sets and {self.names[0]!r} has "
                f"{expected}; pooled test sets need equally many.",
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

    def as_json(self) -> dict[str, Any]:
        """The JSON request that asks for this comparison."""
        bodies = [entry.as_json() for entry in self.entries]
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
        labels=testset.labels if recipe.stratified else None,
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
    for name, test in own_tests(recipe.tests).items():
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
    if recipe.unit == "segment" or testset.documents is None:
        return
    label_of: dict[str, str] = {}
    for i, (document, label) in enumerate(zip(testset.documents, testset.labels, strict=True)):
        if label_of.setdefault(document, label) != label:
            raise InputError(
                f"Document {document!r} has segments labelled {label_of[document]!r} and {label!r} "
                f"(segment {i + 1}); with unit=document a document lies in one stratum.",
                field="labels",
                line=i + 1,
            )


@contextmanager
def _in_system(place: int) -> Iterator[None]:
    """Errors about a system name its fields as they stand in a request."""
    try:
        yield
    except InputError as error:
        if error.system is not None:
            error.field = f"systems[{place}].{error.field}"
        raise


def _require_equal_replicas(systems: Sequence[System]) -> None:
    """Check that what is exchanged between two systems is one replica for one replica."""
    first = systems[0]
    for system in systems:
        if len(system.runs) != len(first.runs):
            raise InputError(
                f"System {first.name!r} brings {_replicas(first)} and system {system.name!r} "
                f"{_replicas(system)}; all systems must bring equally many.",
                field="systems",
                system=system.name,
            )


def _replicas(system: System) -> str:
    return f"{len(system.replicas)} replicas" if system.replicas else "no replicas"


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
