"""People's judgements as they are published: direct assessment, MQM, ESA, rankings, WMT25.

- Direct assessment by the WMT organisers: judgements, and means by segment. Cells lie between
  blanks and tabs, both in one line; text may stand in quotes; NA is unknown.
- MQM as Google publishes it: one row an error. A segment's score for a rater is the negated sum of
  its errors' weights.
- What Appraise exports, without a header: login, perhaps the source's id, system, item, TGT, CHK
  (shown again), BAD or REF, source language, target language, score, perhaps document and whether
  that is all of it, perhaps spans (JSON; of ESA and MQM), start, end, perhaps batch and number.
  `item` is the 0-based line of the test set in WMT24, and the place in the login's batch where
  documents are named `name#system`; a segment is then a document and a place in it. As JSON Lines
  the same has names, and `targets` where an annotator sees several outputs at once.
- Rankings until 2016: some outputs of one segment, rank 1 best. Ties are allowed; a rank of -1
  says that the output was not ranked. Systems with one output share a place, `A+B`, and places
  without an output are called PLACEHOLDER.
- mt-metrics-eval's `system<TAB>score`; the i-th line of a system is segment i.
- Pearmut's log of a campaign, JSON Lines: items with the scores of their outputs by model, and the
  annotator. Items of tutorials, of attention checks and of the end are left out.
- WMT25's JSON Lines, a segment each, with its waves, of which every one is an item of its own:
  {"doc_id": "cs-de_DE_#_news_#_name_#_0", "tgt_text": {"A": "..."}, "scores": {"A": {"human1": 90,
  "annotator1": "w1", "errors1": [...], "human2": 95, ...}}}. Control segments have a list of such
  objects, without numbers.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

from sigtest.data.names import name_in, without_slash
from sigtest.errors import InputError, at_line, quoted
from sigtest.files import judgements
from sigtest.files.file import File, Placed, entries_of
from sigtest.files.formats.programs import cells_of_systems, pair_of, require_equal
from sigtest.files.formats.wmt import SEPARATOR
from sigtest.files.judgements import SCALE, JudgedFile
from sigtest.files.material import examples
from sigtest.files.tables import Table, parsed, read_table

CRITERIA = {"ad": "adequacy", "fl": "fluency"}
STANDARDISED = 20.0  # no z-score is further from 0, and raw scores are not negative
MQM_NEEDED = ("system", "rater", "category", "severity")
MQM_SEGMENT = ("seg_id", "globalsegid", "global_seg_id")  # of the whole test set, as years call it
MQM_IN_DOCUMENT = ("docsegid", "doc_seg_id")
# From the most specific to the least: (severity, beginning of the category, weight).
MQM_WEIGHTS: tuple[tuple[str, str, float], ...] = (
    ("major", "non-translation", 25.0),
    ("minor", "fluency/punctuation", 0.1),
    ("major", "", 5.0),
    ("minor", "", 1.0),
    ("neutral", "", 0.0),
    ("no-error", "", 0.0),
)
SHOWN = 5  # of the severities without a weight
SCORE = re.compile(r"None|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def sniff_mtme(file: File) -> bool:
    """A system, a tab and a score or None."""
    cells = judgements.first_line(file).rstrip().split("\t")
    return len(cells) == 2 and SCORE.fullmatch(cells[1].strip()) is not None


def _columns(table: Table, roles: Mapping[str, str], *needed: str) -> dict[str, Sequence[Any]]:
    """Columns by role, which their names in small letters have.

    Raises:
        InputError: One that is needed is missing.
    """
    columns = {name.strip('"').lower(): cells for name, cells in table.columns.items()}
    for column in needed:
        if column not in columns:
            raise _without(table.name, f"no column {column}")
    return {role: columns[column] for column, role in roles.items() if column in columns}


def _without(name: str, what: str) -> InputError:
    return InputError(f"{name}, line 1: the header has {what}.", field=name)


DA = {
    "sys_id": "system", "sid": "segment", "workerid": "annotator", "type": "kind",
    "score": "score", "input.item": "criterion", "hitid": "hit", "input.src": "source",
    "input.trg": "target", "time": "time",
}  # fmt: skip
MEANS = {
    "system": "system", "sys": "system", "sid": "segment", "raw.scr": "score", "z.scr": "z",
    "human": "human", "lp": "languages", "n": "judged",
}  # fmt: skip
MQM = {
    "system": "system", "rater": "annotator", "doc": "document", "severity": "severity",
    "category": "category", **dict.fromkeys(MQM_SEGMENT[::-1], "segment"),
    **dict.fromkeys(MQM_IN_DOCUMENT[::-1], "part"),
}  # fmt: skip


def read_da(file: File) -> JudgedFile:
    """One row a judgement: HITId WorkerId Input.src ... type sid score time.

    Scores of a standardised file (some negative, none beyond 20) are z already.

    Raises:
        InputError: A row with more or fewer cells than the header, or a column missing.
    """
    table = read_table(file, " ")
    columns = _columns(table, DA, "workerid", "sys_id", "type", "sid", "score")
    if "hit" in columns:
        columns["seconds"] = _seconds(columns)
        columns["hit"] = [None if hit in {"", "NA"} else hit for hit in columns["hit"]]
    if "criterion" in columns:
        columns["criterion"] = [CRITERIA.get(i.lower(), i) for i in columns["criterion"]]
    if {"source", "target"} <= columns.keys():
        pairs = zip(columns["source"], columns["target"], strict=True)
        columns["languages"] = [*map("-".join, pairs)]
    scale = _told_apart(columns, "score")
    return JudgedFile(file.name, "wmt_da", table.places, columns, named="adequacy", scale=scale)


def _told_apart(columns: dict[str, Sequence[Any]], scores: str) -> tuple[float, float] | None:
    """Puts scores where standardised or raw ones belong; the scale of raw ones."""
    cells, values = columns.pop(scores), list[float]()
    with suppress(ValueError):  # what is no number is left for the check of scores
        values = [*map(float, cells)]
    standard = min(values, default=0) < 0 and max(map(abs, values)) <= STANDARDISED
    columns["z" if standard else "score"] = cells
    return None if standard else SCALE


def _seconds(columns: Mapping[str, Sequence[str]]) -> Sequence[float | None]:
    """Seconds a judgement; the published files repeat the time of the whole batch in its rows."""
    batches = [*zip(columns["annotator"], columns["hit"], strict=True)]
    try:
        times = [float(time) if time != "NA" else 0.0 for time in columns.get("time", ())]
    except ValueError:
        times = []
    if not times:
        return [None] * len(batches)
    sizes, first = Counter(batches), dict(reversed([*zip(batches, times, strict=True)]))
    if all(first[batch] == time for batch, time in zip(batches, times, strict=True)):
        times = [time / sizes[batch] for batch, time in zip(batches, times, strict=True)]
    return [time if time > 0 else None for time in times]


def read_da_segments(file: File) -> JudgedFile:
    """One row a segment of a system: mean scores and how many judgements are in them.

    Raises:
        InputError: A row with more or fewer cells than the header, or a column missing.
    """
    table = read_table(file, " ")
    columns = _columns(table, MEANS, "sid")
    if "system" not in columns:
        raise _without(file.name, "neither SYS nor SYSTEM")
    scale = SCALE if "score" in columns else None
    if "human" in columns:
        scale = _told_apart(columns, "human")
    name, form = file.name, "wmt_da_segments"
    return JudgedFile(name, form, table.places, columns, named="adequacy", scale=scale)


def read_mqm(file: File) -> JudgedFile:
    """One judgement for every (system, segment, rater).

    Raises:
        InputError: A row with more or fewer cells than the header, a column missing, a severity
            without a weight.
    """
    table = read_table(file, "\t")
    columns = _columns(table, MQM, *MQM_NEEDED)
    segments, weights = _mqm_segments(columns, file.name), _weights(columns, table)
    rows: dict[tuple[str, str, str], list[int]] = {}  # of each judgement
    for row, key in enumerate(zip(columns["system"], segments, columns["annotator"], strict=True)):
        rows.setdefault(key, []).append(row)
    names = zip(("system", "segment", "annotator"), zip(*rows, strict=True), strict=True)
    judged: dict[str, Sequence[Any]] = {
        **dict(names),
        "score": [0.0 - _added([weights[row] for row in own]) for own in rows.values()],
        "made_from": [*map(len, rows.values())],
    }
    if "document" in columns:
        judged["document"] = [columns["document"][own[0]] for own in rows.values()]
    lines = [table.places[own[0]] for own in rows.values()]
    return JudgedFile(file.name, "mqm", lines, judged, len(table), named="mqm")


def _added(weights: Sequence[float]) -> float:
    """Their sum, one after the other: that of Python is rounded in another way since 3.12."""
    total = 0.0
    for value in weights:
        total += value
    return total


def _mqm_segments(columns: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    """Id of each row's segment: of the test set, or the document and the id in it.

    A file without numbers over all documents may have one and the same number in every row.
    """
    number, part = columns.get("segment"), columns.get("part")
    if number is not None and (part is None or len({*number}) > 1):
        return number
    if part is None or "document" not in columns:
        raise _without(name, f"no column {MQM_SEGMENT[0]}")
    return [f"{doc}.{own}" for doc, own in zip(columns["document"], part, strict=True)]


def weight(severity: str, category: str) -> float | None:
    """Weight of an error; nothing where the severity has none (Freitag et al. 2021, Table 4)."""
    weights = (
        value
        for known, beginning, value in MQM_WEIGHTS
        if severity == known and category.startswith(beginning)
    )
    return next(weights, None)


def _weights(columns: Mapping[str, Sequence[str]], table: Table) -> list[float]:
    """Weight of every row; rows whose severity has none are listed together."""
    errors = [*zip(columns["severity"], columns["category"], strict=True)]
    known = {error: weight(error[0].strip().lower(), error[1].strip().lower()) for error in errors}
    missing = sorted({severity for (severity, _), value in known.items() if value is None})
    if missing:
        row = next(row for row, error in enumerate(errors) if known[error] is None)
        listed = examples((repr(severity[:40]) for severity in missing), SHOWN)
        why = f"no weight is known for severity {listed}"
        instead = "use Major, Minor, Neutral or No-error"
        raise at_line(table.name, table.places[row], f"{why}; {instead}.")
    return [known[error] or 0.0 for error in errors]


def read_mtme(file: File) -> JudgedFile:
    """Scores by segment; None is a segment that was not judged.

    Raises:
        InputError: A line of another form, systems with different numbers of lines, or one line a
            system: scores of whole systems.
    """
    require_equal(cells_of_systems(file), file, "a human evaluation")
    seen: Counter[str] = Counter()
    rows = []
    for line, text in enumerate(file.lines, 1):
        if text.strip():
            system, cell = (part.strip() for part in pair_of(text))
            seen[system] += 1
            rows.append((line, system, str(seen[system]), cell))
    judged = [row for row in rows if row[3] != "None"]
    line_of, *cells = zip(*judged, strict=True) if judged else ((),) * 4
    columns = dict(zip(("system", "segment", "score"), cells, strict=True))
    dropped = {"not judged": len(rows) - len(judged)}
    return JudgedFile(file.name, "mtme", line_of, columns, dropped=dropped)


WIDEST = 25  # outputs of one ranking
MOST_PAIRS = 2_000_000  # of outputs in rankings, twice those of WMT13; each takes 200 bytes
MOST_RANKED = 100  # outputs of a ranking, with all that share a place
FIVE = 5  # outputs of a ranking of WMT, whose pairs keep their ranks
JUDGE = ("judgeId", "judgeID")  # as Appraise and as WMT16 write it
RANKED = {  # columns that must be there
    "item": ("srcIndex", "segmentId"), "judge": JUDGE, "system": ("system1Id",),
    "rank": ("system1rank",),
}  # fmt: skip
RANK = re.compile(r"-1|[1-9][0-9]{0,3}")


def read_rankings(file: File) -> JudgedFile:
    """Every row is one ranking, of which every two outputs are compared.

    Raises:
        InputError: A row with more or fewer cells than the header, a column missing, a rank that
            is no whole number, a system that is ranked twice.
    """
    table = read_table(file, ",")
    columns = {name: [*map(str, cells)] for name, cells in table.columns.items()}
    labels = {}
    for role, names in RANKED.items():
        labels[role] = next((columns[name] for name in names if name in columns), ())
        if not labels[role]:
            raise _without(file.name, f"no column {names[0]}")
    if {"srclang", "trglang"} <= {*columns}:
        pairs = zip(columns["srclang"], columns["trglang"], strict=True)
        labels["languages"] = [*map("-".join, pairs)]
    width = 0
    while f"system{width + 1}Id" in columns and f"system{width + 1}rank" in columns:
        width += 1
    if width > WIDEST:
        raise at_line(file.name, 1, f"rankings of {width} outputs; at most {WIDEST} are accepted.")
    ids, ranks = (
        [*zip(*(columns[f"system{i + 1}{what}"] for i in range(width)), strict=True)]
        for what in ("Id", "rank")
    )
    # the systems behind each joint name, all of which stand elsewhere, too
    parts = {name: name.split("+") for row in ids for name in row}
    often = Counter(part for row in parts.values() for part in row)
    sharing = {name: row for name, row in parts.items() if all(often[part] > 1 for part in row)}
    records, lines, lone, size = list[tuple[Any, ...]](), list[int](), 0, 0
    for row, (names, place) in enumerate(zip(ids, table.places, strict=True)):
        ranked = [
            (without_slash(system), rank)
            for name, rank in zip(names, _ranks(ranks[row], table, row), strict=True)
            if rank > 0
            for system in sharing.get(name, [name])
        ]
        counts = Counter(system for system, _ in ranked)
        if twice := next((system for system, count in counts.items() if count > 1), None):
            why = f"system {twice!r} is ranked twice; leave one of its ranks."
            raise at_line(file.name, place, why)
        lone += len(ranked) < 2
        size += len(ranked) * (len(ranked) - 1) // 2
        if len(ranked) > MOST_RANKED or size > MOST_PAIRS:
            why = f"{len(ranked)} outputs in one ranking, {size:,} pairs in all; at most"
            raise at_line(file.name, place, f"{why} {MOST_RANKED} and {MOST_PAIRS:,} are accepted.")
        about = {role: cells[row] for role, cells in labels.items()}
        records += judgements.ranked_pairs(ranked, **about, cluster=f"{file.name}:{place}")
        lines += [place] * (len(records) - len(lines))
    dropped = {"fewer than two outputs are ranked": lone} if lone else {}
    made = {"rows": len(table), "dropped": dropped, "placed": False}
    return judgements.compared_records(records, lines, file.name, input="rnk", **made)


def _ranks(cells: Sequence[str], table: Table, row: int) -> list[int]:
    most = max(FIVE, len(cells))
    for cell in cells:
        if not RANK.fullmatch(cell.strip()) or int(cell) > most:
            why = f"{cell[:20]!r} is no rank; ranks are whole numbers from 1 to {most}, or -1"
            raise at_line(table.name, table.places[row], f"{why} for an output not ranked.")
    return [*map(int, cells)]


def read_waves(file: File) -> JudgedFile:
    """One judgement for each wave of a system on a segment; languages come from the id.

    Raises:
        InputError: A line of another form, a span of an error that ends outside its output.
    """
    rows = [(wave, row.number) for row in file.records() for wave in _waves_of(row, file.name)]
    judged = [(wave, line) for wave, line in rows if wave["score"] is not None]
    waves, lines = [wave for wave, _ in judged], [line for _, line in judged]
    made = {"input": "wmt25", "named": "esa", "dropped": {"not judged": len(rows) - len(judged)}}
    return judgements.judged_records(waves, lines, file.name, **made)


def _waves_of(row: Placed, name: str) -> Iterator[dict[str, Any]]:
    """The judgements of one line."""
    outputs, scores = row.record.get("tgt_text"), row.record.get("scores")
    document = name_in(row.record.get("doc_id"), f"{name}, line {row.number}")
    languages, *place = document.split(SEPARATOR)
    if not isinstance(outputs, dict) or not isinstance(scores, dict) or not place:
        why = "no segment of WMT25 with doc_id, tgt_text and scores."
        raise at_line(name, row.number, why)
    fields = ("human", "annotator", "errors")
    for system, entries in scores.items():
        # browsers, which marked the spans, count in UTF-16
        length = len(str(outputs.get(system, "")).encode("utf-16-le", "surrogatepass")) // 2
        waves = entries if isinstance(entries, list) else []
        if isinstance(entries, dict):
            numbers = sorted(k.removeprefix("human") for k in entries if k.startswith("human"))
            waves = [{field: entries.get(f"{field}{n}") for field in fields} for n in numbers]
        for number, wave in enumerate((own for own in waves if isinstance(own, dict)), 1):
            checked_spans(wave.get("errors") or [], row.number, name, length)
            yield {
                "system": system,
                "segment": SEPARATOR.join([*place, f"human{number}"]),
                "score": wave.get("human"),
                "annotator": wave.get("annotator"),
                "document": SEPARATOR.join(place[:2]),
                "languages": languages,
            }


BESIDE = ("welcome_", "random_", "goodbye_")  # what numbers of items outside the task begin with


def read_pearmut(file: File) -> JudgedFile:
    """One judgement for each output of an item; the last where an annotator judged it again.

    Raises:
        InputError: A line of another form, no score at all.
    """
    found: dict[tuple[object, ...], tuple[dict[str, Any], int]] = {}
    dropped: Counter[str] = Counter()
    for line in file.records():
        record = line.record
        number = name_in(record.get("item_i"), f"{file.name}, line {line.number}")
        items, given = (entries_of(record.get(name)) for name in ("item", "annotation"))
        for place, (item, scores) in enumerate(zip(items, given, strict=False)):
            if not isinstance(item, dict) or not isinstance(scores, dict):
                continue
            name = item.get("item_id", f"{number}.{place}")
            for model, own in scores.items():
                score = own.get("score") if isinstance(own, dict) else None
                key = (model, name, record.get("user_id"))
                if number.startswith(BESIDE) or str(name).startswith(BESIDE):
                    dropped["outside the task"] += 1
                elif score is None:
                    dropped["not judged"] += 1
                else:
                    dropped["judged again"] += key in found
                    row = dict(zip(("system", "segment", "annotator"), key, strict=True))
                    found[key] = ({**row, "score": score}, line.number)
    if not found:
        raise InputError(f"{file.name} has no score of an output (`score`).")
    rows, lines = zip(*found.values(), strict=True)
    return judgements.judged_records(rows, lines, file.name, input="pearmut", dropped=dropped)


KINDS = {"TGT": "SYSTEM", "CHK": "REPEAT", "BAD": "BAD_REF", "REF": "REF"}
# of a row of Appraise, and what a record calls it; years and campaigns lack some
ROW = {
    "login": "annotator", "source": "source_id", "system": "target_id", "item": "item_id",
    "kind": "item_type", "from": "source_language", "to": "target_language", "score": "score",
    "document": "document_id", "whole": "is_complete_document",
    "spans": "mqm_annotations", "start": "start_time", "end": "end_time",
}  # fmt: skip
LACKED = {"document": "", "spans": "[]", "start": "0", "end": "0"}
KEY = ("login", "system", "source", "kind")
PART = ("login", "system", "document")
TAKEN = {"annotator": "login", **{name: name for name in ("system", "score", "kind", "languages")}}
SPAN_WEIGHTS = {"minor": 1.0, "major": 5.0}
FIGURE = re.compile(r"\d+(\.\d*)?")
UNDECIDED = "undecided"  # severity of a span that its annotator marked and did not judge
LONGEST = 100_000  # characters, more than any segment has
PUNCTUATION = 0.1  # whatever its severity
TUTORIAL = re.compile(r"tutorial\d*$")
COPY = re.compile(r"^(bad|dup|duplicate)\d*$")
CAMPAIGN = re.compile(r"^wmt\d\d\.")


Row = dict[str, Any]


def _row(fields: Sequence[str], cells: Sequence[str], line: int, name: str) -> Row:
    """The cells of a line by the names of ROW, and what follows from them.

    `source` is the item where there is none, and part of a document shown a second time is a
    duplicate. `marks` is what follows `#` in the document's name, without the system; `placed` says
    whether that stood there, so that items are places in a batch.

    Raises:
        InputError: More or fewer cells than fields, or something else where there should be
            numbers, JSON or a kind.
    """
    if len(cells) != len(fields):
        raise at_line(name, line, f"{len(cells)} fields, where {len(fields)} are expected.")
    row: Row = {**LACKED, **dict(zip(fields, cells, strict=True))}
    try:
        numbers = {"place": int(row["item"]), **{end: float(row[end]) for end in ("start", "end")}}
        marked = json.loads(row["spans"])
    except (ValueError, RecursionError) as error:
        why = f"item, start, end and spans must be numbers and JSON ({error})."
        raise at_line(name, line, why) from None
    if (kind := row["kind"]) not in KINDS:
        raise at_line(name, line, f"unknown kind {kind[:40]!r}; use {', '.join(KINDS)}.")
    document, *marks = row["document"].split("#")
    again = kind == "TGT" and any(mark.startswith("dup") for mark in marks)
    placed = bool(marks) and marks[0] in {row["system"], CAMPAIGN.sub("", row["system"])}
    spans = checked_spans(marked, line, name)
    return {
        "source": row["item"], **row, **numbers, "line": line, "document": document,
        "marks": tuple(marks[placed:]), "placed": placed, "spans": spans,
        "kind": "DUPLICATE" if again else KINDS[kind], "languages": f"{row['from']}-{row['to']}",
    }  # fmt: skip


def _fields_of(cells: Sequence[str]) -> list[str]:
    """What the cells of a row of Appraise are: behind the times are batches, beside spans words."""
    lacks = {"source"} if {*cells[3:4]} & {*KINDS} else set()
    lacks |= set() if {"True", "False"} & {*cells} else {"document", "whole"}
    first = [field for field in [*ROW][:-3] if field not in lacks]
    times = iter(("start", "end", "batch", "number"))
    rest = (
        "spans" if cell.startswith("[") else next(times, "") if FIGURE.fullmatch(cell) else ""
        for cell in cells[len(first) :]
    )
    return [*first, *rest]


def _exported(file: File) -> Iterator[tuple[int, list[str]]]:
    """The cells of each output that a record of Appraise's JSON Lines is about."""
    for line in file.records():
        for own in entries_of(line.record.get("targets")) or [{}]:
            if not isinstance(own, dict):
                raise at_line(file.name, line.number, "targets must be a list of objects.")
            record = {"item_id": own.get("segment_id"), **line.record, **own}
            cells = [record.get(name) for name in ROW.values()]
            if record.get("target_id") is not None:  # a place without an output
                yield line.number, ["[]" if cell is None else str(cell) for cell in cells]


