"""Long simulations: what stands beside one another is what each comparison alone would give."""

from __future__ import annotations

import numpy as np
import pytest
from computed import report_of
from scipy.stats import multinomial

from sigtest.draws.product import fixed_point
from sigtest.metrics.scores import Scores
from sigtest.significance import ALTERNATIVES
from validation import best, gates, kept, race, ranks, seeds, speech, unequal
from validation.beside import bootstrap_p_values, drawn, sample_beside, swap_p_values

TESTS = ("approximate_randomization", "bootstrap", "bootstrap_t", "paired_bootstrap")


def test_p_values_beside_one_another_are_those_of_each_pair_alone():
    rows = np.random.default_rng(3).exponential(size=(6, 40))
    tables = [np.stack([fixed_point(np.stack([r, np.ones(40)], axis=1)) for r in rows])]
    chosen = ((0, 1), (2, 5), (3, 4))
    sample = sample_beside([Scores()], tables, chosen, tests=TESTS, resamples=199, seed=8)

    (found,) = drawn(sample)

    for number, (a, b) in enumerate(chosen):
        systems = [{"name": f"s{s}", "scores": {"x": rows[s].tolist()}} for s in (a, b)]
        for c, alternative in enumerate(ALTERNATIVES):
            body = {"systems": systems, "metrics": ["scores"], "tests": TESTS, "resamples": 199}
            asked = {**body, "seed": 8, "exact": "never", "alternative": alternative}
            of = [pair for pair in report_of(asked)["pairs"] if pair["a"] == f"s{a}"]
            for pair in of:
                assert found.p_values(pair["test"])[c, number] == pair["p_value"]
    randomized = found.p_values("approximate_randomization").tolist()
    assert swap_p_values(sample).tolist() == randomized
    assert bootstrap_p_values(sample).tolist() == found.p_values("bootstrap")[0].tolist()


def test_what_is_kept_is_not_made_again(tmp_path):
    path, made = tmp_path / "runs", []

    def work(task: kept.Task) -> kept.Found:
        made.append(task)
        return {"twice": [2 * int(task[0])]}

    kept.resumed(path, [(1,), (2,)], work)
    with path.open("a") as file:
        file.write('{"task": [3], "fo')  # stopped while it was written
    found = kept.resumed(path, [(2,), (3,)], work)

    assert found == {(1,): {"twice": [2]}, (2,): {"twice": [4]}, (3,): {"twice": [6]}}
    assert made == [(1,), (2,), (3,)]
    assert kept.resumed(path, [(1,), (2,), (3,)], work)[(3,)] == {"twice": [6]}
    assert len(made) == 3


def test_tables_are_put_into_their_place_and_nowhere_else(tmp_path, monkeypatch):
    page = tmp_path / "PAGE.md"
    page.write_text("before\n\n<!-- ours -->\nold\n<!-- end of ours -->\n\nafter\n")

    monkeypatch.setattr(kept, "PAGE", page)
    kept.write("ours", kept.table(["a"], [["1"]]))
    kept.write("ours", kept.table(["a"], [["2"]]))

    assert page.read_text() == (
        "before\n\n<!-- ours -->\n\n| a |\n| --- |\n| 2 |\n\n<!-- end of ours -->\n\nafter\n"
    )
    with pytest.raises(ValueError, match="no place for theirs"):
        kept.write("theirs", "")


def test_every_place_of_the_docs_is_there():
    page = kept.PAGE.read_text()
    for name in ("skewed", "skewed-claims", "growing", "ranks", "gates"):
        assert f"<!-- {name} -->\n" in page
    for name in ("studentised", "further", "unequal", "speech", "best", "race", "seeds"):
        assert f"<!-- {name} -->\n" in page


@pytest.mark.slow
def test_documents_of_unequal_size_keep_the_level_where_reports_say_so():
    """500 simulations of 300: four standard errors of .07 are .046; of few, nothing is said."""
    runs = [unequal.simulated(("sizes alone", 300, run)) for run in range(10)]
    _, *rates = np.sum([run["all"] for run in runs], axis=0) / 500
    assert max(rates) <= 0.07 + 0.046
    few = [unequal.simulated(("sizes and effects", 50, run)) for run in range(4)]
    assert np.sum([run["calibrated"][0] for run in few]) == 0
    # linearised at the observed sums .16 of intervals miss (of 200, four standard errors .10)
    assert np.sum([run["covered"] for run in few]) / 200 > 0.85


