"""The human evaluation of WMT25's general task: JSON Lines, a segment each, with its waves.

    {"doc_id": "cs-de_DE_#_news_#_name_#_0", "tgt_text": {"A": "..."},
     "scores": {"A": {"human1": 90, "annotator1": "w1", "errors1": [...], "human2": 95, ...}}}

Control segments have a list of such objects, without numbers. Every wave is an item of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sigtest.files.formats.wmt import SEPARATOR
from sigtest.people.files import columns
from sigtest.people.files.appraise import checked_spans
from sigtest.people.files.table import Table, at_line, filled


def reads(first: str) -> bool:
    """Whether a line is a segment with outputs and people's scores of them."""
    return columns.reads_json(first) and all(
        f'"{field}"' in first for field in ("doc_id", "tgt_text", "scores")
    )


def judgements(lines: Sequence[str], name: str) -> Table:
    """One judgement for each wave of a system on a segment; languages come from the id.

    Raises:
        InputError: A line of another form, a span of an error that ends outside its output.
    """
    found = [(row, n) for line, n in zip(*filled(lines), strict=True)
             for row in _judgements(columns.object_in(line, n, name), n, name)]  # fmt: skip
    judged = [(row, n) for row, n in found if row["score"] is not None]
    table = columns.from_rows([row for row, _ in judged], [n for _, n in judged], name)
    table.input, table.named, table.rows = "wmt25", "esa", len(found)
    table.dropped = {"not judged": len(found) - len(judged)}
    return table


def _judgements(segment: Mapping[str, Any], line: int, name: str) -> Iterator[dict[str, Any]]:
    """Those of one line."""
    outputs, scores = segment.get("tgt_text"), segment.get("scores")
    languages, *place = str(segment.get("doc_id")).split(SEPARATOR)
    if not isinstance(outputs, dict) or not isinstance(scores, dict) or not place:
        raise at_line(name, line, "no segment of WMT25 with doc_id, tgt_text and scores.")
    for system, entries in scores.items():
        # browsers, which marked the spans, count in UTF-16
        length = len(str(outputs.get(system, "")).encode("utf-16-le", "surrogatepass")) // 2
        for wave, own in enumerate(_waves(entries), 1):
            checked_spans(own.get("errors") or [], line, name, length)
            yield {
                "system": system,
                "segment": SEPARATOR.join([*place, f"human{wave}"]),
                "score": own.get("human"),
                "annotator": own.get("annotator"),
                "document": SEPARATOR.join(place[:2]),
                "languages": languages,
            }


def _waves(entries: object) -> list[dict[str, Any]]:
    """What stands in each wave, its fields without their number."""
    if not isinstance(entries, dict):
        return (
            [own for own in entries if isinstance(own, dict)] if isinstance(entries, list) else []
        )
    numbers = sorted(key.removeprefix("human") for key in entries if key.startswith("human"))
    fields = ("human", "annotator", "errors")
    return [{field: entries.get(f"{field}{n}") for field in fields} for n in numbers]
