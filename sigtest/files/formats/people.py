"""People's judgements as they are published: direct assessment, MQM, ESA, rankings, WMT25.

- Direct assessment by the WMT organisers: judgements, and means by segment. Cells lie between
  blanks and tabs, both in one line; text may stand in quotes; NA is unknown.
- MQM as Google publishes it: one row an error. A segment's score for a rater is the negated sum of
  its errors' weights.
- What Appraise exports: ESA and MQM campaigns, 12 columns, no header: login, system, item, TGT or
  BAD, source language, target language, score, document, whole document, spans (JSON), start, end.
  `item` is the 0-based line of the test set in WMT24, and the place in the login's batch where
  documents are named `name#system`; a segment is then a document and a place in it.
- Rankings until 2016: some outputs of one segment, rank 1 best. Ties are allowed; a rank of -1
  says that the output was not ranked. Systems with one output share a place, `A+B`, and places
  without an output are called PLACEHOLDER.
- mt-metrics-eval's `system<TAB>score`; the i-th line of a system is segment i.
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
from dataclasses import dataclass
from typing import Any

from sigtest.data.names import check_name, without_slash
from sigtest.errors import InputError, at_line, quoted
from sigtest.files.file import File, Placed
from sigtest.files.formats.programs import cells_of_systems, pair_of, require_equal
from sigtest.files.formats.wmt import SEPARATOR
from sigtest.files.judgements import SCALE, JudgedFile, Ranked, first_line, judged_records
from sigtest.files.tables import Table, fields_of, parsed, read_table

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
FIELDS = 12  # of a row of Appraise
KINDS = {"TGT": "SYSTEM", "BAD": "BAD_REF"}
SPAN_WEIGHTS = {"minor": 1.0, "major": 5.0}
UNDECIDED = "undecided"  # severity of a span that its annotator marked and did not judge
LONGEST = 100_000  # characters, more than any segment has
PUNCTUATION = 0.1  # whatever its severity
WIDEST = 25  # outputs of one ranking
FILLER = "PLACEHOLDER"
FIVE = 5  # outputs of a ranking of WMT, whose pairs keep their ranks
JUDGE = ("judgeId", "judgeID")  # as Appraise and as WMT16 write it
_RANK = re.compile(r"-1|[1-9][0-9]{0,3}")
_SCORE = re.compile(r"None|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_TUTORIAL = re.compile(r"tutorial\d*$")
_COPY = re.compile(r"^(bad|dup|duplicate)\d*$")
_CAMPAIGN = re.compile(r"^wmt\d\d\.")


def _words(file: File) -> set[str]:
    return {word.strip('"').lower() for word in first_line(file).split()}


def sniff_da(file: File) -> bool:
    """The header of `ad-good-raw` or `ad-...-stnd`."""
    return {"workerid", "sys_id", "sid", "score"} <= _words(file)


def sniff_da_segments(file: File) -> bool:
    """The header of means by segment: `SYS SID RAW.SCR Z.SCR N`, `... SID HUMAN`."""
    names = _words(file)
    listed = "," in first_line(file)
    return "sid" in names and bool({"raw.scr", "z.scr", "human"} & names) and not listed


def sniff_mqm(file: File) -> bool:
    """The header of an MQM table."""
    names = [name.strip().lower() for name in first_line(file).split("\t")]
    return {*MQM_NEEDED} <= {*names}


def sniff_esa(file: File) -> bool:
    """A row of an export of Appraise."""
    cells = fields_of(first_line(file))
    return len(cells) == FIELDS and cells[3] in KINDS and cells[8] in {"True", "False"}


def sniff_rankings(file: File) -> bool:
    """The header of a file of rankings."""
    names = {*first_line(file).split(",")}
    return {"system1Id", "system1rank"} <= names and not names.isdisjoint(JUDGE)


def sniff_mtme(file: File) -> bool:
    """A system, a tab and a score or None."""
    cells = first_line(file).rstrip().split("\t")
    return len(cells) == 2 and _SCORE.fullmatch(cells[1].strip()) is not None


def sniff_waves(file: File) -> bool:
    """A segment with outputs and people's scores of them."""
    names = ('"doc_id"', '"tgt_text"', '"scores"')
    return file.head.lstrip().startswith("{") and all(n in first_line(file) for n in names)


