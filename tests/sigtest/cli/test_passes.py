"""pass@k and pass^k: chances of k runs of an item, and items of which too few are there."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from sigtest import InputError, RecipeError, compare
from sigtest.data.testset import System, TestSet
from sigtest.metrics import METRICS

Answer = Callable[..., dict[str, Any]]
COUNTS = [(c, n) for n in range(3, 8) for c in range(n + 1)]


def runs(*passed: int, of: int, name: str) -> list[str]:
    return [f"t{i},{name},{r},{int(r < c)}" for i, c in enumerate(passed) for r in range(of)]


@pytest.fixture
def table(tmp_path: Path) -> Callable[[list[str]], Path]:
    def write(rows: list[str]) -> Path:
        path = tmp_path / "runs.csv"
        path.write_text("\n".join(["id,system,run,score", *rows, ""]))
        return path

    return write


Table = Callable[[list[str]], Path]


@pytest.mark.parametrize(("name", "enough"), [("pass@k", any), ("pass^k", all)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_chances_are_those_of_all_choices_of_k_runs(name, enough, k):
    system = System.of("A", scores={"s": COUNTS})
    rows = METRICS[name](k=k).statistics(TestSet.of([], None, len(COUNTS)), system)
    for (passed, number), (chance, weight) in zip(COUNTS, rows.tolist(), strict=True):
        chosen = [*combinations([1] * passed + [0] * (number - passed), k)]
        assert (chance, weight) == (sum(map(enough, chosen)) / len(chosen), 1)


def test_steady_agents_are_told_from_erratic_ones(answer, data):
    path = data.parent / "cases" / "pass-hat-k" / "runs.csv"
    found = answer("compare", path, "--metric", "pass^k:k=3")
    scores = {own["name"]: own["scores"]["pass^3"]["score"] for own in found["systems"]}
    assert scores == pytest.approx({"steady": 0.3777, "erratic": 0.2339}, abs=5e-5)
    low, high = found["pairs"][0]["p_interval"]
    assert low <= 0.0013 <= high
    assert "(Yao et al., 2024)" in found["methods"]["text"]


def test_counts_in_a_request_are_those_of_files(answer, table):
    passed = {"A": (4, 3, 2, 4, 0), "B": (4, 0, 0, 1, 1)}
    rows = [row for name, own in passed.items() for row in runs(*own, of=4, name=name)]
    read = answer("compare", table(rows), "-m", "pass@k:k=2", "-m", "pass^k:k=2")
    made = compare(
        scores={name: [(c, 4) for c in own] for name, own in passed.items()},
        metrics=[{"name": "pass@k", "k": 2}, "pass^k:k=2"],
    )
    assert read["pairs"] == made.as_json()["pairs"]


def test_one_run_of_k_is_the_mean(answer, table):
    path = table([*runs(4, 3, 2, of=4, name="A"), *runs(1, 0, 4, of=4, name="B")])
    once, mean = (answer("compare", path, "-m", own) for own in ("pass@k", "scores"))
    for one, other in zip(once["systems"], mean["systems"], strict=True):
        assert one["scores"]["pass@1"]["score"] == other["scores"]["scores"]["score"]


def test_items_may_have_more_runs_than_others(answer, table):
    path = table([*runs(2, 1, 0, of=2, name="A"), "t0,A,2,0", *runs(0, 2, 1, of=3, name="B")])
    first = answer("compare", path, "-m", "pass^k:k=2")["systems"][0]
    assert first["scores"]["pass^2"]["score"] == pytest.approx((1 / 3 + 0 + 0) / 3)


@pytest.mark.parametrize(
    ("change", "complaint_of"),
    [
        (
            ("t1,B,0,1", "t1,B,0,.5"),
            "each 1 (passed) or 0; 'runs' of system 'B' has others for 1 of 3 ('t1')",
        ),
        (("t2,A,0,1\nt2,A,1,1\n", ""), "of system 'A' has others for 1 of 3 ('t2')"),
        (("t1,A,", "t7,A,"), "of system 'A' has others for 1 of 4 ('t1')"),
    ],
)
def test_items_without_k_runs_that_pass_or_fail_are_named(table, complaint, change, complaint_of):
    path = table([*runs(4, 3, 2, of=4, name="A"), *runs(1, 1, 4, of=4, name="B")])
    path.write_text(path.read_text().replace(*change))
    for missing in ("error", "drop"):
        said = complaint("compare", path, "-m", "pass^k:k=3", "--missing", missing)
        assert complaint_of in said


@pytest.mark.parametrize("row", [(2, 2), (4, 3), (1.5, 3), (1, 3.5)])
def test_counts_that_are_none_name_their_segment(row):
    with pytest.raises(InputError, match=r"segment 2: .* of .* runs; pass\^k needs how many"):
        compare(scores={"A": [(3, 3), row], "B": [(1, 3), (2, 3)]}, metrics=["pass^k:k=3"])


def test_counts_are_not_read_as_scores_with_weights():
    counts = {"A": [(3, 3), (1, 3)], "B": [(1, 3), (2, 3)]}
    with pytest.raises(RecipeError, match="that mean is pass@k:k=1"):
        compare(scores=counts, metrics=["pass^k:k=3", "scores"])
