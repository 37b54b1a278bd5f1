"""Scores that files bring, or other questions: tables, an EvalSet, comparisons, judgements."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigtest.data.names import system_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, inside
from sigtest.files.folders import EvalSet
from sigtest.files.judgements import read_scores, reads_scores
from sigtest.files.registry import is_judged
from sigtest.people.compute import compute
from sigtest.people.judgements import Comparisons
from sigtest.people.question import HumanQuestion, match_systems, spellings
from sigtest.report import WarningReport, Warnings
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
        if len(archives) > 1 or any(files[part] for part in files if part != "evalset"):
            raise InputError("A form with an EvalSet brings no other file.", field="evalset")
        with inside("evalset"):
            evalset = EvalSet.of_archive(archives[0][1], archives[0][0])
        return with_evalset(request, evalset), ()
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
        human = body.get("human", {})
        judging = isinstance(human, Mapping) and set(human) <= {*Judging.model_fields}
        if len(people) > 1 or judgements or not judging:
            raise InputError("Give one file of human scores, or judgements.", field="human")
        if human:
            raise InputError(
                f"{people[0][0]} has scores by people; leave out {', '.join(human)}, which says "
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
    scores = {label: spec for label, spec in metrics.items() if label not in labels}
    for label, (name, data) in zip(labels, tables, strict=True):
        if labels.count(label) > 1:
            raise InputError(f"Two files bring the scores of {label}.", field="scores")
        spec = metrics.get(label, {})
        if not isinstance(spec, Mapping) or {"system", "segment"} & set(spec):
            raise InputError(
                f"The scores of {label} come as a file and in the request; give one.",
                field=f"metrics.{label}",
            )
        scores[label] = {**_table("scores", name, data), **spec}
    return scores


def with_evalset(request: Mapping[str, Any], evalset: EvalSet) -> dict[str, Any]:
    """A request with the scores of an EvalSet.

    Args:
        request: Its `lp` and `gold` say which; `metrics` may be a list of labels.
        evalset: The EvalSet.

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
        scores = evalset.requests([str(pair) for pair in lp], str(gold), labels)
    else:
        scores = evalset.request(str(lp), str(gold), labels)
    if "exclude_systems" in body and "exclude_systems" in scores:
        read, more = scores["exclude_systems"], body["exclude_systems"]
        more = check_list(more, "exclude_systems")
        body["exclude_systems"] = [*read, *(name for name in more if name not in read)]
    return {**scores, **body}


def from_comparison(report: Mapping[str, Any]) -> dict[str, Any]:
    """The `metrics` part of a request, from the JSON of a comparison's report.

    Soft accuracy takes the one-sided p-values of approximate randomization of the corpus scores,
    where the comparison has them; from a two-sided one, half of it is on the side of the better
    system.

    Args:
        report: With `systems`, `metrics` and `pairs`.
    """
    field, systems = "metrics.comparison", report.get("systems")
    if "testsets" in report:
        raise InputError(f"{field} must be about one test set; this is about several.", field=field)
    if not isinstance(systems, list):
        raise InputError(f"{field}: the report has no systems.", field=field)
    metrics: dict[str, Any] = {}
    for label, about in report["metrics"].items():
        higher = bool(about["higher_is_better"])
        rows = [
            pair
            for pair in report["pairs"]
            if pair["metric"] == label and pair["test"] == "approximate_randomization"
        ]
        claims = {
            (row["a"], row["b"])[:: -1 if row["alternative"] == "less" else 1]: row["p_value"]
            for row in rows
        }
        pairs = [_one_sided(row, higher, claims) for row in rows]
        metrics[label] = {
            "higher": higher,
            "system": {row["name"]: row["scores"][label]["score"] for row in systems},
            **({"pairs": pairs} if pairs else {}),
        }
    return metrics


def _one_sided(
    pair: Mapping[str, Any], higher: bool, claims: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    """A pair's p-value for a being better, and for b where that was tested, or nothing differs.

    Args:
        pair: As a report has it.
        higher: False for error metrics.
        claims: One-sided p-values, by the better and the worse system.
    """
    p = float(pair["p_value"])
    if pair["difference"] == 0:
        return {"a": pair["a"], "b": pair["b"], "p_greater": p, "p_less": p}
    both = {"a": pair["a"], "b": pair["b"]}
    if pair["alternative"] == "two-sided":
        ahead = (pair["difference"] > 0) == higher
        return {**both, "p_greater": p / 2 if ahead else 1 - p / 2}
    p_greater, p_less = claims.get((pair["a"], pair["b"])), claims.get((pair["b"], pair["a"]))
    if p_less is None:  # against a baseline one claim is made
        return {**both, "p_greater": p_greater}
    return {**both, "p_greater": 1 - p_less if p_greater is None else p_greater, "p_less": p_less}


def scores_of(
    question: HumanQuestion, systems: Sequence[str], exclude: Sequence[str] = ()
) -> tuple[dict[str, Any], Warnings]:
    """Evaluate judgements, and call systems by the names that metrics have for them.

    Args:
        question: A human evaluation.
        systems: Names of systems among the metrics, without those to be left out.
        exclude: Names of those.

    Returns:
        `human.scores` of a request, and what the report should warn of.

    Raises:
        InputError: A system that only one side has.
    """
    aliases = question.choices.aliases
    judged = [s for s in question.systems if not set(spellings(s, aliases)) & set(exclude)]
    matched = match_systems(judged, systems, aliases)
    names = {name: matched.outputs[name] for name in judged if name in matched.outputs}
    if isinstance(question.judgements, Comparisons):
        report = compute(question)
        known = [row for row in report.systems if row.name in names and row.raw is not None]
        shares = {names[row.name]: row.raw for row in known}
        return {"system": shares}, _left_out(matched.references)
    prepared = question.prepared
    columns = prepared.judgements
    averaged = prepared.averaged
    means = {
        names[name]: float(averaged.tested[averaged.of(s)].mean())
        for s, name in enumerate(prepared.systems)
        if name in names
    }
    notes = (*question.notes, *_left_out(matched.references))
    scores: dict[str, Any] = {"system": means}
    if all(name.isdecimal() for name in columns.segment.names):
        segments = prepared.pooled.by_name(prepared.systems)
        scores["segment"] = {names[name]: row for name, row in segments.items() if name in names}
    else:
        sentence = (
            "Judged segments are not numbered, so that they cannot be matched with segments of "
            "metrics: only scores of systems are used."
        )
        notes += (WarningReport("unused", sentence),)
    return scores, notes


def _left_out(references: Sequence[str]) -> tuple[WarningReport, ...]:
    names = ", ".join(references)
    sentence = f"Judged human translations without metric scores are left out: {names}."
    return (WarningReport("left-out", sentence, tuple(references)),) if references else ()
