"""Samples of EleutherAI's lm-evaluation-harness, 0.3.0 to 0.4.x, one file a model and task.

The model and the direction of its metrics stand in `results_*.json`, which is read where it lies
beside the samples and has their time in its name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File, Placed, Record, loads, record_in, require_filled
from sigtest.data.imports.formats.cells import TRUTH, blank, float_of
from sigtest.data.imports.material import Material, examples
from sigtest.data.names import without_slash
from sigtest.errors import InputError

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


def sniff(file: File) -> bool:
    """Rows with `doc_id` and what the harness logs beside it."""
    fields = set(file.first)
    new = "doc_id" in fields and bool({"resps", "filtered_resps", "arguments"} & fields)
    old = {"doc_id", "truth"} <= fields or {"doc_id", "prompt_0"} <= fields
    return file.has_records and (new or old)


def read(file: File) -> Material:
    """Read every metric that is a number for each item, or a log-likelihood.

    The harness makes perplexities of logged log-likelihoods: exp of minus their mean, or of minus
    their sum over the number of words or bytes (`lm_eval/api/metrics.py`).

    Raises:
        InputError: No such metric, a row without an id or without a metric that others have, an
            item twice.
    """
    rows = file.records()
    task, results = _beside(file)
    labels = _labels(rows)
    require_filled(len(rows), len(labels), sum(len(row.record) for row in rows), file.name)
    notes: list[str] = []
    cells = {label: _cells(rows, *what) for label, what in labels.items()}
    losses = {k for k, (name, _) in labels.items() if name in LIKELIHOODS and _are_losses(cells[k])}
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
    return _with_count(replace(material, scores=scores), results, file)


def _with_count(material: Material, results: Results, file: File) -> Material:
    """Says where the results count other items than there are."""
    if results.samples in {None, len(material)}:
        return material
    note = (
        f"{file.name} has {len(material):,} items, the results beside it are about "
        f"{results.samples:,}."
    )
    return replace(material, notes=(*material.notes, note))


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


def _labels(rows: Sequence[Placed]) -> dict[str, tuple[str, str]]:
    """Metric and filter of each label; the filter is named where there are several."""
    filters = list(dict.fromkeys(_filter(row.record) for row in rows))
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        for metric in _metrics(row.record):
            chosen = _filter(row.record)
            found[metric if len(filters) == 1 else f"{metric},{chosen}"] = (metric, chosen)
    return found


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


def _cells(rows: Sequence[Placed], metric: str, chosen: str) -> list[tuple[object, object]]:
    """Item and value of each row of one filter."""
    return [
        (row.record.get("doc_id"), row.record.get(metric))
        for row in rows
        if _filter(row.record) == chosen
    ]


def _are_losses(cells: Sequence[tuple[object, object]]) -> bool:
    """Whether all values are log-likelihoods, as the harness logs them: none is above zero."""
    return all(blank(cell) or _loss("", cell) is not None for _, cell in cells)


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
