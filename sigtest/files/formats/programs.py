"""What programs write that score: sacreBLEU, COMET, METEOR, mt-metrics-eval; lm-eval, Inspect AI.

Samples of lm-evaluation-harness (0.3.0 to 0.4.x) are one file a model and task. The model and the
direction of its metrics stand in `results_*.json`, which is read where it lies beside the samples
and has their time in its name. A log of Inspect, `.eval` (a zip) or `.json`, has items by sample id
and runs by epoch.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from sigtest.data.names import check_name, name_in, system_name, without_slash
from sigtest.data.text import decode
from sigtest.errors import InputError, at_line
from sigtest.files.file import File, Placed, Record, entries_of, loads, record_in, require_filled
from sigtest.files.formats.columns import read_columns_of
from sigtest.files.material import ONLY_RUN, Assembly, Material, SystemScores, examples
from sigtest.files.tables import Table, blank, float_in, number, numbers, numeric
from sigtest.files.tree import Tree

# NIST's trn ------------------------

UTTERANCE = re.compile(
    r"(^|\s)\((?!None-\d)(?=[^\s()]*\d)(?=[^\s()]*[^\W\d]|[^\s()]*[-_])[^\s()]+\)\s*$"
)

SEPARATORS = re.compile(r"[ \t\v\f]+")  # as the kit has them: any other blank is within a word


def sniff_trn(file: File) -> bool:
    """The suffix; without it an id in parentheses at the end of all lines, two at least."""
    lines = [line for line in file.first_lines if not line.startswith(";;")]
    return file.base.endswith(".trn") or (len(lines) > 1 and all(map(UTTERANCE.search, lines)))


def read_trn(file: File) -> Material:
    """Read one text, a line an utterance; its speaker stands before the first - or _ of the id.

    Where all ids begin alike, as `common_voice_en_17`, that is no speaker. Words stand between
    blanks and tabs, and a word `@` is none, as in the kit. Of alternatives, `{ um / uh }`, the kit
    takes for each output that which is nearest to it; here a reference is one text, whose words
    are the same for all systems.

    Raises:
        InputError: A line without an id, an id twice, alternatives in braces.
    """
    texts: dict[str, str] = {}
    for i, line in enumerate(file.lines, 1):
        if not line.strip() or line.startswith(";;"):
            continue
        text, _, name = line.rstrip().removesuffix(")").rpartition("(")
        name = name.strip()
        if not name or name in texts or not line.rstrip().endswith(")"):
            what = f"a second {name!r}" if name in texts else "no id in parentheses at the end"
            raise at_line(file.name, i, f"{what}; every utterance needs its own.")
        if "{" in text:
            raise at_line(file.name, i, "alternatives in braces are not read; leave one of them.")
        texts[name] = " ".join(word for word in SEPARATORS.split(text) if word not in {"", "@"})
    speakers = tuple(re.split("[-_]", name)[0] for name in texts)
    return Material(
        texts=(tuple(texts.values()),),
        documents=speakers if len({*speakers} - texts.keys()) > 1 else None,
        ids=tuple(texts),
        ordered=False,
        name=file.name,
    )


LINE = re.compile(r"^(?P<metric>[\w+]+)\|(?P<signature>\S+) = (?P<score>\S+)")


def sniff_sentences(file: File) -> bool:
    """`BLEU|nrefs:1|... = 20.1 ...`, on more lines than one of each metric."""
    names = [match["metric"] for line in file.first_lines if (match := LINE.match(line))]
    return len(names) == len(file.first_lines) and len(names) > len(set(names))


def read_sentences(file: File) -> Material:
    """Read the scores of one system, each metric's i-th line being segment i.

    Raises:
        InputError: Another line, metrics with unequal numbers of lines.
    """
    rows = dict[int, Sequence[object]]()
    for i, line in enumerate(file.lines, 1):
        match = LINE.match(line)
        if match is not None:
            metric, higher = f"sentence {match['metric']}", match["metric"] not in {"TER", "WER"}
            rows[i] = (file.stem, metric, match["score"], higher)
        elif line.strip():
            raise at_line(file.name, i, f"{line[:40]!a} is no line of sacrebleu -sl.")
    note = (
        f"{file.name}: scores of sentences, rounded by sacreBLEU; their mean is not the score of "
        "the output. Give the output itself to compare by that."
    )
    header = ("system", "metric", "score", "higher_is_better")
    table = Table(file.name, header, [*rows.values()], [*rows])
    return replace(read_columns_of(table, file.stem), notes=(note,))


def sniff_corpus(file: File) -> bool:
    """JSON, text or table with the scores of whole outputs."""
    first = file.first
    if file.kind in {"object", "array"}:
        values = [value for name, value in first.items() if name != "system"]
        of_many = "system" in first and bool(values) and all(map(_is_corpus_score, values))
        return {"name", "score", "signature"} <= set(first) or of_many
    ruled = any(re.match(r"[│╒╞]", line) and "System" in file.head for line in file.first_lines[:3])
    return ruled or any(map(LINE.match, file.first_lines))


def _is_corpus_score(value: object) -> bool:
    """A number printed as text with one or two decimals, or `{score, p_value, mean, ci}`."""
    if isinstance(value, dict):
        return {"score", "p_value"} <= set(value)
    return isinstance(value, str) and re.fullmatch(r"-?\d+\.\d{1,8}", value) is not None


PAIR = re.compile(r"^[a-z]{2,3}(_[A-Za-z]{2,4})?-[a-z]{2,3}(_[A-Za-z]{2,4})?\.")
SUFFIX = re.compile(r"\.(seg|sys|domain)\.score(\.txt)?$|\.scr$|\.(txt|tsv)$", re.IGNORECASE)
NAMED = re.compile(r"\.seg\.score$", re.IGNORECASE)
FRACTION = re.compile(r"[.,]\d+([eE][-+]?\d+)?\s*$")
LEVEL = re.compile(r"\.(sys|domain)\.score$", re.IGNORECASE)


def sniff_seg_scores(file: File) -> bool:
    """`system<TAB>score`: a name that is no number, then a number or a word for none.

    Where no tab and not the file's name say it, `aspen 0.5` is a score and `Chapter 1` is text.
    """
    if not _rows_are(file, 2) or LEVEL.search(file.base):
        return False
    clear = NAMED.search(file.base) is not None or "\t" in file.first_lines[0]
    return clear or file.matches(FRACTION, 0.5)


def read_seg_scores(file: File) -> Material:
    """Read scores of several systems by one metric, which the file's name names.

    The i-th line of a system is segment i; higher is better, as mt-metrics-eval stores all.

    Raises:
        InputError: A line of other columns, systems with unequal numbers of lines, no number.
    """
    values = scores_of_systems(file)
    require_equal(values, file)
    name = SUFFIX.sub("", file.base)
    label = PAIR.sub("", name) or name  # without the pair of languages
    scores = [
        SystemScores(check_name(without_slash(system)), label, (tuple(column),), True)
        for system, column in values.items()
    ]
    return Material(scores=tuple(scores), name=file.name)


def scores_of_systems(file: File) -> dict[str, list[float | None]]:
    """The scores of each system, in order.

    Raises:
        InputError: A line of other columns, or a score that is no number.
    """

    def line_of(system: str, k: int) -> int:
        rows = [(i, pair_of(line)) for i, line in enumerate(file.lines, 1) if line.strip()]
        return [i for i, row in rows if row[0].strip() == system][k]

    return {
        system: numbers(cells, file.name, lambda k, system=system: line_of(system, k))  # type: ignore[misc]
        for system, cells in cells_of_systems(file).items()
    }


def cells_of_systems(file: File) -> dict[str, list[str]]:
    """The scores of each system as they stand there, in order.

    Raises:
        InputError: A line of other columns, or none at all.
    """
    if not file.data.strip():
        raise InputError(f"{file.name} is empty; a system and a score a line are expected.")
    cells: defaultdict[str, list[str]] = defaultdict(list)
    for i, line in enumerate(file.lines, 1):
        parts = pair_of(line) if line.strip() else []
        if len(parts) not in {0, 2}:
            counted = f"{len(parts)} column{'' if len(parts) == 1 else 's'}"
            raise at_line(file.name, i, f"{counted}; system and score are expected.")
        if parts:
            cells[parts[0].strip()].append(parts[1])
    return cells


def pair_of(line: str) -> list[str]:
    """Cells between tabs, or between plain blanks; other spaces are part of a cell."""
    return line.split("\t") if "\t" in line else [cell for cell in line.split(" ") if cell]


def require_equal(
    cells: Mapping[str, Sequence[object]], file: File, what: str = "a comparison"
) -> None:
    """Check that every system has as many lines as the first, and more than one.

    Raises:
        InputError: One has not; `what` needs one a segment.
    """
    (first, column), *others = cells.items()
    for system, other in others:
        if len(other) != len(column):
            raise InputError(
                f"{file.name}: system {system!r} has {len(other):,} lines, {first!r} has "
                f"{len(column):,}; the i-th line of each is segment i, so all need equally many "
                "(None where there is no score)."
            )
    if len(column) == 1:
        raise InputError(
            f"{file.name} has one score a system, as for whole outputs; {what} needs one "
            "score a segment: give the .seg.score file."
        )


def sniff_meteor(file: File) -> bool:
    """`set<TAB>system<TAB>document<TAB>segment<TAB>score`, which the suffix `.scr` says, too."""
    rows = [pair_of(line) for line in file.first_lines]
    if file.base.endswith(".scr"):
        return any(len(row) >= 5 for row in rows)
    one = len({row[0] for row in rows}) == 1 and "\t" in file.first_lines[0]
    numbered = all(row[3].strip().isdecimal() for row in rows if len(row) == 5)
    return one and numbered and _rows_are(file, 5)


def read_meteor(file: File) -> Material:
    """Read METEOR's or mteval's scores of segments.

    Raises:
        InputError: A line of other columns or without a number, a segment twice.
    """
    assembly = Assembly(file.name)
    label = file.base.split("-")[0].split(".")[0]
    for i, line in enumerate(file.lines, 1):
        cells, place = [cell.strip() for cell in line.split("\t")], f"line {i}"
        if len(cells) != 5:
            expected = "set, system, document, segment and score are expected"
            raise at_line(file.name, i, f"{len(cells)} columns; {expected}.")
        testset, system, document, segment, score = cells
        at = assembly.place_of(f"{document}#{segment}", place)
        assembly.describe(at, {"document": document, "testset": testset}, place)
        value = number(score, f"{file.name}, {place}")
        assembly.score(at, (system, label, ONLY_RUN), value, place)
    return assembly.material()


def _rows_are(file: File, columns: int) -> bool:
    """Whether nearly all lines have so many cells, the last a number and the first a word.

    The first line must have as many, or it is a header. The first cell may be a number where the
    file's name says what the lines are.
    """
    rows = [pair_of(line) for line in file.first_lines]
    if file.kind or not rows or len(rows[0]) != columns:
        return False
    named = NAMED.search(file.base) is not None
    fitting = sum(
        len(row) == columns
        and (named or not numeric(row[0]))
        and not blank(row[0])
        and not row[0].rstrip().endswith((":", "="))
        and (numeric(row[-1]) or blank(row[-1]))
        for row in rows
    )
    return fitting >= 0.9 * len(rows)


COMET = "COMET"
SEGMENT = re.compile(
    r"^(?:(?P<file>[^\t]+)\t)?Segment (?P<segment>\d{1,9})\s+score: *(?P<score>\S+)$"
)
SYSTEM = re.compile(r"^(?:(?P<file>[^\t]+)\t)?(?:System )?score:\s*(?P<score>\S+)$")
SAVED = re.compile(r"^Predictions saved in: ")
ROUNDED = 1e-4  # four decimals of the mean, and of the numbers it is compared with


def read_comet_text(file: File) -> Material:
    """Read the lines of segments; those of systems must agree with their means.

    Raises:
        InputError: Other lines, a segment that is missing or stands twice, a mean that differs.
    """
    assembly = Assembly(file.name)
    means = dict[str, float]()
    values = defaultdict[str, dict[int, float | None]](dict)
    for i, line in enumerate(file.lines, 1):
        match = SEGMENT.match(line) or SYSTEM.match(line)
        if match is None:
            if line.strip() and not SAVED.match(line):
                raise at_line(
                    file.name, i, f"{line[:40]!a} is no line of comet-score; take it out."
                )
            continue
        system = name_of(match["file"] or file.base)
        value = number(match["score"], f"{file.name}, line {i}")
        if match.re is SEGMENT:
            place = int(match["segment"])  # counted from 0
            assembly.score(place, (system, COMET, ONLY_RUN), value, f"line {i}", higher=True)
            values[system][place] = value
        elif value is not None:
            means[system] = value
    last = max(map(max, values.values()))
    for system, own in values.items():
        if len(own) <= last:
            i = next(i for i in range(last + 1) if i not in own)
            raise InputError(f"{file.name}: system {system!r} has no line for Segment {i}.")
        known = [value for value in own.values() if value is not None]
        mean = sum(known) / max(1, len(known))
        printed = means.get(system, mean)
        if abs(mean - printed) > ROUNDED:
            raise InputError(
                f"{file.name}: the {len(known):,} segments of {system!r} have the mean {mean:.4f}, "
                f"its own line says {printed:.4f}; lines are missing or changed."
            )
    note = f"{file.name}: scores of four decimals; comet-score --to_json writes all of them."
    return assembly.material([note])


def sniff_comet_json(file: File) -> bool:
    """An object of files, each with a list of `{src, mt, ref, COMET}`."""
    first = [entry for listed in file.first.values() for entry in entries_of(listed)[:1]]
    scored = all(isinstance(entry, dict) and "mt" in entry for entry in first)
    return file.kind == "object" and bool(first) and scored


def read_comet(file: File) -> Material:
    """Read sources, references, outputs and scores, those beside comet-compare's results, too.

    Raises:
        InputError: Files without segments or of unequal lengths, segments with different sources,
            something else where the others have a number, something that is no list.
    """
    compared = file.first if "statistical_results" in file.first else {}
    systems = [(path, entries_of(own)) for path, own in file.first.items() if not compared]
    for entry in entries_of(compared.get("translations")):
        own = entry if isinstance(entry, dict) else {}
        columns = {"src": compared.get("source"), "ref": compared.get("reference"),
                   "mt": own.get("mt"), COMET: own.get("scores")}  # fmt: skip
        lists = {name: column for name, column in columns.items() if isinstance(column, list)}
        if not {"mt", COMET} <= {*lists} or len({*map(len, lists.values())}) > 1:
            raise InputError(
                f"{file.name}: translations need name, mt and scores, lists as long as the source."
            )
        rows = [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
        systems.append((str(own.get("name")), [*rows]))
    records = dict[str, dict[str, object]]()  # by place
    for path, entries in systems:
        if not entries:
            raise InputError(f"{file.name}: no segments of {path[:80]!a}; take it out.")
        system = name_in(name_of(path), file.name)
        for i, entry in enumerate(entries, 1):
            place = f"{i} of {path[:80]!a}"
            if not isinstance(entry, dict) or not isinstance(entry.get("mt"), str):
                why = "an object with the text mt is expected."
                raise InputError(f"{file.name}, entry {place}: {why}")
            records[place] = {**entry, "system": system, "higher_is_better": True}
    table = Table.of_records(file.name, [*records.values()], [*records])
    material = read_columns_of(table, file.stem)
    return replace(material, notes=(), unread=())  # such as spans of errors


def name_of(path: str) -> str:
    """The system whose output a file holds: the file's name without folders and suffix."""
    return system_name(path.strip().replace("\\", "/").rpartition("/")[2])


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


