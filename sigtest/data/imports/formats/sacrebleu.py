"""sacreBLEU's scores of sentences, `-sl`; those of whole outputs are known and refused."""

from __future__ import annotations

import re

from sigtest.data.imports.assembly import ONLY_RUN, Assembly
from sigtest.data.imports.file import File
from sigtest.data.imports.formats.cells import number
from sigtest.data.imports.material import Material
from sigtest.errors import at_line

LINE = re.compile(r"^(?P<metric>[\w+]+)\|(?P<signature>\S+) = (?P<score>\S+)")


def sniff_sentences(file: File) -> bool:
    """`BLEU|nrefs:1|... = 20.1 ...`, on more lines than one of each metric."""
    names = [found["metric"] for line in file.first_lines if (found := LINE.match(line))]
    return len(names) == len(file.first_lines) and len(names) > len(set(names))


def read_sentences(file: File) -> Material:
    """Read the scores of one system, each metric's i-th line being segment i.

    Raises:
        InputError: Another line, metrics with unequal numbers of lines.
    """
    assembly = Assembly(file.name)
    for i, line in enumerate(file.lines, 1):
        found = LINE.match(line)
        if found is None:
            if line.strip():
                raise at_line(file.name, i, f"{line[:40]!a} is no line of sacrebleu -sl.")
            continue
        metric = found["metric"]
        group = (file.stem, f"sentence {metric}", ONLY_RUN)
        value = number(found["score"], f"{file.name}, line {i}")
        assembly.score(
            assembly.next_of(group), group, value, f"line {i}", higher=metric not in {"TER", "WER"}
        )
    note = (
        f"{file.name}: scores of sentences, rounded by sacreBLEU; their mean is not the score of "
        "the output. Give the output itself to compare by that."
    )
    return assembly.material([note])


def sniff_corpus(file: File) -> bool:
    """JSON, text or table with the scores of whole outputs."""
    first = file.first
    if file.kind in {"object", "array"}:
        of_one = {"name", "score", "signature"} <= set(first)
        of_many = "system" in first and len(first) > 1 and all(map(_is_score, _values(first)))
        return of_one or of_many
    if any(LINE.match(line) for line in file.first_lines):
        return True
    return any(re.match(r"[│╒╞]", line) and "System" in file.head for line in file.first_lines[:3])


def _values(record: object) -> list[object]:
    return [v for k, v in record.items() if k != "system"] if isinstance(record, dict) else []


def _is_score(value: object) -> bool:
    """A number printed as text with one or two decimals, or `{score, p_value, mean, ci}`."""
    if isinstance(value, dict):
        return {"score", "p_value"} <= set(value)
    return isinstance(value, str) and re.fullmatch(r"-?\d+\.\d{1,8}", value) is not None
