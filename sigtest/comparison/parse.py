"""From a request, as JSON or a notebook has it, to a comparison.

One shape everywhere. References are one list of lines, or several such lists. Systems are a list of
objects with a name, or a mapping from names to what the systems bring: their lines, the lines of
several training runs, or an object with `hypotheses`, `replicas` and `scores`. Test sets are a list
of objects with a name, or a mapping from names to objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from sigtest.comparison.comparison import Comparison, Entry
from sigtest.comparison.recipe import ANY_METRIC, CHOICES, Recipe, of_labels, parse_metric
from sigtest.data.choices import choose
from sigtest.data.inferred import inferred_metrics
from sigtest.data.names import check_name
from sigtest.data.runs import parse_runs
from sigtest.data.testset import System, TestSet
from sigtest.data.text import check_lines, check_list
from sigtest.errors import InputError, SigtestError, inside
from sigtest.report import Stored

CONTENT = (
    "references", "systems", "documents", "clusters", "labels", "source", "segments", "notes",
    "runs",
)  # fmt: skip
OUTPUT = ("hypotheses", "replicas", "scores")
SEVERAL = ("testsets", "pooled")
NAMED: Mapping[str, Any] = {  # JSON schema of the field `comparison` with nothing but an id
    "type": "object",
    "properties": {"id": {"type": "string", "description": "Of a finished comparison."}},
    "required": ["id"],
    "additionalProperties": False,
}
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
        return _parse_several(request)
    if "pooled" in request:
        raise InputError(
            "pooled goes with testsets, which brings several; leave it out for one test set.",
            field="pooled",
        )
    _check_fields(request, CONTENT + CHOICES)
    recipe = _recipe(request)
    entry = _parse_entry(request)
    return Comparison((entry,), _with_metrics(recipe, request, entry))


StoredComparison = Annotated[Comparison, Stored(Comparison.as_json, parse_comparison)]


def parse_testset(body: Mapping[str, Any]) -> TestSet:
    """The test set that a request describes.

    Raises:
        SigtestError: See `TestSet.of`; documents given under both of their names.
    """
    documents, clusters = body.get("documents"), body.get("clusters")
    if documents is not None and clusters is not None:
        raise InputError("clusters is another name of documents; give one.", field="clusters")
    return TestSet.of(
        reference_sets(body.get("references", [])),
        documents=documents if documents is not None else clusters,
        segments=body.get("segments"),
        labels=body.get("labels"),
        source=body.get("source"),
    )


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


def listed(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with lists where it has the shorter spellings; what is of no use stays as it is."""
    body = dict(request)
    if "references" in body:
        body["references"] = reference_sets(body["references"])
    if isinstance(body.get("systems"), Mapping):
        body["systems"] = named_systems(body["systems"])
    if "testsets" in body:
        body["testsets"] = named_testsets(body["testsets"])
    return body


def named_testsets(testsets: Any) -> Any:
    """A list of objects with a name each, from that or from a mapping by name."""
    if isinstance(testsets, Mapping):
        testsets = [
            {"name": name, **body} if isinstance(body, Mapping) else body
            for name, body in testsets.items()
        ]
    if not isinstance(testsets, list | tuple):
        return testsets
    return [listed(body) if isinstance(body, Mapping) else body for body in testsets]


def reference_sets(references: Any) -> Any:
    """Reference sets from one list of lines, or from a list of such lists."""
    if isinstance(references, str | bytes | Mapping) or not isinstance(references, Sequence):
        return references  # left to be refused
    first = next((entry for entry in references if entry is not None), None)
    return [references] if isinstance(first, str) else references


def named_systems(systems: Any) -> list[Any]:
    """A list of objects with a name each, from that or from a mapping by name."""
    if not isinstance(systems, Mapping):
        return check_list(systems, "systems")
    return [{"name": name, **_output(brought)} for name, brought in systems.items()]