def read_lm_eval(file: File) -> Material:
    """Read every metric that is a number for each item, or a log-likelihood.

    The harness makes perplexities of logged log-likelihoods: exp of minus their mean, or of minus
    their sum over the number of words or bytes (`lm_eval/api/metrics.py`).

    Raises:
        InputError: No such metric, a row without an id or without a metric that others have, an
            item twice.
    """
    rows, (task, model, directions, evaluated) = file.records(), _results(file)
    filters = [name_in(row.record.get("filter", "none"), file.name) for row in rows]
    several = len({*filters}) > 1
    labels = {  # metric and filter of each; the filter is named where there are several
        f"{metric},{chosen}" if several else metric: (metric, chosen)
        for row, chosen in zip(rows, filters, strict=True)
        for metric in _metrics(row.record)
    }
    require_filled(len(rows), len(labels), sum(len(row.record) for row in rows), file.name)
    by_filter: defaultdict[str, list[Placed]] = defaultdict(list)
    for row, chosen in zip(rows, filters, strict=True):
        by_filter[chosen].append(row)
    notes: list[str] = []
    values: dict[str, Callable[[object], float | tuple[float, float] | None]] = {}
    for label, (metric, chosen) in labels.items():
        cells = [(r.record.get("doc_id"), r.record.get(metric)) for r in by_filter[chosen]]
        if metric in LIKELIHOODS and all(blank(c) or _loss("", c) for _, c in cells):
            values[label] = partial(_loss, metric)
        elif why := _unusable(cells):
            notes.append(f"{file.name}: {label} {why}")
        else:
            values[label] = _value
    if not values:
        why = " ".join(note.removeprefix(f"{file.name}: ") for note in notes)
        raise InputError(
            f"{file.name} has no metric with one finite number an item: "
            f"{why or 'its rows have none.'} Give samples of a task with such a metric."
        )
    # the harness names folders after models, org__model
    folder = file.path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]
    named = model or folder * ("__" in folder)
    system = str(named or file.stem.removesuffix("_write_out_info"))
    assembly = Assembly(file.name)
    for row, chosen in zip(rows, filters, strict=True):
        i = assembly.place_of(row.record.get("doc_id"), row.place)
        item = [own for name in ITEM if (own := row.record.get(name)) is not None]
        words = [s if isinstance(s, str) else json.dumps(s, ensure_ascii=False) for s in item]
        assembly.describe(i, {"testset": task, "key": " ".join(words) or None}, row.place)
        for label, value_of in values.items():
            metric = labels[label][0]
            if labels[label][1] == chosen:
                group = (without_slash(system), label, ONLY_RUN)
                higher = directions.get(metric)
                higher = higher if isinstance(higher, bool) else None
                assembly.score(i, group, value_of(row.record.get(metric)), row.place, higher)
    material = assembly.material(notes, ordered=False)
    scores = tuple(
        own if values[own.label] is _value
        else replace(own, metric=LIKELIHOODS[labels[own.label][0]], higher_is_better=False)
        for own in material.scores
    )  # fmt: skip
    notes, size = [*material.notes], len(material)
    if isinstance(evaluated, int) and evaluated != size:
        beside = f"the results beside it are about {evaluated:,}"
        notes.append(f"{file.name} has {size:,} items, {beside}.")
    return replace(material, scores=scores, notes=tuple(notes))