def read_esa(file: File) -> JudgedFile:
    """ESA: the score is the judgement. MQM, where every score is 0: the spans are.

    Tutorials are left out, and whole documents where their segments are judged, too; of several
    rows of one login and item the one that ended last stays.
    A document shown again is there for control only and does not enter segment scores, as in the
    organisers' own.

    Raises:
        InputError: A row of another form, a span that begins after its end or before the text, a
            severity without a weight in an MQM campaign.
    """
    name = file.name
    lines = [*(_exported(file) if file.kind else parsed(file.text, ",", name))]
    lines = lines[not {*KINDS} & {*lines[0][1]} :] or lines  # without a header
    fields = [*ROW] if file.kind else _fields_of(lines[0][1])
    rows = [_row(fields, cells, line, name) for line, cells in lines]
    items = {(*map(row.get, KEY), row["place"]) for row in rows if row["kind"] == "SYSTEM"}
    if 2 * len(items) > 3 * len({item[:-1] for item in items}):
        for row in rows:  # the source is called as its file
            row["source"] = row["item"]
    parts = [row for row in rows if not TUTORIAL.search(row["system"])]
    judged = [row for row in parts if row.get("whole") != "True"] or parts
    last = {
        tuple(map(row.get, (*KEY, "document", "marks"))): row
        for row in sorted(judged, key=itemgetter("end"))
    }
    latest = sorted(last.values(), key=itemgetter("line"))
    mqm = all(row["score"].strip() in {"0", "0.0"} for row in latest) and any(
        span.get("error_type") for row in latest for span in row["spans"]
    )
    columns: dict[str, Sequence[Any]] = {
        **{role: [row[field] for row in latest] for role, field in TAKEN.items()},
        "segment": _segments(latest),
        "document": [row["document"] or None for row in latest],
        "seconds": [max(row["end"] - row["start"], 0.0) or None for row in latest],
    }
    if mqm:
        weights = [[_span_weight(own, row["line"], name) for own in row["spans"]] for row in latest]
        columns["score"] = [0.0 - _added([w or 0.0 for w in own]) for own in weights]
        columns["undecided"] = [own.count(None) for own in weights]
    dropped = {
        "tutorial": len(rows) - len(parts),
        "whole document": len(parts) - len(judged),
        "superseded": len(judged) - len(latest),
    }
    about: dict[str, Any] = {"named": "mqm"} if mqm else {"named": "esa", "scale": SCALE}
    places = [row["line"] for row in latest]
    # of several rows only the latest is here
    return JudgedFile(name, "esa", places, columns, keyed=False, dropped=dropped, **about)


