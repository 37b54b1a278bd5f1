"""What files say of a request: score tables, an EvalSet, judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.data.names import system_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, inside
from sigtest.files.metric_scores import (
    EvalSet,
    read_evalset,
    read_evalsets,
    read_scores,
    reads_scores,
)
from sigtest.people import is_judged
from sigtest.requests.people import Judging

PARTS = {
    "judgements": "Files of judgements by people, recognised by what is in them, or one table of "
    "their scores.",
    "human": "Instead of judgements: a table of scores by people, of systems or of segments.",
    "scores": "Tables of scores, one a metric and called like it (`chrf.tsv`): lines of system and "
    "score, a system once or once for each segment, or columns with a header. Where less is better "
    'the request says so: `{"metrics": {"ter": {"higher": false}}}`.',
    "evalset": "Instead of all others: an archive of an EvalSet of mt-metrics-eval. The request "
    'says which languages and which human scores: `{"lp": "he-en", "gold": "mqm"}`; `lp` may be a '
    "list, and `metrics` a list of labels.",
}
EVALSET = ("lp", "gold")

Files = Sequence[tuple[str, bytes]]


def with_files(
    request: Mapping[str, Any], files: Mapping[str, Files]
) -> tuple[Mapping[str, Any], Files]:
    """A request with what its files bring, and the files of judgements.

    Args:
        request: As it came.
        files: Name and bytes of the files of each part.

    Raises:
        SigtestError: A file that cannot be used, or that brings what is there already.
    """
    archives = files.get("evalset", ())
    if archives:
        if len(archives) > 1 or any(own for part, own in files.items() if part != "evalset"):
            raise InputError("A form with an EvalSet brings no other file.", field="evalset")
        with inside("evalset"):
            own = EvalSet.of_archive(archives[0][1], archives[0][0])
        return with_evalset(request, own), ()
    for field in EVALSET:
        if field in request:
            raise InputError(
                f"{field} says what to read of an evalset; none is there.", field=field
            )
    judgements = files.get("judgements", ())
    body = dict(request)
    people = files.get("human", ())
    if not people and len(judgements) == 1 and reads_scores(judgements[0][1], judgements[0][0]):
        people, judgements = judgements, ()
    if people:
        said = body.get("human", {})
        judging = isinstance(said, Mapping) and set(said) <= {*Judging.model_fields}
        if len(people) > 1 or judgements or not judging:
            raise InputError("Give one file of human scores, or judgements.", field="human")
        if said:
            raise InputError(
                f"{people[0][0]} has scores by people; leave out {', '.join(said)}, which says "
                "what becomes of judgements.",
                field="human",
            )
        body["human"] = {"scores": _people(*people[0])}
    if tables := files.get("scores", ()):
        body["metrics"] = _with_tables(body.get("metrics", {}), tables)
    return body, judgements


def _people(name: str, data: bytes) -> dict[str, Any]:
    """Scores by people, of which more is better."""
    try:
        scores = _table("human", name, data)
    except InputError:
        if reads_scores(data, name) or not is_judged(data, name):
            raise
        raise InputError(
            f"{name} has judgements and not one score of each system or segment; give it as the "
            "part judgements.",
            field="human",
        ) from None
    if scores.pop("higher", True) is False:
        raise InputError(
            f"{name} says that less is better (higher_is_better), and of scores by people more "
            "is; turn their sign round.",
            field="human",
        )
    return scores


def _table(part: str, name: str, data: bytes) -> dict[str, Any]:
    with inside(part):
        return read_scores(data, name)


def _with_tables(metrics: object, tables: Files) -> dict[str, Any]:
    """Metrics of files beside those of the request, which may also say more of these."""
    if not isinstance(metrics, Mapping):
        raise InputError("metrics must be an object by label.", field="metrics")
    labels = [system_name(name) for name, _ in tables]
    found = {label: own for label, own in metrics.items() if label not in labels}
    for label, (name, data) in zip(labels, tables, strict=True):
        if labels.count(label) > 1:
            raise InputError(f"Two files bring the scores of {label}.", field="scores")
        said = metrics.get(label, {})
        if not isinstance(said, Mapping) or {"system", "segment"} & set(said):
            raise InputError(
                f"The scores of {label} come as a file and in the request; give one.",
                field=f"metrics.{label}",
            )
        found[label] = {**_table("scores", name, data), **said}
    return found


def with_evalset(request: Mapping[str, Any], own: EvalSet) -> dict[str, Any]:
    """A request with the scores of an EvalSet.

    Args:
        request: Its `lp` and `gold` say which; `metrics` may be a list of labels.
        own: The EvalSet.

    Raises:
        SigtestError: A field is missing or cannot be used, or a file of the EvalSet.
    """
    body = dict(request)
    for field in ("human", "sets"):
        if field in body:
            raise InputError(f"An EvalSet brings {field}; leave it out.", field=field)
    lp, gold = (body.pop(field, None) for field in EVALSET)
    labels = body.pop("metrics", None)
    if labels is not None:
        labels = [str(label) for label in check_list(labels, "metrics")]
    for field, value in (("lp", lp), ("gold", gold)):
        if value is None:
            raise InputError(
                f"{field} says what to read of the EvalSet; it is missing: "
                '{"lp": "he-en", "gold": "mqm"}, say.',
                field=field,
            )
    if isinstance(lp, list | tuple):
        brought = read_evalsets(own, [str(pair) for pair in lp], str(gold), labels)
    else:
        brought = read_evalset(own, str(lp), str(gold), labels)
    for field in ("exclude_systems", "baseline"):
        if field in body and field in brought:
            brought[field] = _both(brought[field], body[field])
    return {**body, **brought}


def _both(read: Any, asked: Any) -> Any:
    """Systems to exclude of both; of one name, the one that is asked for."""
    if not isinstance(read, list):
        return asked
    return [*read, *(name for name in check_list(asked, "exclude_systems") if name not in read)]
