"""From a request, as JSON or a notebook has it, to a comparison.

One shape everywhere: see `sigtest.requests.comparisons`, whose models bring the shorter spellings
into the long one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

from sigtest.comparison.comparison import Comparison, ComparisonEntry
from sigtest.data.inferred import MetricOptions, inferred_metrics
from sigtest.data.names import check_name
from sigtest.data.runs import parse_runs
from sigtest.data.testset import System
from sigtest.data.text import check_lines
from sigtest.errors import InputError, SigtestError, inside
from sigtest.requests.comparisons import ComparedOnSeveralRequest, ComparedRequest
from sigtest.requests.recipe import Choices, Recipe, of_labels
from sigtest.requests.testsets import EntryRequest, systems_of, testset_of

MOST_NOTES, LONGEST_NOTE = 100, 2000


def parse_comparison(request: Mapping[str, Any]) -> Comparison:
    """The comparison that a request of the form of POST /v1/comparisons asks for.

    Raises:
        SigtestError: A field that is unknown, of the wrong type or out of range, or parts that do
            not fit each other; messages name the test set, the system and the line.
    """
    if not isinstance(request, Mapping):
        raise InputError("A comparison is asked for with a JSON object.")
    if "testsets" in request:
        return _of_several(ComparedOnSeveralRequest.of(request))
    if "pooled" in request:
        raise InputError(
            "pooled goes with testsets, which brings several; leave it out for one test set.",
            field="pooled",
        )
    wanted = ComparedRequest.of(request)
    for field in ("builtin", "testset"):
        if getattr(wanted, field) is not None:
            raise InputError(
                f"{field} names texts that only a service looks up; give references here.",
                field=field,
            )
    wanted.recipe()  # a wrong choice is cheaper to find than a wrong text
    entry = _entry(wanted)
    return Comparison((entry,), _recipe(wanted, entry))


StoredComparison = Annotated[
    Comparison, PlainValidator(parse_comparison), PlainSerializer(Comparison.as_json)
]


def parse_named(body: Mapping[str, Any]) -> Comparison:
    """The comparison in the field `comparison` of a request of another kind.

    Args:
        body: A request for one, or nothing but the `id` of a finished one, which a service has
            replaced by the comparison.

    Raises:
        SigtestError: No such comparison; errors name the field within `comparison`.
    """
    made = body.get("id")
    if made is None:
        with inside("comparison"):
            return parse_comparison(body)
    if not isinstance(made, Comparison):
        raise InputError(
            "comparison.id is the id of a comparison, which only a service can look up; give "
            "references and systems here.",
            field="comparison.id",
        )
    if len(body) > 1:
        raise InputError(
            "comparison.id has its texts and its recipe; leave others out.", field="comparison.id"
        )
    return made


def _of_several(wanted: ComparedOnSeveralRequest) -> Comparison:
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
        try:
            with inside(f"testsets[{i}]"):
                entries.append(_entry(testset))
        except SigtestError as error:
            error.message = f"Test set {testset.name!r}: {error.message}"
            error.args = (error.message,)
            raise
    names = tuple(testset.name for testset in wanted.testsets)
    return Comparison(tuple(entries), _recipe(wanted, entries[0]), names, wanted.pooled)


def _entry(wanted: EntryRequest) -> ComparisonEntry:
    """One test set and its systems."""
    systems = systems_of(wanted)
    notes = _notes(wanted.notes)
    runs = parse_runs(wanted.runs, [system.name for system in systems])
    return ComparisonEntry(testset_of(wanted, _segments_of_scores(systems)), systems, notes, runs)


def _notes(notes: object) -> tuple[str, ...]:
    """What a reader of files had to say, for the report; what is too long is cut."""
    lines = check_lines(notes if notes is not None else (), "notes", field="notes")
    cut = [n if len(n) <= LONGEST_NOTE else f"{n[: LONGEST_NOTE - 3]}..." for n in lines if n]
    more = len(cut) - MOST_NOTES + 1
    return (*cut[:-more], f"There are {more:,} more notes.") if more > 1 else tuple(cut)


def _recipe(wanted: Choices, entry: ComparisonEntry) -> Recipe:
    """The recipe with metrics by the names of scores, or those that nothing needs to name."""
    scores = {system.name: system.scores for system in entry.systems}
    if wanted.metrics is not None:
        labels: MetricOptions = {label: {} for own in scores.values() for label in own}
        return wanted.recipe(of_labels(wanted.metrics, labels))
    texts = bool(entry.testset.references) and all(
        system.hypotheses is not None or system.replicas for system in entry.systems
    )
    return wanted.recipe(inferred_metrics(scores, texts))


def _segments_of_scores(systems: Sequence[System]) -> int | None:
    """Where there are no references, the first system's scores say how many segments there are."""
    for system in systems:
        for table in system.scores.values():
            return len(table)
    return None
