"""What health checks say of the texts of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sigtest.data.health import Finding, check
from sigtest.data.testset import System, TestSet
from sigtest.metrics.bleu import Bleu
from sigtest.requests.recipe import Recipe

SHORT = 100  # characters of a line with too few words for an n-gram, in any script
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
    found = _without_ngrams(testset, systems, recipe)
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


def _without_ngrams(testset: TestSet, systems: Sequence[System], recipe: Recipe) -> list[Finding]:
    """Outputs whose segments are all too short for BLEU's longest n-gram."""
    said = [
        f"No segment of some output has a {metric.max_ngram_order}-gram, so that its {label} is 0; "
        "where segments are that short, take chrf or bleu:effective_order=true."
        for label, metric in zip(recipe.labels, recipe.metrics, strict=True)
        if isinstance(metric, Bleu) and not metric.effective_order
        if any(_lacks_ngrams(metric, testset, run) for own in systems for run in own.runs)
    ]
    return [Finding("short", "", (), sentence) for sentence in said]


def _lacks_ngrams(metric: Bleu, testset: TestSet, run: System) -> bool:
    lines = run.hypotheses.complete if run.hypotheses is not None else ()
    short = all(len(s) < SHORT and len(s.split()) < metric.max_ngram_order for s in lines)
    return short and not metric.statistics(testset, run)[:, -1].any()


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
