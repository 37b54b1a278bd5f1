"""Logs of Inspect AI, `.eval` (a zip) and `.json`: items by sample id, runs by epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sigtest.data.imports.assembly import Assembly
from sigtest.data.imports.file import File, Record, entries_of, loads, record_in
from sigtest.data.imports.formats.cells import NUMBER, float_of
from sigtest.data.imports.material import Material
from sigtest.data.names import without_slash
from sigtest.data.text import decode
from sigtest.errors import InputError

# inspect_ai.scorer: CORRECT, PARTIAL, INCORRECT, NOANSWER, and what value_to_float makes of words
WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
REDUCED = "reduced"


def sniff(file: File) -> bool:
    """An object with `eval`, `status` and what a log has beside them."""
    fields = set(file.first)
    return (
        file.kind == "object" and {"eval", "status"} <= fields and bool({"plan", "stats"} & fields)
    )


def read(file: File) -> Material:
    """Read a log that is one JSON object.

    Raises:
        InputError: Samples that were not scored, a score that is no number, a sample twice.
    """
    log = file.first
    return _material(
        file.name, log, entries_of(log.get("samples")), entries_of(log.get("reductions"))
    )


def is_packed(names: Sequence[str]) -> bool:
    """Whether an archive with these members is a log."""
    return "_journal/start.json" in names or (
        "header.json" in names and any(name.startswith("samples/") for name in names)
    )


def needed(names: Sequence[str]) -> list[str]:
    """The members of a packed log that have the scores, without the transcripts."""
    chosen = [
        name for name in ("header.json", "summaries.json", "reductions.json") if name in names
    ]
    if "header.json" not in chosen:
        chosen.append("_journal/start.json")
    if "summaries.json" not in chosen:
        found = [name for name in names if name.startswith("_journal/summaries/")]
        chosen += found or [name for name in names if name.startswith("samples/")]
    return chosen


def read_packed(members: Mapping[str, bytes], name: str) -> Material:
    """Read a log that is a zip.

    Args:
        members: Those that are `needed`.
        name: What messages call it.

    Raises:
        InputError: As `read`, or no header.
    """
    values = {}
    for member, data in members.items():
        where = f"{name}: {member}"
        values[member] = loads(decode(data, where), where)
    header = values.get("header.json") or values.get("_journal/start.json")
    if not isinstance(header, dict):
        raise InputError(f"{name} is a log of Inspect without a header; it is not whole.")
    summaries = [v for member, v in values.items() if "summaries" in member]
    samples = [entry for summary in summaries for entry in entries_of(summary)]
    samples += [value for member, value in values.items() if member.startswith("samples/")]
    return _material(name, header, samples, entries_of(values.get("reductions.json")))


def _material(
    name: str, log: Record, samples: Sequence[object], reductions: Sequence[object]
) -> Material:
    task = record_in(log, "eval")
    system = without_slash(str(task.get("model", "model")))
    status = log.get("status", "started")
    notes = []
    if status != "success":
        notes.append(f"{name}: the status of the log is {status}; items may be missing.")
    assembly = Assembly(name)
    found = 0
    for sample in _sorted(samples):
        found += _add(assembly, sample, system, name)
    if not samples and reductions:
        notes.append(f"{name} has no samples; scores are those that Inspect reduced over epochs.")
        found = sum(_add_reduced(assembly, entry, system, name) for entry in reductions)
    if not found:
        what = f"{len(samples)} samples, none of them scored" if samples else "no samples"
        raise InputError(
            f"{name} is a log of Inspect with {what} (status {status}); score it with "
            "`inspect score`, or give the log of a run that ended."
        )
    material = assembly.material(notes, ordered=False)
    testset = str(task.get("task", ""))
    return replace(material, testsets=(testset,) * len(material) if testset else None)


def _sorted(samples: Sequence[object]) -> list[object]:
    """Samples by number, where their ids are numbers; packed logs have them as they ended."""
    if all(isinstance(s, dict) and isinstance(s.get("id"), int) for s in samples):
        return sorted(samples, key=lambda s: s["id"] if isinstance(s, dict) else 0)
    return list(samples)


def _add(assembly: Assembly, sample: object, system: str, name: str) -> int:
    """Adds the scores of one sample; how many there were."""
    if not isinstance(sample, dict):
        raise InputError(f"{name}: a sample that is no object.")
    where = f"sample {str(sample.get('id'))[:60]} of epoch {sample.get('epoch', 1)}"
    i = assembly.place_of(sample.get("id"), where)
    if isinstance(text := sample.get("input"), str):
        assembly.about(i, "key", text[:500], where)  # summaries have no more of it
    scores = record_in(sample, "scores") or ({"score": s} if (s := sample.get("score")) else {})
    count = 0
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        for label, entry in _labelled(str(scorer), value):
            number = value_of(entry, f"{name}, {where}, {label}")
            assembly.score(i, (system, label, str(sample.get("epoch", 1))), number, where)
            count += 1
    return count


def _add_reduced(assembly: Assembly, reduction: object, system: str, name: str) -> int:
    if not isinstance(reduction, dict):
        return 0
    scorer = str(reduction.get("scorer", "score"))
    samples = entries_of(reduction.get("samples"))
    for sample in samples:
        if isinstance(sample, dict):
            where = f"sample {str(sample.get('sample_id'))[:60]}"
            i = assembly.place_of(sample.get("sample_id"), where)
            for label, entry in _labelled(scorer, sample.get("value")):
                number = value_of(entry, f"{name}, {where}, {label}")
                assembly.score(i, (system, label, REDUCED), number, where)
    return len(samples)


def _labelled(scorer: str, value: object) -> Iterator[tuple[str, object]]:
    """One label a scorer, or one for each entry of a value that has several."""
    scorer = scorer.replace("/", ".")
    if isinstance(value, dict):
        yield from ((f"{scorer}.{key}".replace("/", "."), entry) for key, entry in value.items())
    elif isinstance(value, list):
        yield from ((f"{scorer}.{i}", entry) for i, entry in enumerate(value))
    else:
        yield scorer, value


def value_of(value: object, where: str) -> float | None:
    """The number that Inspect's metrics make of a value; nothing where a sample was not scored.

    Raises:
        InputError: A word that stands for no number, which Inspect counts as 0.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool | int | float) and math.isfinite(float_of(value)):
        return float(value)
    word = str(value).strip()
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    if NUMBER.fullmatch(word) and math.isfinite(float(word)):
        return float(word)
    raise InputError(
        f"{where}: {word[:40]!a} stands for no number; C, P, I, N, yes, no and numbers do."
    )