@pytest.mark.slow
def test_another_seed_and_the_exact_p_lie_in_the_interval_of_p_on_lattices():
    """100 simulations a kind: three standard errors of .80 are .12, of .94 are .07."""
    runs = {
        (*kind, run): seeds.simulated((*kind, run))
        for kind in (("items", "greater"), ("documents", "two-sided"))
        for run in range(2)
    }
    held = seeds.shares(runs)
    assert held["items", "greater"][1] > seeds.LEAST - 0.12
    assert held["items", "greater"][2] > seeds.LEAST_EXACT - 0.07
    assert held["documents", "two-sided"][1] > seeds.LEAST - 0.12
    d = np.repeat([1, -1, 0], [16, 8, 276])
    won, lost = (side.ravel() for side in np.mgrid[:120, :120])
    chances = multinomial.pmf(
        np.column_stack([won, lost, 300 - won - lost]), 300, [16 / 300, 8 / 300, 276 / 300]
    )
    assert seeds.exact(d, "greater") == pytest.approx(chances[won - lost >= 16].sum(), rel=1e-9)
    assert seeds.exact(d, "two-sided") == pytest.approx(
        chances[abs(won - lost - 8) >= 8].sum(), rel=1e-9
    )


def test_what_misses_its_bound_is_bold_and_ends_the_program(tmp_path, monkeypatch, capsys):
    """Ranges that hold in half of simulations; gates that pass all; intervals that hold nothing."""
    runs = {
        ranks: {"held": [25], "of": [50], "stated": [50]},
        gates: {"not_worse": [100.0] * 3, "equivalent": [0.0] * 3, "together": [0.0, 0.0]},
        seeds: {"other": [0], "known": [0]},
        unequal: {"all": [50] * 4, "calibrated": [50, 4, 4, 3], "units": [9.0], "covered": [50]},
    }
    for program, found in runs.items():
        monkeypatch.setattr(program, "simulated", lambda task, found=found: found)
        name = program.__name__.rpartition(".")[2]
        keep = ["--simulations", "1", "--keep", str(tmp_path / name)]
        monkeypatch.setattr("sys.argv", [name, *keep])
        assert program.main() == 1, name
        assert "**" in capsys.readouterr().out


@pytest.mark.slow
def test_tests_of_recognisers_keep_their_level_where_stretches_are_independent():
    """200 simulations a kind: three standard errors of .058 are .05."""
    alike, own, few = ([speech.simulated((kind, run)) for run in range(4)] for kind in speech.KINDS)
    for name in speech.TESTS:
        assert max(speech.rates(alike, name)) <= speech.MOST + 0.05
        assert max(speech.rates(few, name)) <= speech.MOST + 0.05
    assert max(speech.rates(own, "approximate_randomization")) <= speech.MOST + 0.05
    assert min(speech.rates(own, "matched_pairs")) > 0.1  # as its caution says


@pytest.mark.slow  # as the power of gates is asserted in tests/sigtest/test_gates.py
def test_the_stated_power_of_gates_is_that_of_skewed_differences_too():
    """300 simulations a cell: three standard errors of .95 are .038."""
    for size, name in ((50, "exponential"), (300, "normal")):
        runs = [gates.simulated((name, size, run)) for run in range(3)]
        for claim in ("not_worse", "equivalent"):
            _, passed, stated = np.sum([run[claim] for run in runs], axis=0) / 300
            assert passed == pytest.approx(stated, abs=0.05), (name, claim)


@pytest.mark.slow
def test_a_true_best_stays_among_those_that_may_be_the_best():
    """Of 200 boards of 20 equal systems, 1 in 20 of which is excluded: three standard errors."""
    runs = [best.simulated(("0 and 1", 30, "equal", run)) for run in range(2)]
    assert best.rate(runs, "stay") > best.LEAST - 0.025
    steps = [best.simulated(("normal", 100, "steps", 0))]
    assert best.rate(steps, "stay") > 0.95
    assert best.rate(steps, "excluded") > best.rate(steps, "apart") > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["right or wrong", "normal"])
def test_races_of_equal_systems_decide_nothing_in_any_look(kind):
    """100 races a kind, 1 in 20 of which may decide: three standard errors of .06 are .07."""
    for systems in race.SYSTEMS:
        (_, _, often) = race.simulated((kind, systems, "equal", 0))["false"]
        assert often / race.LENGTH <= race.MOST + 0.07


@pytest.mark.slow
def test_intervals_of_races_cover_and_do_not_where_differences_are_rare():
    (covers,) = race.simulated(("ratings", 2, "steps", 0))["covers"]
    assert covers / race.LENGTH >= race.LEAST - 0.07
    (_, _, skewed) = race.simulated(("rare", 20, "equal", 0))["false"]
    assert skewed / race.LENGTH > race.MOST + 0.07  # which the test would notice