def _results(file: File) -> tuple[str | None, object, Record, object]:
    """The task of a file of samples; and of its run the model, directions, and number of items."""
    match = SAMPLES.match(file.base)
    if match is None:
        return None, None, {}, None
    task, time = match["task"], match["time"]
    for name, data in file.near(lambda name: name.endswith(f"{time}.json")).items():
        results = loads(data.decode("utf-8", "replace"), name)
        if isinstance(results, dict) and "results" in results:
            arguments = record_in(results, "config").get("model_args")
            system = results.get("model_name")
            if not system and isinstance(arguments, str) and (named := MODEL.search(arguments)):
                system = named[1]
            if not system and isinstance(arguments, dict):
                system = arguments.get("pretrained") or arguments.get("model")
            samples = record_in(record_in(results, "n-samples"), task).get("effective")
            directions = record_in(record_in(results, "higher_is_better"), task)
            return task, system, directions, samples
    return task, None, {}, None


def _metrics(record: Record) -> Iterable[str]:
    listed = record.get("metrics")
    if isinstance(listed, list):
        return [str(name) for name in listed]
    return [
        name
        for name, value in record.items()
        if name not in OURS and not OLD.match(name) and (_value(value) is not None or blank(value))
    ]


def _value(cell: object) -> float | None:
    """The number in a cell, perhaps infinite."""
    return None if blank(cell) else float_in(cell)


