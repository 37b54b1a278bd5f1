"""`python -m validation`: run every check; `--quick` for the small version that writes nothing."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from validation import (
    calibration,
    claim,
    coverage,
    documents,
    multiplicity,
    mutation,
    page,
    proofs,
    sizes,
    study,
)
from validation.families import SYSTEMS
from validation.parallel import one_thread
from validation.populations import (
    CLOSE_SYSTEMS,
    SLOW_METRICS,
    TEXT_METRICS,
    Corpus,
    Population,
    corpora,
    data_folder,
    population,
)
from validation.results import Part
from validation.settings import FULL, QUICK, Settings


def main() -> int:
    """Run the validation; 1 where a check fails."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small; writes nothing")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    choices = parser.parse_args()
    settings = replace(QUICK if choices.quick else FULL, workers=choices.workers)
    one_thread()
    started, clock = page.now(), time.monotonic()
    known = corpora()
    if data_folder() is None:
        print("SIGTEST_DATA is absent: the example shared task (138 segments) takes its place.")
    parts = _parts(known[:1] if choices.quick else known, settings)
    seconds = time.monotonic() - clock
    failed = [(part, check) for part in parts for check in part.failed]
    total = sum(len(part.checks) for part in parts)
    print(f"{total - len(failed)} of {total} checks hold; {seconds:.0f} s")
    for part, check in failed:
        print(f"FAILED, part {part.number}, {check.name}: {check.result}")
    if not choices.quick and data_folder() is None:
        print("nothing written: the page's numbers come from the real test sets")
    elif not choices.quick:
        sources = ", ".join(_described(c) for c in known)
        page.write(parts, page.Run(started, seconds, page.commit(), settings, sources))
        print(f"wrote {page.relative(page.PAGE)}")
    return 1 if failed else 0


def _described(corpus: Corpus) -> str:
    return f"{corpus.name} ({corpus.testset.segments:,} segments, {corpus.references[0]})"


def _parts(known: tuple[Corpus, ...], settings: Settings) -> list[Part]:
    """Every part, in order; what several parts look at is charged to the first of them."""
    metrics = [m for m in TEXT_METRICS if not (settings.quick and m in SLOW_METRICS)]
    pairs = [population(c, CLOSE_SYSTEMS[c.name], metrics) for c in known]
    many = population(known[0], _studied(known[0], settings), metrics)
    six = _six(many.measured_by(("bleu",)))
    documented = pairs[0].measured_by(("bleu", "chrf")) if pairs[0].documents else None
    rankings = known[0].folder / "human" / "wmt12.RNK_results.es-en.csv"
    parts = [
        _part(lambda: proofs.exhaustive(settings)),
        _part(lambda: proofs.textbook(settings)),
    ]
    clock = time.monotonic()
    found = calibration.measured(pairs, settings)
    plain = calibration.by_plain_loops(pairs, settings)
    parts.append(_part(lambda: sizes.part(pairs, found, plain, settings), clock))
    parts.append(_part(lambda: coverage.part(pairs, settings)))
    parts.append(_part(lambda: multiplicity.part([six], settings)))
    parts.append(_part(lambda: documents.part(documented, settings)))
    parts.append(_part(mutation.part))
    clock = time.monotonic()
    studied = study.conducted(many, settings.study_resamples)
    parts.append(_part(lambda: study.part(studied, _existing(rankings), settings), clock))
    parts.append(_part(lambda: claim.part(found, studied)))
    return parts


def _part(make: Callable[[], Part], since: float | None = None) -> Part:
    """Make a part, time it and say what became of its checks."""
    clock = time.monotonic() if since is None else since
    part = make()
    part = replace(part, seconds=time.monotonic() - clock)
    print(f"part {part.number}: {part.title} ({part.seconds:.0f} s)")
    for check in part.checks:
        print(f"  {'ok    ' if check.passed else 'FAILED'} {check.name}: {check.result}")
    sys.stdout.flush()
    return part


def _studied(corpus: Corpus, settings: Settings) -> tuple[str, ...]:
    """All systems in full; six in the quick run."""
    names = corpus.systems
    return tuple(dict.fromkeys(names[s] for s in _spaced(len(names)))) if settings.quick else names


def _six(many: Population) -> Population:
    """Six systems from the best to the worst."""
    scores = many.metrics[0].score(many.tables[0].sum(axis=1))
    order = np.argsort(-scores, kind="stable")
    return many.of([int(order[s]) for s in _spaced(len(order))])


def _spaced(available: int) -> list[int]:
    """Six systems spread over those there are; some twice where there are fewer."""
    return [i * available // SYSTEMS for i in range(SYSTEMS)]


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
