"""One recipe on one test set and its systems, checked to fit each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sigtest.errors import InputError, RecipeError
from sigtest.plan import Plan
from sigtest.recipe import Recipe, choose
from sigtest.testset import System, TestSet
from sigtest.text import check_list

CONTENT = ("references", "systems", "documents", "segments")
CHOICES = (
    "metrics", "tests", "alternative", "resamples", "seed", "alpha", "correction", "pairs",
    "exact", "unit",
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
            InputError: Fewer than two systems, a name used twice, scores or texts missing.
            LengthError: A system with more or fewer lines than the test set has segments.
            RecipeError: An unknown baseline, documents asked for and not known.
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
                metric.check(self.testset, system)
        baseline = self.recipe.baseline
        if baseline is not None and baseline not in names:
            raise RecipeError(
                f"The baseline {baseline!r} is not one of the systems ({', '.join(names)}).",
                field="pairs",
            )
        if self.recipe.unit == "document" and self.testset.documents is None:
            raise RecipeError(
                "unit=document needs the document of every segment; give documents.", field="unit"
            )

    @cached_property
    def plan(self) -> Plan:
        """What is left of the comparison once its texts are measured."""
        return Plan(
            systems=tuple(system.name for system in self.systems),
            digests=tuple(system.sha256 for system in self.systems),
            segments=self.testset.segments,
            references=len(self.testset.references),
            documents=self.testset.documents,
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
            _system_of(body, f"systems[{i}]")
            for i, body in enumerate(check_list(request["systems"], "systems"))
        )
        references = request.get("references", [])
        segments = request.get("segments")
        if not references and segments is None:
            segments = _segments_of_scores(systems)
        return cls(
            TestSet.of(references, request.get("documents"), segments),
            systems,
            Recipe.of({name: request[name] for name in CHOICES if name in request}),
        )


def _system_of(body: object, path: str) -> System:
    """One entry of `systems`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name and hypotheses.", field=path)
    for name in body:
        choose(name, ("name", "hypotheses", "scores"), f"{path}.{name}", "field of a system")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    try:
        return System.of(body["name"], body.get("hypotheses"), body.get("scores"))
    except InputError as error:
        error.field = f"{path}.{error.field}"
        raise


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
    if system.scores:
        body["scores"] = {
            label: (table[:, 0] if table.shape[1] == 1 else table).tolist()
            for label, table in system.scores.items()
        }
    return body
