"""One recipe on one test set and its systems, checked to fit each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sigtest.comparison.plan import Plan
from sigtest.comparison.recipe import Recipe
from sigtest.data.choices import choose
from sigtest.data.testset import System, TestSet
from sigtest.data.text import check_list
from sigtest.errors import InputError, RecipeError

CONTENT = ("references", "systems", "documents", "labels", "segments")
SYSTEM = ("name", "hypotheses", "replicas", "scores")
CHOICES = (
    "metrics", "tests", "alternative", "resamples", "seed", "alpha", "correction", "pairs",
    "exact", "unit", "stratified",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Validated when made; everything that follows may trust it.

    Attributes:
        testset: References and documents.
        systems: In input order, which pairs keep.
        recipe: What to compute.
    """

    testset: TestSet
    systems: tuple[System, ...]
    recipe: Recipe

    def __post_init__(self) -> None:
        """Check that test set, systems and recipe fit each other.

        Raises:
            InputError: Fewer than two systems, a name used twice, scores or texts missing, systems
                with different numbers of replicas, a document with several labels.
            LengthError: A system with more or fewer lines than the test set has segments.
            RecipeError: An unknown baseline, documents or labels asked for and not known.
        """
        names = [system.name for system in self.systems]
        if len(names) < 2:
            raise InputError(
                f"A comparison needs at least two systems; {len(names)} given.", field="systems"
            )
        for name, count in Counter(names).items():
            if count > 1:
                raise InputError(
                    f"Two systems are named {name!r}; every system needs its own name.",
                    field="systems",
                    system=name,
                )
        for system in self.systems:
            system.require_segments(self.testset.segments)
            for metric in self.recipe.metrics:
                metric.check(self.testset, system.runs[0])
        _require_equal_replicas(self.systems)
        baseline = self.recipe.baseline
        if baseline is not None and baseline not in names:
            raise RecipeError(
                f"The baseline {baseline!r} is not one of the systems ({', '.join(names)}).",
                field="pairs",
            )
        require_units(self.testset, self.recipe)

    @cached_property
    def plan(self) -> Plan:
        """What is left of the comparison once its texts are measured."""
        return Plan(
            systems=tuple(system.name for system in self.systems),
            digests=tuple(system.sha256 for system in self.systems),
            segments=self.testset.segments,
            references=len(self.testset.references),
            documents=self.testset.documents,
            labels=self.testset.labels if self.recipe.stratified else None,
            replicas=len(self.systems[0].runs),
            testset=self.testset.sha256,
            recipe=self.recipe,
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON request that `of` turns into this comparison."""
        body: dict[str, Any] = {
            "references": [list(text.lines) for text in self.testset.references],
            "systems": [_system_as_json(system) for system in self.systems],
            **self.recipe.as_json(),
        }
        if not self.testset.references:
            body["segments"] = self.testset.segments
        if self.testset.documents is not None:
            body["documents"] = list(self.testset.documents)
        if self.testset.labels is not None:
            body["labels"] = list(self.testset.labels)
        return body

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Comparison:
        """Build a comparison from a JSON request of the form of POST /v1/comparisons.

        Raises:
            SigtestError: See the parts.
        """
        if not isinstance(request, Mapping):
            raise InputError("A comparison is asked for with a JSON object.")
        for name in request:
            choose(name, CONTENT + CHOICES, name, "field")
        if "systems" not in request:
            raise InputError("systems is missing: a list of systems.", field="systems")
        systems = tuple(
            system_of(body, f"systems[{i}]")
            for i, body in enumerate(check_list(request["systems"], "systems"))
        )
        content = dict(request)
        if not request.get("references") and request.get("segments") is None:
            content["segments"] = _segments_of_scores(systems)
        return cls(
            testset_of(content),
            systems,
            Recipe.of({name: request[name] for name in CHOICES if name in request}),
        )


def testset_of(body: Mapping[str, Any]) -> TestSet:
    """The test set of a JSON request."""
    return TestSet.of(
        body.get("references", []),
        documents=body.get("documents"),
        segments=body.get("segments"),
        labels=body.get("labels"),
    )


def system_of(body: object, path: str) -> System:
    """One entry of `systems`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name and hypotheses.", field=path)
    for name in body:
        choose(name, SYSTEM, f"{path}.{name}", "field of a system")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    try:
        return System.of(
            body["name"], body.get("hypotheses"), body.get("scores"), body.get("replicas")
        )
    except InputError as error:
        error.field = f"{path}.{error.field}"
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


def require_units(testset: TestSet, recipe: Recipe) -> None:
    """Check that a test set has the units that a recipe resamples, and the strata.

    Raises:
        RecipeError: Documents or labels asked for and not known.
        InputError: A document with several labels.
    """
    if recipe.unit == "document" and testset.documents is None:
        raise RecipeError(
            "unit=document needs the document of every segment; give documents.", field="unit"
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


def _segments_of_scores(systems: Sequence[System]) -> int | None:
    """Where there are no references, the first system's scores say how many segments there are."""
    for system in systems:
        for table in system.scores.values():
            return len(table)
    return None


def _system_as_json(system: System) -> dict[str, Any]:
    body: dict[str, Any] = {"name": system.name}
    if system.hypotheses is not None:
        body["hypotheses"] = list(system.hypotheses.lines)
    if system.replicas:
        body["replicas"] = [list(text.lines) for text in system.replicas]
    if system.scores:
        body["scores"] = {
            label: (table[:, 0] if table.shape[1] == 1 else table).tolist()
            for label, table in system.scores.items()
        }
    return body