def _columns(table: Table, needed: Sequence[str]) -> dict[str, list[Any]]:
    """Columns by their names in small letters.

    Raises:
        InputError: One that is needed is missing.
    """
    columns = {
        name.strip('"').lower(): [row[i] for row in table.rows]
        for i, name in enumerate(table.header)
    }
    for column in needed:
        if column not in columns:
            raise _without(table.name, column)
    return columns


def _without(name: str, column: str) -> InputError:
    return InputError(f"{name}, line 1: the header has no column {column}.", field=name)


def read_da(file: File) -> JudgedFile:
    """One row a judgement: HITId WorkerId Input.src ... type sid score time.

    Scores of a standardised file (some negative, none beyond 20) are z already.

    Raises:
        InputError: A row with more or fewer cells than the header, or a column missing.
    """
    table = read_table(file, " ")
    columns = _columns(table, ("workerid", "sys_id", "type", "sid", "score"))
    scores = columns["score"]
    standard = _standardised(scores)
    criterion = columns.get("input.item")
    sides = columns.get("input.src"), columns.get("input.trg")
    batches = columns.get("hitid")
    return JudgedFile(
        name=file.name,
        input="wmt_da",
        named="adequacy",
        rows=len(table),
        line=table.places,
        system=columns["sys_id"],
        segment=columns["sid"],
        raw=None if standard else scores,
        z=scores if standard else None,
        annotator=columns["workerid"],
        kind=columns["type"],
        criterion=criterion and [CRITERIA.get(item.lower(), item) for item in criterion],
        hit=batches and [None if hit in {"", "NA"} else hit for hit in batches],
        languages=[*map("-".join, zip(*sides, strict=True))] if None not in sides else None,  # type: ignore[arg-type]
        seconds=_seconds(columns),
        scale=None if standard else SCALE,
    )


def _standardised(scores: Sequence[str]) -> bool:
    """Whether these are z-scores; what is no number is left for the check of scores."""
    try:
        values = [float(score) for score in scores]
    except ValueError:
        return False
    return bool(values) and min(values) < 0 and max(map(abs, values)) <= STANDARDISED


def _seconds(columns: Mapping[str, Sequence[str]]) -> list[float | None] | None:
    """Seconds a judgement; the published files repeat the time of the whole batch in its rows."""
    if not {"time", "hitid"} <= {*columns}:
        return None
    try:
        times = [float(time) if time != "NA" else 0.0 for time in columns["time"]]
    except ValueError:
        return None
    batches = [*zip(columns["workerid"], columns["hitid"], strict=True)]
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
    columns = _columns(table, ("sid",))
    system = columns.get("sys", columns.get("system"))
    if system is None:
        raise InputError(
            f"{file.name}, line 1: the header has neither SYS nor SYSTEM.", field=file.name
        )
    raw, z = columns.get("raw.scr"), columns.get("z.scr")
    if "human" in columns:
        standard = _standardised(columns["human"])
        raw, z = (None, columns["human"]) if standard else (columns["human"], None)
    return JudgedFile(
        name=file.name,
        input="wmt_da_segments",
        named="adequacy",
        rows=len(table),
        line=table.places,
        system=system,
        segment=columns["sid"],
        raw=raw,
        z=z,
        languages=columns.get("lp"),
        judged=columns.get("n"),
        scale=SCALE if raw is not None else None,
    )


