"""Hashes of reports as they are, so that no rebuilding of the program changes one unseen.

`golden/report_hashes.tsv` is no proof that the numbers are right: other tests hold them against
values from outside. Where a report is meant to change, run these tests with `--basetemp=FOLDER`
before and after, compare the JSON files of the two folders, and put the new rows
(`sort -u FOLDER/*/*.tsv`) into the golden file.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy.special import betaincinv, ndtri

GOLDEN = Path(__file__).parent / "golden" / "report_hashes.tsv"
# Their wording may change. Methods and nulls came after 0.1.0 and are words only.
UNSTABLE = ("version", "signature", "warnings", "verdict", "methods", "nulls", "rank_doubt")
ADDED = (
    "may_be_best",
    "rank_confidence",
    "discriminative_power",
    "clustered_stderr",
    "rank_doubt",
    "counts",
    "p_best",
    "p_best_interval",
    "untestable",
    "calibration",
    "interval_agrees",
)  # after 0.1.0, from numbers that are hashed or held against statsmodels or a textbook loop
LEGACY = "riezler_maxwell_bootstrap"
DECIMALS = 8


def require_unchanged(name: str, report: Any, folder: Path) -> None:
    """Compare a report with the golden hash; leaves its JSON and its row of the file in `folder`.

    Every bit counts where this machine's mathematical functions give the bits they gave where the
    golden file was written, 8 decimals elsewhere: sums of statistics are exact everywhere, but a
    logarithm may differ in its last digit from one processor or library to another, and exact
    p-values from convolution do (in rows of the golden file without bits).
    """
    kept = _without_unstable(report)
    found = {"bits": _hash(kept), "decimals": _hash(_rounded(kept))}
    (folder / f"{name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1))
    (folder / f"{name}.tsv").write_text("\t".join([name, *found.values()]) + "\n")
    golden = _golden()[name]
    alike = arithmetic() == _golden()["arithmetic"]["bits"] and golden["bits"] != "-"
    compared = "bits" if alike else "decimals"
    assert found[compared] == golden[compared], f"{name}: see {folder}"


@cache
def arithmetic() -> str:
    """Hash of what mathematical functions say of numbers between 0 and 1 here."""
    grid = [(i + 0.5) / 4096 for i in range(4096)]
    plain = [f(x) for x in grid for f in (math.exp, math.log, math.tanh)]
    powers = [x**y for x in grid for y in (0.2, 1 / 3, 17)]
    many = np.array(grid)
    arrays = [f(many) for f in (np.log10, np.log2, np.log1p, np.expm1, ndtri)]
    arrays += [
        betaincinv(c + 1.0, 2000.0 - c, p) for c in range(0, 2000, 7) for p in (0.025, 0.975)
    ]
    return _hash(
        [
            bool(numba.config.DISABLE_JIT),
            plain,
            powers,
            *(np.asarray(values).tolist() for values in arrays),
        ]
    )


@cache
def _golden() -> dict[str, dict[str, str]]:
    lines = [line for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]
    rows = [line.split("\t") for line in lines[1:]]
    return {name: {"bits": bits, "decimals": decimals} for name, bits, decimals in rows}


def _without_unstable(value: Any) -> Any:
    if isinstance(value, dict):
        added = UNSTABLE + ADDED
        if "experimentwise_error" in value:  # of one test set; those of several had it always
            added += ("comparisons",)
        kept = {k: _without_unstable(v) for k, v in value.items() if k not in added}
        # it was about the test alone before it was about units and data
        return kept | {"calibrated": kept["test"] != LEGACY} if "calibrated" in kept else kept
    return [_without_unstable(v) for v in _by_test(value)] if isinstance(value, list) else value


def _by_test(rows: list[Any]) -> list[Any]:
    """Rows of pairs by metric, then test, as 0.1.0 wrote them; other lists as they are."""
    if (
        not rows
        or not isinstance(rows[0], dict)
        or not {"a", "b", "metric", "test"} <= set(rows[0])
    ):
        return rows
    families: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        families.setdefault((row["metric"], row["test"]), []).append(row)
    return [row for family in families.values() for row in family]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return round(value, DECIMALS) + 0.0 if isinstance(value, float) else value  # no -0.0


def _hash(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