def _loss(metric: str, cell: object) -> tuple[float, float] | None:
    """Negative log-likelihood, in bits where the metric is, and the number of words or bytes."""
    pair = cell if isinstance(cell, list) and len(cell) == 2 else [cell, 1]
    likelihood, amount = map(_value, pair)
    if likelihood is None or amount is None or not -math.inf < likelihood <= 0 < amount < math.inf:
        return None
    return -likelihood / (math.log(2) if metric == "bits_per_byte" else 1), amount


def _unusable(cells: Sequence[tuple[object, object]]) -> str | None:
    """Why a metric has no finite number for each item."""
    endless = [str(name) for name, cell in cells if math.isinf(_value(cell) or 0.0)]
    other = [str(name) for name, cell in cells if _value(cell) is None and not blank(cell)]
    if endless:
        return (
            f"is infinite for {len(endless):,} of {len(cells):,} items (doc_id "
            f"{examples(endless)}), so it has no mean."
        )
    if other:
        return (
            f"is no number for single items (doc_id {examples(other)}); it exists for the whole "
            "task only."
        )
    return None


# inspect_ai.scorer: CORRECT, PARTIAL, INCORRECT, NOANSWER, and what value_to_float makes of words
WORDS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "no": 0.0}
REDUCED = "reduced"


