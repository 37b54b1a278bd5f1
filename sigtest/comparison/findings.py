"""What health checks say of the texts of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sigtest.comparison.recipe import Recipe
from sigtest.data.health import Finding, check
from sigtest.data.testset import System, TestSet

MANY = 20  # gold labels, of fewer than which one may well occur once


def findings_of(testset: TestSet, systems: Sequence[System], recipe: Recipe) -> tuple[Finding, ...]:
    """Look for what is wrong with outputs; of systems with replicas, at each of them.

    Args:
        testset: What outputs are held against.
        systems: Those without texts are passed over.
        recipe: Whose metrics cut words in some way.

    Returns:
        Findings by system; none where there are no references or all is well.
    """
    if not all(metric.prose for metric in recipe.metrics):
        return _headings(testset)
    labelled = zip(recipe.labels, recipe.metrics, strict=True)
    tokenizers = {label: m.tokenization for label, m in labelled if m.tokenization is not None}
    source = testset.source.lines if testset.source is not None else None
    references = [text.lines for text in testset.references]
    found: list[Finding] = []
    for r in range(max(len(system.runs) for system in systems)):
        outputs = {
            _named(system, r): system.runs[r].hypotheses
            for system in systems
            if r < len(system.runs)
        }
        texts = {name: text.lines for name, text in outputs.items() if text is not None}
        found += check(references, source, texts, tokenizers if r == 0 else {})
    first = {system.sha256: system.name for system in reversed(systems)}
    copies = {system.name for system in systems} - {*first.values()}
    # reports say of themselves which systems are identical
    return tuple(f for f in found if f.kind != "equals_system" or f.system not in copies)


def _headings(testset: TestSet) -> tuple[Finding, ...]:
    """The first gold label, where it is the only one that occurs once."""
    gold = testset.references[0].lines if testset.references else ()
    once = [label for label, count in Counter(gold).items() if count == 1]
    if len(gold) < MANY or once != [gold[0]] or gold[0] is None:
        return ()
    said = (
        f"The first gold label, {gold[0]!a:.60}, is the only one that occurs once: if it is the "
        "heading of a column, take that out of all files."
    )
    return (Finding("heading", "", (1,), said),)


def _named(system: System, r: int) -> str:
    return system.name if len(system.runs) == 1 else f"{system.name}, replica {r + 1}"
