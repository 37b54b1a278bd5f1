"""All checks of all submissions, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sigtest.data.health.alignment import find_shifts
from sigtest.data.health.copies import (
    find_empty,
    find_leaked,
    find_repeated,
    find_same,
    find_untranslated,
)
from sigtest.data.health.finding import Finding
from sigtest.data.health.lines import Lines
from sigtest.data.health.script import check_tokenizers, find_languages, find_scripts
from sigtest.data.health.surface import (
    find_case,
    find_damage,
    find_frames,
    find_lengths,
    find_tokens,
)

KINDS = {
    "shifted": "lines stand one or more segments too early or too late, or in another order",
    "empty": "no output where the reference has text",
    "truncated": "lines end early or are far too short",
    "equals_source": "lines are those of the source",
    "equals_reference": "lines are those of the reference",
    "equals_system": "lines are those of another system",
    "wrong_script": "written in other letters than the references",
    "wrong_language": "without the common words of the references",
    "copied_lines": "lines stand for several segments with unlike references",
    "encoding": "damaged letters, entities, escapes, pieces of words",
    "framed": "quotation marks, numbers or names before or round every line",
    "length": "far shorter or longer than the references, or the same words on and on",
    "tokenised": "blanks between tokens on one side only",
    "case": "capitals on one side only",
    "heading": "the first gold label may be the heading of its column",
    "short": "segments too short for BLEU's n-grams",
    "tokenizer": "a script without blanks under a tokenizer that needs them",
}
OF_REFERENCES = {"heading", "short", "tokenizer"}  # what is said of no system
MANY = 0.5  # share of lines in the source's words from which other checks would only repeat it


def check(
    references: Sequence[Sequence[str | None]],
    sources: Sequence[str | None] | None,
    systems: Mapping[str, Sequence[str | None]],
    tokenizers: Mapping[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Look for what is wrong with submissions.

    Args:
        references: Reference sets, each with one line a segment; the first that has a line is what
            outputs are held against.
        sources: The source of each segment, where known.
        systems: The output of each system, one line a segment.
        tokenizers: The tokenizer of each metric that has one (`bleu`: `13a`).

    Returns:
        Findings by system, the most fundamental first; none where all is well.
    """
    if not references or not systems:
        return ()
    reference = Lines(_first_lines(references))
    source = Lines(sources) if sources is not None else None
    outputs = {name: Lines(lines) for name, lines in systems.items()}
    found = check_tokenizers(reference, tokenizers or {})
    for name, output in outputs.items():
        found += _of_system(name, output, reference, source)
    return (*found, *find_same(outputs))


def _of_system(name: str, output: Lines, reference: Lines, source: Lines | None) -> list[Finding]:
    found = find_empty(name, output, reference)
    if source is not None:
        found += find_untranslated(name, output, source, reference)
    found += find_leaked(name, output, reference)
    copied = [f for f in found if f.kind.startswith("equals")]
    if sum(len(f.segments) for f in copied) < MANY * len(output.lines):
        wrong = find_scripts(name, output, reference)
        wrong = wrong or find_languages(name, output, reference, source)
        found += wrong
        if not any(finding.segments == () for finding in wrong):
            found += find_shifts(name, output, reference)
            found += find_frames(name, output, reference)
            found += find_lengths(name, output, reference)
            found += find_tokens(name, output, reference)
            found += find_case(name, output, reference)
    found += find_repeated(name, output, reference, source)
    return [*found, *find_damage(name, output, reference)]


def _first_lines(references: Sequence[Sequence[str | None]]) -> Sequence[str | None]:
    """Of each segment the first reference that there is."""
    if len(references) == 1 or None not in references[0]:
        return references[0]
    return [
        next((line for line in lines if line is not None), None)
        for lines in zip(*references, strict=True)
    ]