def read_inspect(file: File) -> Material:
    """Read a log that is one JSON object.

    Raises:
        InputError: Samples that were not scored, a score that is no number, a sample twice.
    """
    samples, reductions = (entries_of(file.first.get(name)) for name in ("samples", "reductions"))
    return _log(file.name, file.first, samples, reductions)


def is_packed_log(tree: Tree) -> bool:
    """Whether an archive is a log."""
    names = [*map(str, tree.paths)]
    samples = any(name.startswith("samples/") for name in names)
    return "_journal/start.json" in names or ("header.json" in names and samples)


def read_packed_log(tree: Tree) -> Material:
    """Read a log that is a zip: the members that have the scores, without the transcripts.

    Raises:
        InputError: As `read_inspect`, or no header.
    """
    name, names = tree.name, [*map(str, tree.paths)]

    def value_in(member: str) -> object:
        where = f"{name}: {member}"
        return loads(decode(tree.read(PurePosixPath(member)), where), where)

    header = value_in("header.json" if "header.json" in names else "_journal/start.json")
    if not isinstance(header, dict):
        raise InputError(f"{name} is a log of Inspect without a header; it is not whole.")
    summaries = [own for own in names if own.startswith("_journal/summaries/")]
    summaries = ["summaries.json"] if "summaries.json" in names else summaries
    samples = [entry for member in summaries for entry in entries_of(value_in(member))]
    if not summaries:
        samples = [value_in(member) for member in names if member.startswith("samples/")]
    reduced = value_in("reductions.json") if "reductions.json" in names else None
    return _log(name, header, samples, entries_of(reduced))