def checked_spans(
    spans: object, line: int, name: str, length: int = LONGEST
) -> list[dict[str, Any]]:
    """Spans whose ends are places in the text, or both the word `missing`: an omission.

    Args:
        spans: As they stand there.
        line: 1-based.
        name: Of the file.
        length: Of the text; the export has no texts, so that longer ones than any do not exist.

    Raises:
        InputError: Something else.
    """
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise at_line(name, line, "spans must be a list of objects.")
    for span in spans:
        ends = span.get("start_i"), span.get("end_i")
        numbers = [e for e in ends if isinstance(e, int) and not isinstance(e, bool)]
        inside = len(numbers) == 2 and 0 <= numbers[0] <= numbers[1] <= length
        if not inside and ends != ("missing", "missing"):
            first, last = (quoted(end, 20) for end in ends)
            why = f"a span from {first} to {last} lies outside its text"
            places = f"places from 0 to {length:,}, or both `missing`"
            raise at_line(name, line, f"{why}; both ends are {places}.")
    return spans


def _span_weight(span: Mapping[str, Any], line: int, name: str) -> float | None:
    """Weight of a marked error; nothing where that is to be decided yet."""
    severity = str(span.get("severity"))
    if "Punctuation" in str(span.get("error_type")):
        return PUNCTUATION
    if severity not in {*SPAN_WEIGHTS, UNDECIDED}:
        which = quoted(span.get("severity"), 40)
        why = f"no weight is known for severity {which}; use minor, major or undecided."
        raise at_line(name, line, why)
    return SPAN_WEIGHTS.get(severity)


