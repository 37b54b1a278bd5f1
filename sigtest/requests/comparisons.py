"""Requests to compare, on one test set or several, over time or with a plan in view.

The models say which fields there are; lines and numbers are checked once, where test sets and
systems are made of them (`sigtest.data.testset`), with the system and the line in every message.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le, Len
from pydantic import BeforeValidator, FailFast, Strict, WithJsonSchema

from sigtest.data.testset import System, TestSet
from sigtest.errors import InputError, inside
from sigtest.requests.model import ELSEWHERE, Between, Flag, Must, Name, Request, WholeNumber
from sigtest.requests.notes import Notes, PlainNotes
from sigtest.requests.recipe import MAX_FAMILY, MAX_RESAMPLES, Choices, Settings

CAPACITY = 64  # systems of a leaderboard, where nothing else is wanted
LINE, GAP = {"type": "string"}, {"type": ["string", "null"]}
NUMBER = {"type": "number"}
MOST_RUNS = 100_000  # systems times metrics in one request


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def reference_sets(references: Any) -> Any:
    """Reference sets from one list of lines, or from a list of such lists."""
    if isinstance(references, str | bytes | Mapping) or not isinstance(references, Sequence):
        return references  # left to be refused
    first = next((entry for entry in references if entry is not None), None)
    return [references] if isinstance(first, str) else references


def named_systems(systems: Any) -> Any:
    """A list of objects with a name each, from that or from a mapping by name."""
    if not isinstance(systems, Mapping):
        return systems  # a list, or left to be refused
    return [{"name": name, **_output(brings)} for name, brings in systems.items()]


def _output(brings: Any) -> dict[str, Any]:
    """What a system brings, from its lines, from those of its replicas, or from an object."""
    if isinstance(brings, Mapping):
        return dict(brings)
    if isinstance(brings, Sequence) and not isinstance(brings, str) and brings:
        first = brings[0]
        if isinstance(first, Sequence) and not isinstance(first, str):
            return {"replicas": brings}
    return {"hypotheses": brings}


Lines = Annotated[Any, WithJsonSchema(_array(LINE))]
References = Annotated[
    Any,
    BeforeValidator(reference_sets),
    WithJsonSchema({"anyOf": [_array(GAP), _array(_array(GAP))]}),
]


SCORES = {
    "type": "object",
    "additionalProperties": {"anyOf": [_array(NUMBER), _array(_array(NUMBER))]},
}


class OutputRequest(Request):
    """What a system brings: hypotheses, or scores computed elsewhere, or both; or replicas.

    Attributes:
        hypotheses: One line a segment; a line has no line break and no NUL character.
        replicas: Instead of hypotheses: the outputs of several training runs, as many for every
            system.
        scores: Numbers computed elsewhere, by label: one a segment, or a tuple a segment (score and
            weight; numerator and denominator; match, system and reference).
    """

    hypotheses: Lines | None = None
    replicas: Annotated[Any, WithJsonSchema(_array(_array(LINE)))] | None = None
    scores: Annotated[Any, WithJsonSchema(SCORES)] | None = None


Label = Annotated[  # a name, which is checked with what it names
    Any, Must("text", InputError), WithJsonSchema({**LINE, "minLength": 1, "maxLength": 200})
]


class SystemRequest(OutputRequest):
    """One system, and what it brings.

    Attributes:
        name: Its name in the report: no quotes, angle brackets, slashes or control characters.
    """

    name: Label  # fmt: skip


Brings = list[str] | list[list[str]] | OutputRequest  # hypotheses, replicas, or an object
Systems = Annotated[
    tuple[SystemRequest, ...],
    FailFast(),
    BeforeValidator(named_systems, json_schema_input_type=list[SystemRequest] | dict[str, Brings]),
    Must("a list of systems", InputError),
]


class SubmissionRequest(PlainNotes, OutputRequest):
    """What a system brings to a test set, and what is written on it."""


class TextsRequest(Request):
    """What systems are measured against.

    Attributes:
        references: One line a segment, or a list of such reference sets; null is a missing
            reference.
        documents: Document of each segment.
        clusters: Another name of `documents`; one of them at most.
        labels: Label of each segment, such as its domain.
        source: Source of each segment, for health checks of outputs; null where not known.
        segments: Number of segments; needed only without references.
    """

    references: References = ()
    documents: Lines | None = None
    clusters: Lines | None = None
    labels: Lines | None = None
    source: Annotated[Any, WithJsonSchema(_array(GAP))] | None = None
    segments: Annotated[Any, WithJsonSchema({"type": "integer", "minimum": 1})] | None = None


Variance = Annotated[
    float, Strict(), Ge(0), Le(1e300), Must("a number that is not negative", InputError)
]


class RunsRequest(Request):
    """How scores vary that are means of several runs.

    Attributes:
        system: Name of the system.
        metric: Label of its scores.
        count: Number of runs.
        item_variance: Variance of the score by choice of items.
        run_variance: Variance of the score by choice of runs.
    """

    system: Annotated[str, Must("a text", InputError)]
    metric: Annotated[str, Must("a text", InputError)]
    count: Annotated[int, Must("a whole number, 2 or more", InputError), WholeNumber(2, 10**9)]
    item_variance: Variance
    run_variance: Variance


class EntryRequest(TextsRequest):
    """One test set and its systems, with what was noticed when it was read.

    Attributes:
        notes: Sentences about how the texts were read, which the report repeats.
        runs: Where scores are means of several runs, how those vary; forms and files with runs say
            it themselves.
        systems: Two at least, or one that brings scores alone, in the order in which pairs are
            formed: a list of objects, or an object with what each brings by its name.
    """

    notes: Lines | None = None
    runs: Annotated[
        tuple[RunsRequest, ...],
        FailFast(),
        Len(0, MOST_RUNS),
        Must("a list of objects", InputError),
    ] = ()
    systems: Systems


class TestSetRequest(Notes, Settings, TextsRequest):
    """What every system of a leaderboard is measured against, and how.

    `resamples` of `auto` are as many as a first difference needs to be significant in a family of
    that many systems: 79,999 for 64 of them with holm.

    Attributes:
        name: What to call it.
        replicas: Training replicas that every system brings.
        capacity: How many systems may be submitted, from first to last; the pairs of that many are
            corrected for, so that a significant difference stays significant when others come.
    """

    name: Label
    replicas: Annotated[int, WholeNumber(1, 10**6)] = 1
    capacity: Annotated[int, WholeNumber(2, MAX_FAMILY)] = CAPACITY


class ChangeRequest(Notes):
    """What is written on a test set, and the one setting that can be changed.

    Attributes:
        resamples: More of them, the first of which stay.
    """

    hints = dict.fromkeys(TestSetRequest.model_fields, " It is fixed when a test set is made.")
    resamples: Annotated[int, WholeNumber(1, MAX_RESAMPLES)] | None = None


def system_of(output: OutputRequest, name: Any) -> System:
    """What a system brings, checked.

    Raises:
        InputError: See `System.of`.
    """
    return System.of(name, output.hypotheses, output.scores, output.replicas)


def systems_of(entry: EntryRequest) -> tuple[System, ...]:
    """The systems of a test set, checked; errors name their places."""
    found = []
    for i, system in enumerate(entry.systems):
        with inside(f"systems[{i}]"):
            found.append(system_of(system, system.name))
    return tuple(found)


def testset_of(texts: TextsRequest, segments: int | None) -> TestSet:
    """The test set that a request describes, checked.

    Args:
        texts: What is described.
        segments: How many there are, where nothing else says it.

    Raises:
        SigtestError: See `TestSet.of`; documents under both of their names.
    """
    if texts.documents is not None and texts.clusters is not None:
        raise InputError("clusters is another name of documents; give one.", field="clusters")
    known = texts.segments if texts.references or texts.segments is not None else segments
    documents = texts.documents if texts.documents is not None else texts.clusters
    return TestSet.of(texts.references, documents, known, texts.labels, texts.source)


# comparisons

NAMED: dict[str, Any] = {  # JSON schema of a comparison that is nothing but an id
    "type": "object",
    "properties": {"id": {"type": "string", "description": "Of a finished comparison."}},
    "required": ["id"],
    "additionalProperties": False,
}
COMPARED = {ELSEWHERE: "#/components/schemas/ComparedRequest"}


def named_testsets(testsets: Any) -> Any:
    """A list of objects with a name each, from that or from a mapping by name."""
    if not isinstance(testsets, Mapping):
        return testsets
    return [
        {"name": name, **body} if isinstance(body, Mapping) else body
        for name, body in testsets.items()
    ]


class ComparedRequest(Choices, EntryRequest):
    """A test set, its systems, and what to compute, inside of another request.

    Attributes:
        builtin: Instead of references: a test set that sacreBLEU knows, such as `wmt17/en-de`; the
            operator must have it or allow downloads.
        testset: Instead of references, documents and labels: the id of a test set of the caller's,
            which has them.
    """

    hints = {**Choices.hints, "pooled": " pooled goes with testsets, which brings several."}
    builtin: Name | None = None
    testset: Name | None = None


class ComparisonRequest(Notes, ComparedRequest):
    """The same with what is written on it."""


class NamedTestSetRequest(EntryRequest):
    """One test set of several, and what systems bring to it.

    Attributes:
        name: What the report calls it; each its own.
    """

    name: Label


class ComparedOnSeveralRequest(Choices):
    """Several test sets, the same systems on each, and what to compute.

    Attributes:
        testsets: Two at least, each under a name of its own: a list of objects, or an object by
            name.
        pooled: Whether sums over all test sets mean something: they share a language and all else
            that a score depends on; scores are averaged otherwise.
    """

    testsets: Annotated[
        tuple[NamedTestSetRequest, ...],
        FailFast(),
        BeforeValidator(
            named_testsets,
            json_schema_input_type=list[NamedTestSetRequest] | dict[str, EntryRequest],
        ),
        Must("a list of test sets", InputError),
    ]
    pooled: Annotated[bool, Strict(), Must("true or false", InputError)] = False


class SeveralRequest(Notes, ComparedOnSeveralRequest):
    """The same with what is written on it."""


def listed(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with lists where it has the shorter spellings; what is of no use stays as it is."""
    body = dict(request)
    if "references" in body:
        body["references"] = reference_sets(body["references"])
    if isinstance(body.get("systems"), Mapping):
        body["systems"] = named_systems(body["systems"])
    testsets = named_testsets(body.get("testsets"))
    if isinstance(testsets, list | tuple):
        body["testsets"] = [listed(own) if isinstance(own, Mapping) else own for own in testsets]
    return body


# plans

PilotBody = Annotated[
    dict[str, Any],
    Len(1),
    Must(
        'an object: the pilot\'s references and outputs, or {"id": ID} of a finished comparison',
        InputError,
    ),
    WithJsonSchema({"anyOf": [COMPARED, NAMED]}),
]
LARGEST = 1_000_000_000  # units that a plan may be about


class PlanRequest(Request):
    """A pilot, and what to plan from it.

    Attributes:
        comparison: The pilot: a request of /v1/comparisons on one test set, or the id of one.
        metric: Label of the metric to plan for; the pilot's first by default.
        a: First system of the one pair to plan for; all pairs by default.
        b: Second system of that pair.
        difference: True difference that is to show, in points of the metric; the plan says how many
            segments or documents it takes.
        units: A number of segments, or of documents where these are resampled, to plan for besides
            the usual ones.
        corrected: Plan for the strictest level of the pilot's correction instead of alpha.
    """

    comparison: PilotBody
    metric: Name | None = None
    a: Name | None = None
    b: Name | None = None
    difference: Annotated[float, Between(0.0, 1e9)] | None = None
    units: Annotated[int, WholeNumber(2, LARGEST)] | None = None
    corrected: Flag = False