def _log(
    name: str, log: Record, samples: Sequence[object], reductions: Sequence[object]
) -> Material:
    task = record_in(log, "eval")
    system = str(task.get("model", "model"))
    status = log.get("status", "started")
    notes = []
    if status != "success":
        notes.append(f"{name}: the status of the log is {status}; items may be missing.")
    if all(isinstance(s, dict) and isinstance(s.get("id"), int) for s in samples):
        # packed logs have samples as they ended
        samples = sorted(samples, key=lambda s: s["id"] if isinstance(s, dict) else 0)
    scored = samples
    if not samples and reductions:
        notes.append(f"{name} has no samples; scores are those that Inspect reduced over epochs.")
        scored = [
            {
                "id": one.get("sample_id"),
                "epoch": REDUCED,
                "scores": {own.get("scorer", "score"): one},
            }
            for own in reductions
            if isinstance(own, dict)
            for one in entries_of(own.get("samples"))
            if isinstance(one, dict)
        ]
    found = [(i, row) for i, sample in enumerate(scored, 1) for row in _scores_of(sample, name)]
    labels = {label: (label,) for _, (_, label, *_) in found if label is not None}
    require_filled(len(scored), len(labels), len(found), name)
    rows = [
        (i, (item, own, *rest, system))
        for i, (item, label, *rest) in found
        for own in labels.get(label, labels)  # of one that ended in an error, none of all
    ]
    if not rows:
        what = f"{len(samples)} samples, none of them scored" if samples else "no samples"
        raise InputError(
            f"{name} is a log of Inspect with {what} (status {status}); score it with "
            "`inspect score`, or give the log of a run that ended."
        )
    header = ("id", "metric", "score", "run", "question", "system")
    table = Table(name, header, [row for _, row in rows], [i for i, _ in rows], "entry")
    material = read_columns_of(table, system)
    testset = str(task.get("task", ""))
    return replace(
        material,
        testsets=(testset,) * len(material) if testset else None,
        notes=tuple(notes),
        unread=(),
    )