def _segments(rows: Sequence[Row]) -> list[str]:
    """The segment of each row: its item, or its document and its place in it."""
    documents = {(row["languages"], row["source"], row["document"]) for row in rows}
    # whether items count anew in each document
    anew = len(documents) > len({segment[:2] for segment in documents})
    keys = [(*map(row.get, PART), *row["marks"], row["kind"]) for row in rows]
    parts: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    for row, key in zip(rows, keys, strict=True):
        if row["placed"] or anew:
            parts[key].add(row["place"])
    offsets = _offsets(parts)
    # rows of one item are one segment, whichever marks its document bears
    counted = {
        key: {place: i for i, place in enumerate(sorted(places), 1 + offsets[key[:3]])}
        for key, places in parts.items()
    }
    return [
        f"{row['document']}.{counted[key][row['place']]}"
        if row["placed"] or anew
        else row["source"]
        for row, key in zip(rows, keys, strict=True)
    ]


def _offsets(parts: Mapping[tuple[str, ...], set[int]]) -> Mapping[tuple[str, ...], int]:
    """Where in its document each login began.

    The end of one login's batch may cut a document; the next login has the rest.
    """
    sizes = {
        key[:3]: len(places)
        for key, places in parts.items()
        if key[-1] == "SYSTEM" and not any(map(COPY.match, key[3:-1]))
    }
    whole: Counter[str] = Counter()
    for (_, _, document), size in sizes.items():
        whole[document] = max(size, whole[document])
    offsets, judged = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for key, size in sorted(sizes.items()):
        before = judged[key[1:]]
        if before + size > whole[key[2]]:
            before = 0  # another annotator of the same document
        offsets[key] = before
        judged[key[1:]] = before + size
    return offsets
