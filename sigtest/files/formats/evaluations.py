"""Logs of evaluations of language models: EleutherAI's lm-evaluation-harness, and Inspect AI.

Samples of the harness (0.3.0 to 0.4.x) are one file a model and task. The model and the direction
of its metrics stand in `results_*.json`, which is read where it lies beside the samples and has
their time in its name. A log of Inspect, `.eval` (a zip) or `.json`, has items by sample id and
runs by epoch.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sigtest.data.names import without_slash
from sigtest.data.text import decode
from sigtest.errors import InputError
from sigtest.files.assembly import ONLY_RUN, Assembly
from sigtest.files.cells import NUMBER, TRUTH, blank, float_of
from sigtest.files.file import File, Record, entries_of, loads, record_in, require_filled
from sigtest.files.material import Material, examples

TIME = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
SAMPLES = re.compile(rf"^(?:samples_)?(?P<task>.+?)_(?P<time>{TIME})\.jsonl?$")
OURS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash", "truth", "task_name",
}  # fmt: skip
ITEM = ("doc", "prompt_0", "doc_hash")  # what tells items apart; since 0.4.3 with a hash
OLD = re.compile(r"(prompt|logit|answer|completion|context|gold|pred)s?(_\d+)?$")
LIKELIHOODS = {  # logged as log-likelihoods, alone or with a number of words or bytes
    "perplexity": "perplexity",
    "word_perplexity": "perplexity",
    "byte_perplexity": "perplexity",
    "bits_per_byte": "ratio",
}
MODEL = re.compile(r"(?:^|,)(?:pretrained|model|path)=([^,]+)")


@dataclass
class Results:
    """What `results_*.json` says of one task.

    Attributes:
        system: The model, named as the harness names its folders.
        higher: Which metrics are better when higher.
        samples: How many items were evaluated, where it says so.
    """

    system: str | None = None
    higher: Mapping[str, bool] = field(default_factory=dict)
    samples: int | None = None


def sniff_lm_eval(file: File) -> bool:
    """Rows with `doc_id` and what the harness logs beside it."""
    fields = set(file.first)
    new = "doc_id" in fields and bool({"resps", "filtered_resps", "arguments"} & fields)
    old = {"doc_id", "truth"} <= fields or {"doc_id", "prompt_0"} <= fields
    return file.has_records and (new or old)


def read_lm_eval(file: File) -> Material:
    """Read every metric that is a number for each item, or a log-likelihood.

    The harness makes perplexities of logged log-likelihoods: exp of minus their mean, or of minus
    their sum over the number of words or bytes (`lm_eval/api/metrics.py`).

    Raises:
        InputError: No such metric, a row without an id or without a metric that others have, an
            item twice.
    """
    rows = file.records()
    task, results = _beside(file)
    filters = {_filter(row.record) for row in rows}
    labels = {  # metric and filter of each; the filter is named where there are several
        metric if len(filters) == 1 else f"{metric},{chosen}": (metric, chosen)
        for row in rows
        for chosen in [_filter(row.record)]
        for metric in _metrics(row.record)
    }
    require_filled(len(rows), len(labels), sum(len(row.record) for row in rows), file.name)
    notes: list[str] = []
    cells = {  # item and value of each row of one filter
        label: [
            (row.record.get("doc_id"), row.record.get(metric))
            for row in rows
            if _filter(row.record) == chosen
        ]
        for label, (metric, chosen) in labels.items()
    }
    losses = {  # logged as log-likelihoods, none of which is above zero
        label
        for label, (metric, _) in labels.items()
        if metric in LIKELIHOODS
        and all(blank(cell) or _loss("", cell) is not None for _, cell in cells[label])
    }
    usable = {k: w for k, w in labels.items() if k in losses or _usable(k, cells[k], file, notes)}
    if not usable:
        why = " ".join(note.removeprefix(f"{file.name}: ") for note in notes)
        raise InputError(
            f"{file.name} has no metric with one finite number an item: "
            f"{why or 'its rows have none.'} Give samples of a task with such a metric."
        )
    system = results.system or _folder(file) or file.stem.removesuffix("_write_out_info")
    assembly = Assembly(file.name)
    for row in rows:
        i = assembly.place_of(row.record.get("doc_id"), row.place)
        if task is not None:
            assembly.about(i, "testset", task, row.place)
        if known := [own for field in ITEM if (own := row.record.get(field)) is not None]:
            said = [s if isinstance(s, str) else json.dumps(s, ensure_ascii=False) for s in known]
            assembly.about(i, "key", " ".join(said), row.place)
        for label, (metric, chosen) in usable.items():
            if _filter(row.record) == chosen:
                cell = row.record.get(metric)
                value = _loss(metric, cell) if label in losses else _number(cell)
                group = (without_slash(system), label, ONLY_RUN)
                assembly.score(i, group, value, row.place, results.higher.get(metric))
    material = assembly.material(notes, ordered=False)
    scores = tuple(
        replace(own, metric=LIKELIHOODS[labels[own.label][0]], higher_is_better=False)
        if own.label in losses
        else own
        for own in material.scores
    )
    notes = [*material.notes]
    if results.samples not in {None, len(material)}:
        notes.append(
            f"{file.name} has {len(material):,} items, the results beside it are about "
            f"{results.samples:,}."
        )
    return replace(material, scores=scores, notes=tuple(notes))


def is_results(file: File) -> bool:
    """Averages of a run: `results`, `configs` and `versions`."""
    return file.kind == "object" and {"results", "configs", "versions"} <= set(file.first)


def _beside(file: File) -> tuple[str | None, Results]:
    """The task of a file of samples, and the results of the same run."""
    found = SAMPLES.match(file.base)
    if found is None:
        return None, Results()
    time = found["time"]
    for name, data in file.near(lambda name: name.endswith(f"{time}.json")).items():
        results = loads(data.decode("utf-8", "replace"), name)
        if isinstance(results, dict) and "results" in results:
            return found["task"], _results(results, found["task"])
    return found["task"], Results()


def _results(results: Record, task: str) -> Results:
    config = record_in(results, "config")
    arguments = config.get("model_args")
    system = results.get("model_name")
    if not system and isinstance(arguments, str) and (named := MODEL.search(arguments)):
        system = named[1]
    if not system and isinstance(arguments, dict):
        system = arguments.get("pretrained") or arguments.get("model")
    higher = record_in(record_in(results, "higher_is_better"), task)
    count = record_in(record_in(results, "n-samples"), task).get("effective")
    return Results(
        system=str(system) if system else None,
        higher={name: value for name, value in higher.items() if isinstance(value, bool)},
        samples=count if isinstance(count, int) else None,
    )


def _folder(file: File) -> str | None:
    """The model as the harness names its folder, `org__model`."""
    parts = file.path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and "__" in parts[-2] else None


def _filter(record: Record) -> str:
    return str(record.get("filter", "none"))


def _metrics(record: Record) -> Iterable[str]:
    listed = record.get("metrics")
    if isinstance(listed, list):
        return [str(name) for name in listed]
    return [
        name
        for name, value in record.items()
        if name not in OURS and not OLD.match(name) and (_number(value) is not None or blank(value))
    ]


def _loss(metric: str, cell: object) -> tuple[float, float] | None:
    """Negative log-likelihood, in bits where the metric is, and the number of words or bytes."""
    pair = cell if isinstance(cell, list) and len(cell) == 2 else [cell, 1]
    likelihood, amount = map(_number, pair)
    if likelihood is None or amount is None or not -math.inf < likelihood <= 0 < amount < math.inf:
        return None
    return -likelihood / (math.log(2) if metric == "bits_per_byte" else 1), amount


def _usable(
    label: str, cells: Sequence[tuple[object, object]], file: File, notes: list[str]
) -> bool:
    """Whether a metric has a finite number for each item; says so where it has not."""
    endless = [name for name, cell in cells if math.isinf(_number(cell) or 0.0)]
    other = [name for name, cell in cells if _number(cell) is None and not blank(cell)]
    if endless:
        notes.append(
            f"{file.name}: {label} is infinite for {len(endless):,} of {len(cells):,} items "
            f"(doc_id {examples(map(str, endless))}), so it has no mean."
        )
    elif other:
        notes.append(
            f"{file.name}: {label} is no number for single items (doc_id "
            f"{examples(map(str, other))}); it exists for the whole task only."
        )
    return not endless and not other


def _number(cell: object) -> float | None:
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in TRUTH:
            return TRUTH[word]
        try:
            value = float(word)
        except ValueError:
            return None
        return None if math.isnan(value) else value
    if isinstance(cell, bool | int | float):
        return None if blank(cell) else float_of(cell)
    return None


# inspect_ai.scorer: CORRECT, PARTIAL, INCORRECT, NOANSWER, and what value_to_float makes of words
WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
REDUCED = "reduced"


def sniff_inspect(file: File) -> bool:
    """An object with `eval`, `status` and what a log has beside them."""
    fields = set(file.first)
    return (
        file.kind == "object" and {"eval", "status"} <= fields and bool({"plan", "stats"} & fields)
    )


def read_inspect(file: File) -> Material:
    """Read a log that is one JSON object.

    Raises:
        InputError: Samples that were not scored, a score that is no number, a sample twice.
    """
    log = file.first
    return _material(
        file.name, log, entries_of(log.get("samples")), entries_of(log.get("reductions"))
    )


def is_packed_log(names: Sequence[str]) -> bool:
    """Whether an archive with these members is a log."""
    return "_journal/start.json" in names or (
        "header.json" in names and any(name.startswith("samples/") for name in names)
    )


def needed_members(names: Sequence[str]) -> list[str]:
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


def read_packed_log(members: Mapping[str, bytes], name: str) -> Material:
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
    if all(isinstance(s, dict) and isinstance(s.get("id"), int) for s in samples):
        # packed logs have samples as they ended
        samples = sorted(samples, key=lambda s: s["id"] if isinstance(s, dict) else 0)
    for sample in samples:
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