def _scores_of(sample: object, name: str) -> Iterator[tuple[object, ...]]:
    """Item, label, score, epoch and what was asked, of what scorers say: one score or several.

    Nothing stands for the label and the score of a sample that was not scored.
    """
    if not isinstance(sample, dict):
        raise InputError(f"{name}: a sample that is no object.")
    epoch = str(sample.get("epoch", 1))
    where = f"{name}, sample {str(sample.get('id'))[:60]} of epoch {epoch}"
    text = sample.get("input")
    asked = text[:500] if isinstance(text, str) else None  # summaries have no more of it
    scores = record_in(sample, "scores") or ({"score": s} if (s := sample.get("score")) else {})
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        cells: Iterable[tuple[object, object]] = [("", value)]
        if isinstance(value, dict | list):
            cells = value.items() if isinstance(value, dict) else enumerate(value)
        for key, cell in cells:
            label = (name_in(scorer, where) + f".{key}" * (key != "")).replace("/", ".")
            yield sample.get("id"), label, value_of(cell, f"{where}, {label}"), epoch, asked
    if not scores:
        yield sample.get("id"), None, None, epoch, asked


def value_of(value: object, where: str) -> float | None:
    """The number that Inspect's metrics make of a value; nothing where a sample was not scored.

    Raises:
        InputError: A word that stands for no number, which Inspect counts as 0.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    word = str(value).strip()
    score = WORDS.get(word.lower(), float_in(value))
    if score is None or not math.isfinite(score):
        raise InputError(
            f"{where}: {word[:40]!a} stands for no number; C, P, I, N, yes, no and numbers do."
        )
    return score