def parse_system(body: object, path: str) -> System:
    """One entry of `systems`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name and hypotheses.", field=path)
    for name in body:
        choose(name, ("name", *OUTPUT), f"{path}.{name}", "field of a system")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    with inside(path):
        return System.of(
            body["name"], body.get("hypotheses"), body.get("scores"), body.get("replicas")
        )


def _output(brought: Any) -> dict[str, Any]:
    """What a system brings, from its lines, from those of its replicas, or from an object."""
    if isinstance(brought, Mapping):
        return dict(brought)
    if isinstance(brought, Sequence) and not isinstance(brought, str) and brought:
        first = brought[0]
        if isinstance(first, Sequence) and not isinstance(first, str):
            return {"replicas": brought}
    return {"hypotheses": brought}


def _parse_entry(body: Mapping[str, Any]) -> Entry:
    """One test set and its systems."""
    if "systems" not in body:
        raise InputError("systems is missing: a list of systems.", field="systems")
    systems = tuple(
        parse_system(system, f"systems[{i}]")
        for i, system in enumerate(named_systems(body["systems"]))
    )
    content = dict(body)
    if not body.get("references") and body.get("segments") is None:
        content["segments"] = _segments_of_scores(systems)
    notes = _parse_notes(body.get("notes"))
    runs = parse_runs(body.get("runs"), [system.name for system in systems])
    return Entry(parse_testset(content), systems, notes, runs)


def _parse_notes(notes: object) -> tuple[str, ...]:
    """What a reader of files had to say, for the report; what is too long is cut."""
    lines = check_lines(notes if notes is not None else (), "notes", field="notes")
    cut = [n if len(n) <= LONGEST_NOTE else f"{n[: LONGEST_NOTE - 3]}..." for n in lines if n]
    more = len(cut) - MOST_NOTES + 1
    return (*cut[:-more], f"There are {more:,} more notes.") if more > 1 else tuple(cut)


def _recipe(request: Mapping[str, Any]) -> Recipe:
    """What to compute; until systems are known, any name may be that of their scores."""
    choices = {name: request[name] for name in CHOICES if name in request}
    metrics = of_labels(request["metrics"], None) if _names_metrics(request) else [ANY_METRIC]
    return Recipe.of({**choices, "metrics": metrics})


def _names_metrics(request: Mapping[str, Any]) -> bool:
    return request.get("metrics") is not None


def _with_metrics(recipe: Recipe, request: Mapping[str, Any], entry: Entry) -> Recipe:
    """The recipe with metrics by the names of scores, or those that nothing needs to name."""
    brought = {system.name: system.scores for system in entry.systems}
    if _names_metrics(request):
        metrics = of_labels(request["metrics"], {of: {} for own in brought.values() for of in own})
    else:
        texts = bool(entry.testset.references) and all(
            system.hypotheses is not None or system.replicas for system in entry.systems
        )
        metrics = inferred_metrics(brought, texts)
    return replace(recipe, metrics=tuple(map(parse_metric, metrics)))


def _check_fields(request: Mapping[str, Any], known: Sequence[str]) -> None:
    """Check that a request has no other field; the shell's --baseline has its own place here."""
    for name in request:
        own = ' A baseline is asked for by pairs: {"baseline": NAME}.' if name == "baseline" else ""
        choose(name, known, name, "field", own)


def _parse_several(request: Mapping[str, Any]) -> Comparison:
    _check_fields(request, SEVERAL + CHOICES)
    pooled = request.get("pooled", False)
    if not isinstance(pooled, bool):
        raise InputError("pooled must be true or false.", field="pooled")
    recipe = _recipe(request)
    bodies = check_list(named_testsets(request["testsets"]), "testsets")
    named = [_parse_named(body, f"testsets[{i}]") for i, body in enumerate(bodies)]
    if len(named) < 2:
        raise InputError(
            f"testsets needs at least two test sets; {len(named)} given. One is asked for without "
            "testsets.",
            field="testsets",
        )
    recipe = _with_metrics(recipe, request, named[0][1])
    return Comparison(
        tuple(entry for _, entry in named), recipe, tuple(name for name, _ in named), pooled
    )


def _parse_named(body: object, path: str) -> tuple[str, Entry]:
    """One entry of `testsets`; errors carry its place in the request."""
    if not isinstance(body, Mapping):
        raise InputError(f"{path} must be an object with name, references and systems.", field=path)
    for name in body:
        choose(name, ("name", *CONTENT), f"{path}.{name}", "field of a test set")
    if "name" not in body:
        raise InputError(f"{path} has no name.", field=f"{path}.name")
    name = check_name(body["name"], "test set", f"{path}.name")
    try:
        with inside(path):
            return name, _parse_entry(body)
    except SigtestError as error:
        error.message = f"Test set {name!r}: {error.message}"
        error.args = (error.message,)
        raise


def _segments_of_scores(systems: Sequence[System]) -> int | None:
    """Where there are no references, the first system's scores say how many segments there are."""
    for system in systems:
        for table in system.scores.values():
            return len(table)
    return None