def read_mqm(file: File) -> JudgedFile:
    """One judgement for every (system, segment, rater).

    Raises:
        InputError: A row with more or fewer cells than the header, a column missing, a severity
            without a weight.
    """
    table = read_table(file, "\t")
    columns = _columns(table, MQM_NEEDED)
    segments = _mqm_segments(columns, file.name)
    sums: dict[tuple[str, str, str], float] = {}
    first: dict[tuple[str, str, str], int] = {}
    keys = [*zip(columns["system"], segments, columns["rater"], strict=True)]
    for row, (key, value) in enumerate(zip(keys, _weights(columns, table), strict=True)):
        sums[key] = sums.get(key, 0.0) + value
        first.setdefault(key, row)
    sizes, documents = Counter(keys), columns.get("doc")
    return JudgedFile(
        name=file.name,
        input="mqm",
        named="mqm",
        rows=len(table),
        line=[table.places[row] for row in first.values()],
        system=[system for system, _, _ in first],
        segment=[segment for _, segment, _ in first],
        annotator=[rater for _, _, rater in first],
        raw=[0.0 - sums[key] for key in first],
        document=documents and [documents[row] for row in first.values()],
        made_from=[sizes[key] for key in first],
    )


def _mqm_segments(columns: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    """Id of each row's segment: of the test set, or the document and the id in it.

    A file without numbers over all documents may have one and the same number in every row.
    """
    number = next((columns[name] for name in MQM_SEGMENT if name in columns), None)
    part = next((columns[name] for name in MQM_IN_DOCUMENT if name in columns), None)
    if number is not None and (part is None or len({*number}) > 1):
        return number
    if part is None or "doc" not in columns:
        raise _without(name, MQM_SEGMENT[0])
    return [f"{doc}.{own}" for doc, own in zip(columns["doc"], part, strict=True)]


def weight(severity: str, category: str) -> float | None:
    """Weight of an error; nothing where the severity has none (Freitag et al. 2021, Table 4)."""
    return next(
        (
            value
            for known, beginning, value in MQM_WEIGHTS
            if severity == known and category.startswith(beginning)
        ),
        None,
    )


def _weights(columns: Mapping[str, Sequence[str]], table: Table) -> list[float]:
    """Weight of every row; rows whose severity has none are listed together."""
    errors = [*zip(columns["severity"], columns["category"], strict=True)]
    known = {error: weight(error[0].strip().lower(), error[1].strip().lower()) for error in errors}
    missing = sorted({severity for (severity, _), value in known.items() if value is None})
    if missing:
        row = next(row for row, error in enumerate(errors) if known[error] is None)
        shown = ", ".join(repr(severity[:40]) for severity in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise at_line(
            table.name,
            table.places[row],
            f"no weight is known for severity {shown}{more}; use Major, "
            "Minor, Neutral or No-error.",
        )
    return [known[error] or 0.0 for error in errors]


def read_mtme(file: File) -> JudgedFile:
    """Scores by segment; None is a segment that was not judged.

    Raises:
        InputError: A line of another form, systems with different numbers of lines, or one line a
            system: scores of whole systems.
    """
    cells = cells_of_systems(file)
    require_equal(cells, file, "a human evaluation")
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for line, text in enumerate(file.lines, 1):
        if text.strip():
            lines[pair_of(text)[0].strip()].append(line)
    rows = sorted(
        (lines[system][k], system, str(k + 1), cell)
        for system, column in cells.items()
        for k, cell in enumerate(column)
    )
    judged = [row for row in rows if row[3].strip() != "None"]
    return JudgedFile(
        name=file.name,
        input="mtme",
        rows=len(rows),
        line=[line for line, _, _, _ in judged],
        system=[system for _, system, _, _ in judged],
        segment=[segment for _, _, segment, _ in judged],
        raw=[cell for _, _, _, cell in judged],
        dropped={"not judged": len(rows) - len(judged)},
    )


def read_rankings(file: File) -> Ranked:
    """Every row is one ranking.

    Raises:
        InputError: A row with more or fewer cells than the header, a column missing, a rank that
            is no whole number, a system that is ranked twice.
    """
    table = read_table(file, ",")
    columns = {name: [str(row[i]) for row in table.rows] for i, name in enumerate(table.header)}
    needed = {}
    for names in (("srcIndex", "segmentId"), JUDGE, ("system2Id",), ("system2rank",)):
        needed[names] = next((columns[name] for name in names if name in columns), None)
        if needed[names] is None:
            raise _without(file.name, names[0])
    segment, judge, *_ = needed.values()
    width = 0
    while f"system{width + 1}Id" in columns and f"system{width + 1}rank" in columns:
        width += 1
    if width > WIDEST:
        raise InputError(
            f"{file.name}, line 1: rankings of {width} outputs; at most {WIDEST} are accepted.",
            field=file.name,
        )
    ids = [*zip(*(columns[f"system{i + 1}Id"] for i in range(width)), strict=True)]
    ranks = [*zip(*(columns[f"system{i + 1}rank"] for i in range(width)), strict=True)]
    # the systems behind each joint name, all of which stand elsewhere, too
    parts = {name: name.split("+") for own in ids for name in own}
    often = Counter(part for own in parts.values() for part in own)
    sharing = {name: own for name, own in parts.items() if all(often[part] > 1 for part in own)}
    outputs = []
    for row, own in enumerate(ids):
        ranked = [
            (without_slash(system), rank)
            for name, rank in zip(own, _ranks(ranks[row], table, row), strict=True)
            if (name.upper(), rank) != (FILLER, -1)
            for system in sharing.get(name, [name])
        ]
        counts = Counter(system for system, rank in ranked if rank > 0)
        if twice := next((system for system, count in counts.items() if count > 1), None):
            raise at_line(
                file.name,
                table.places[row],
                f"system {twice!r} is ranked twice; leave one of its ranks.",
                field=file.name,
            )
        outputs.append(ranked)
    for system in dict.fromkeys(system for ranked in outputs for system, _ in ranked):
        check_name(system)
    languages = None
    if {"srclang", "trglang"} <= {*columns}:
        languages = [*map("-".join, zip(columns["srclang"], columns["trglang"], strict=True))]
    return Ranked(judge or (), segment or (), languages, outputs)


def _ranks(cells: Sequence[str], table: Table, row: int) -> list[int]:
    most = max(FIVE, len(cells))
    for cell in cells:
        if not _RANK.fullmatch(cell.strip()) or int(cell) > most:
            raise at_line(
                table.name,
                table.places[row],
                f"{cell[:20]!r} is no rank; ranks are whole numbers from 1 to {most}, or -1 for an "
                "output that was not ranked.",
                field=table.name,
            )
    return [*map(int, cells)]


def read_waves(file: File) -> JudgedFile:
    """One judgement for each wave of a system on a segment; languages come from the id.

    Raises:
        InputError: A line of another form, a span of an error that ends outside its output.
    """
    placed = [(int(row.place.partition(" ")[2]), row) for row in file.records()]
    rows = [(own, i) for i, row in placed for own in _waves_of(row, i, file.name)]
    judged = [(own, i) for own, i in rows if own["score"] is not None]
    table = judged_records([own for own, _ in judged], [i for _, i in judged], file.name)
    table.input, table.named, table.rows = "wmt25", "esa", len(rows)
    table.dropped = {"not judged": len(rows) - len(judged)}
    return table


def _waves_of(row: Placed, line: int, name: str) -> Iterator[dict[str, Any]]:
    """The judgements of one line."""
    outputs, scores = row.record.get("tgt_text"), row.record.get("scores")
    languages, *place = str(row.record.get("doc_id")).split(SEPARATOR)
    if not isinstance(outputs, dict) or not isinstance(scores, dict) or not place:
        raise at_line(name, line, "no segment of WMT25 with doc_id, tgt_text and scores.")
    fields = ("human", "annotator", "errors")
    for system, entries in scores.items():
        # browsers, which marked the spans, count in UTF-16
        length = len(str(outputs.get(system, "")).encode("utf-16-le", "surrogatepass")) // 2
        waves = (
            [own for own in entries if isinstance(own, dict)] if isinstance(entries, list) else []
        )
        if isinstance(entries, dict):
            numbers = sorted(k.removeprefix("human") for k in entries if k.startswith("human"))
            waves = [{field: entries.get(f"{field}{n}") for field in fields} for n in numbers]
        for wave, own in enumerate(waves, 1):
            checked_spans(own.get("errors") or [], line, name, length)
            yield {
                "system": system,
                "segment": SEPARATOR.join([*place, f"human{wave}"]),
                "score": own.get("human"),
                "annotator": own.get("annotator"),
                "document": SEPARATOR.join(place[:2]),
                "languages": languages,
            }


@dataclass
class AppraiseRow:
    """One row of the export.

    Attributes:
        line: 1-based.
        login: Of the annotator.
        system: As it stands there.
        item: Number.
        kind: TGT or BAD.
        languages: Pair.
        score: As it stands there.
        document: Name without marks.
        marks: What follows `#` in the document's name, without the system.
        placed: Whether the document names the system, so that items are places in a batch.
        spans: Marked errors.
        start: Seconds since 1970.
        end: Likewise.
    """

    line: int
    login: str
    system: str
    item: int
    kind: str
    languages: str
    score: str
    document: str
    marks: tuple[str, ...]
    placed: bool
    spans: list[dict[str, Any]]
    start: float
    end: float

    @property
    def again(self) -> bool:
        """Whether it is part of a document shown a second time."""
        return any(mark.startswith("dup") for mark in self.marks)


def read_esa(file: File) -> JudgedFile:
    """ESA: the score is the judgement. MQM, where every score is 0: the spans are.

    Tutorials are left out; of several rows of one login and item the one that ended last stays.
    A document shown again is there for control only and does not enter segment scores, as in the
    organisers' own.

    Raises:
        InputError: A row of another form, a span that begins after its end or before the text, a
            severity without a weight in an MQM campaign.
    """
    name = file.name
    rows = [_row(cells, line, name) for line, cells in parsed(file.text, ",", name)]
    judged = [row for row in rows if not _TUTORIAL.search(row.system)]
    latest = _latest(judged)
    mqm = all(row.score.strip() in {"0", "0.0"} for row in latest) and any(
        span.get("error_type") for row in latest for span in row.spans
    )
    segments = _segments(latest)
    penalties, undecided = _penalties(latest, name) if mqm else ([], [])
    return JudgedFile(
        name=name,
        input="esa",
        named="mqm" if mqm else "esa",
        rows=len(rows),
        line=[row.line for row in latest],
        system=[row.system for row in latest],
        segment=segments,
        undecided=undecided if mqm else None,
        raw=penalties if mqm else [row.score for row in latest],
        annotator=[row.login for row in latest],
        kind=[
            "DUPLICATE" if row.again and row.kind == "TGT" else KINDS[row.kind] for row in latest
        ],
        document=[row.document for row in latest],
        languages=[row.languages for row in latest],
        seconds=[row.end - row.start if row.end > row.start else None for row in latest],
        scale=None if mqm else SCALE,
        keyed=False,  # of several rows the latest has been kept
        dropped={"tutorial": len(rows) - len(judged), "superseded": len(judged) - len(latest)},
    )


def _row(fields: Sequence[str], line: int, name: str) -> AppraiseRow:
    if len(fields) != FIELDS:
        raise at_line(name, line, f"{len(fields)} fields, where {FIELDS} are expected.", field=name)
    try:
        item, start, end = int(fields[2]), float(fields[10]), float(fields[11])
        spans = json.loads(fields[9])
    except (ValueError, RecursionError) as error:
        raise at_line(
            name, line, f"item, start, end and spans must be numbers and JSON ({error})."
        ) from None
    if fields[3] not in KINDS:
        raise at_line(name, line, f"unknown kind {fields[3][:40]!r}; use TGT or BAD.")
    document, *marks = fields[7].split("#")
    bare = {fields[1], _CAMPAIGN.sub("", fields[1])}
    placed = bool(marks) and marks[0] in bare
    return AppraiseRow(
        line=line,
        login=fields[0],
        system=fields[1],
        item=item,
        kind=fields[3],
        languages=f"{fields[4]}-{fields[5]}",
        score=fields[6],
        document=document,
        marks=tuple(marks[1:] if placed else marks),
        placed=placed,
        spans=checked_spans(spans, line, name),
        start=start,
        end=end,
    )


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
        raise InputError(f"{name}, line {line}: spans must be a list of objects.", line=line)
    for span in spans:
        ends = span.get("start_i"), span.get("end_i")
        if ends == ("missing", "missing"):
            continue
        numbers = [e for e in ends if isinstance(e, int) and not isinstance(e, bool)]
        if len(numbers) < 2 or not 0 <= numbers[0] <= numbers[1] <= length:
            raise at_line(
                name,
                line,
                f"a span from {quoted(ends[0], 20)} to {quoted(ends[1], 20)} lies "
                f"outside its text; both ends are places from 0 to {length:,}, or both "
                "`missing`.",
            )
    return spans


def _latest(rows: Sequence[AppraiseRow]) -> list[AppraiseRow]:
    """Of what one login judged several times, the judgement that ended last."""
    kept: dict[tuple[object, ...], AppraiseRow] = {}
    for row in rows:
        key = (row.login, row.system, row.item, row.kind, row.document, row.marks)
        if key not in kept or row.end >= kept[key].end:
            kept[key] = row
    return sorted(kept.values(), key=lambda row: row.line)


def _penalties(rows: Sequence[AppraiseRow], name: str) -> tuple[list[float], list[int]]:
    """Negated sum of the weights of each row's spans, and how many are to be weighed yet."""
    scores, undecided = [], [0] * len(rows)
    for i, row in enumerate(rows):
        total = 0.0
        for span in row.spans:
            if "Punctuation" in str(span.get("error_type")):
                total += PUNCTUATION
            elif (severity := str(span.get("severity"))) in SPAN_WEIGHTS:
                total += SPAN_WEIGHTS[severity]
            elif severity == UNDECIDED:
                undecided[i] += 1
            else:
                raise at_line(
                    name,
                    row.line,
                    f"no weight is known for severity "
                    f"{quoted(span.get('severity'), 40)}; use minor, major or undecided.",
                )
        scores.append(0.0 - total)
    return scores, undecided


def _segments(rows: Sequence[AppraiseRow]) -> list[str]:
    """The segment of each row: its item, or its document and its place in it."""
    parts: dict[tuple[str, ...], list[AppraiseRow]] = defaultdict(list)
    for row in rows:
        if row.placed:
            parts[row.login, row.system, row.document, *row.marks, row.kind].append(row)
    offsets = _offsets(parts)
    places: dict[int, str] = {}
    for (login, system, document, *_), part in parts.items():
        start = offsets[login, system, document]
        # rows of one item are one segment, whichever marks its document bears
        items = {item: i for i, item in enumerate(sorted({row.item for row in part}), 1)}
        for row in part:
            places[row.line] = f"{document}.{start + items[row.item]}"
    return [places.get(row.line, str(row.item)) for row in rows]


def _offsets(parts: dict[tuple[str, ...], list[AppraiseRow]]) -> dict[tuple[str, str, str], int]:
    """Where in its document each login began.

    The end of one login's batch may cut a document; the next login has the rest.
    """
    sizes: dict[tuple[str, str, str], int] = {}
    for (login, system, document, *marks, kind), part in parts.items():
        if kind == "TGT" and not any(_COPY.match(mark) for mark in marks):
            sizes[login, system, document] = len({row.item for row in part})
    whole: dict[str, int] = {}
    for (_, _, document), size in sizes.items():
        whole[document] = max(size, whole.get(document, 0))
    offsets: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    judged: dict[tuple[str, str], int] = defaultdict(int)
    for login, system, document in sorted(sizes):
        before = judged[system, document]
        if before + sizes[login, system, document] > whole[document]:
            before = 0  # another annotator of the same document
        offsets[login, system, document] = before
        judged[system, document] = before + sizes[login, system, document]
    return offsets
