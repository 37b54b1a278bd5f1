"""Gates against textbook loops, statsmodels' two one-sided tests, and simulations."""

import csv
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from heavytails import heavy, moved
from sentences import sentences
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

import sigtest
from sigtest.arrays import Array
from sigtest.cli import main
from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.weights import bootstrap_counts
from sigtest.errors import RecipeError
from sigtest.gates import GateReport, gate

RESAMPLES = 499


def request_of(rows: Array, **fields: Any) -> dict[str, Any]:
    systems = [{"name": f"s{i}", "scores": {"x": row.tolist()}} for i, row in enumerate(rows)]
    choices = {"metrics": ["scores"], "resamples": RESAMPLES, "pairs": {"baseline": "s0"}}
    return {"systems": systems, **choices, **fields}


def decided(
    rows: Array, margin: float | None, claim: str = "not_worse", **fields: Any
) -> GateReport:
    return gate(parse_comparison(request_of(rows, **fields)), margin, claim)


def scores(n: int, differences: tuple[float, ...], seed: int = 1) -> Array:
    rng = np.random.default_rng(seed)
    return np.stack([rng.normal(size=n) + d for d in (0.0, *differences)])


def drawn(d: Array) -> Array:
    """(R,) textbook t of every resample: distance from what was observed, in its own errors."""
    n = len(d)
    values = []
    for row in bootstrap_counts(12345, 0, RESAMPLES, n).astype(int):
        resample = np.repeat(d, row)
        values.append((resample.mean() - d.mean()) / (resample.std(ddof=1) / n**0.5))
    return np.array(values)


def test_p_values_are_those_of_the_textbook():
    rows = scores(40, (0.1, -0.2))
    report = decided(rows, 0.4)
    for system, row in zip(report.systems, rows[1:], strict=True):
        d = row - rows[0]
        error = d.std(ddof=1) / 40**0.5
        t = drawn(d)
        out = moved(t, heavy(d))
        worse = (np.count_nonzero(out >= (d.mean() + 0.4) / error) + 1) / (RESAMPLES + 1)
        shown = (np.count_nonzero(out <= (d.mean() + 0.4) / error) + 1) / (RESAMPLES + 1)
        assert (system.p_value, system.p_fail) == (worse, shown)
        low, high = np.quantile(out, (0.05, 0.95), method="inverted_cdf")
        assert system.ci == pytest.approx((d.mean() - error * high, d.mean() - error * low))


def test_failures_are_corrected_as_passes_are():
    """By statsmodels; five candidates exactly at the margin failed in .21 of gates, at .05."""
    rows = scores(60, (-0.5, -0.7, -0.9, 0.1))
    report = decided(rows, 0.2)
    for own, corrected in (("p_value", "p_adjusted"), ("p_fail", "p_fail_adjusted")):
        p, adjusted = ([getattr(s, key) for s in report.systems] for key in (own, corrected))
        assert adjusted == pytest.approx(multipletests(p, method="holm")[1], rel=1e-12)
    fails = [system.p_fail_adjusted <= 0.05 for system in report.systems]
    assert [system.outcome == "fail" for system in report.systems] == fails
    rng = np.random.default_rng(21)
    failed = 0
    for _ in range(100):
        candidates = rng.normal(size=(5, 60)) - 0.5
        at_margin = decided(np.concatenate([np.zeros((1, 60)), candidates]), 0.5, resamples=399)
        failed += at_margin.outcome == "fail"
    assert failed <= 100 * 0.05 + 4 * (100 * 0.05 * 0.95) ** 0.5  # .21 would be 21


@pytest.mark.parametrize("margin", [0.2, 0.4, 0.8])
def test_equivalence_is_near_the_two_one_sided_t_tests_of_statsmodels(margin):
    rows = scores(200, (0.05,))
    (system,) = decided(rows, margin, "equivalent", resamples=19_999).systems
    expected, _, _ = DescrStatsW(rows[1] - rows[0]).ttost_mean(-margin, margin)
    assert system.p_value == pytest.approx(expected, abs=0.012)
    assert (system.outcome == "pass") == (expected <= 0.05)


def test_outcomes_follow_from_the_data():
    rows = scores(300, (0.0, -2.0, -0.31))
    outcomes = [system.outcome for system in decided(rows, 0.3).systems]
    assert outcomes == ["pass", "fail", "undecided"]
    assert decided(rows, 0.3).outcome == "fail"
    assert decided(rows[[0, 1]], 0.3).outcome == "pass"
    assert decided(rows[[0, 3]], 0.3).outcome == "undecided"


def test_errors_are_held_the_other_way_round():
    rows = scores(300, (2.0,))
    lower = {"metrics": [{"name": "scores", "higher": False}]}
    assert decided(rows, 0.5).outcome == "pass"
    assert decided(rows, 0.5, **lower).outcome == "fail"
    assert decided(rows, 0.5, **lower).systems[0].difference > 0


def test_a_better_system_is_not_worse_and_not_equivalent():
    rows = scores(300, (2.0,))
    assert decided(rows, 0.5).outcome == "pass"
    assert decided(rows, 0.5, "equivalent").outcome == "fail"


def test_runs_of_one_system_pass_silently():
    rows = scores(100, (0.0, 1.5))
    report = decided(rows, None, "same")
    assert [system.outcome for system in report.systems] == ["pass", "fail"]
    (copy,) = decided(rows[[0, 0]], None, "same").systems
    assert (copy.p_value, copy.outcome) == (1.0, "pass")
    assert report.margin is None


@pytest.mark.parametrize("claim", ["not_worse", "equivalent"])
def test_the_power_is_the_share_of_resamples_that_would_pass(claim):
    """A resample is a test set without any difference: what would its own p-values be?"""
    rows, margin = scores(40, (0.1,)), 0.55
    (system,) = decided(rows, margin, claim).systems
    d = rows[1] - rows[0]
    t, passed = drawn(d), 0
    out = moved(t, heavy(d))
    weights = bootstrap_counts(12345, 0, RESAMPLES, 40).astype(int)
    for value, row in zip(t, weights, strict=True):
        room = margin / (np.repeat(d, row).std(ddof=1) / 40**0.5)
        worse = (np.count_nonzero(out >= room + value) + 1) / (RESAMPLES + 1)
        better = (np.count_nonzero(-out >= room - value) + 1) / (RESAMPLES + 1)
        passed += worse <= 0.05 and (claim == "not_worse" or better <= 0.05)
    assert system.power == passed / RESAMPLES
    assert 0.3 < system.power < 0.95


def test_the_power_of_several_systems_is_that_after_correction():
    """Holm: a lone one of three must reach alpha / 3; Bonferroni says the same of each."""
    rows = scores(60, (0.1, -0.2, 0.3))
    holm, alone = decided(rows, 0.6), decided(rows, 0.6, correction="none", alpha=0.05 / 3)
    powers = [system.power for system in holm.systems]
    assert powers == [system.power for system in alone.systems]
    assert powers < [system.power for system in decided(rows, 0.6, correction="none").systems]
    runs = decided(rows, None, "same", correction="bonferroni")
    assert [system.power for system in runs.systems] == pytest.approx([1 - 0.05 / 3] * 3)


@pytest.mark.parametrize(
    ("option", "field"),
    [("--test=bootstrap", "tests"), ("--interval=percentile", "interval"),
     ("--alternative=greater", "alternative"), ("--exact=never", "exact")],
)  # fmt: skip
def test_what_a_gate_would_ignore_is_refused(option, field, tmp_path, capsys):
    for i, row in enumerate(scores(20, (0.0,))):
        (tmp_path / f"s{i}").write_text("".join(f"{value}\n" for value in row))
    files = [f"--scores=s{i}={tmp_path / f's{i}'}" for i in range(2)]
    asked = ["gate", *files, "--baseline", "s0", "--margin", "9"]
    assert main([*asked, option]) == 2
    assert f"leave out {field}" in capsys.readouterr().err
    assert main([*asked, "--test=bootstrap_t", "--interval=bootstrap_t"]) == 0
    given: Any = {field: option.partition("=")[2]}
    both: Any = dict(zip("ab", scores(20, (0.0,)).tolist(), strict=True))
    with pytest.raises(RecipeError, match=f"leave out {field}"):
        sigtest.gate(scores=both, baseline="a", margin=9, **given)


@pytest.mark.parametrize("simulations", [80, pytest.param(300, marks=pytest.mark.slow)])
def test_size_at_the_margin_and_power_at_no_difference(simulations):
    """Of 300, four standard errors of .05 are .050, of the power at most .115; of 80, .22."""
    rng = np.random.default_rng(11)
    n, margin, passed, power = 60, 0.35, {"margin": 0, "none": 0}, []
    for _ in range(simulations):
        base = rng.normal(size=n)
        for name, true in (("margin", -margin), ("none", 0.0)):
            rows = np.stack([base, base + true + rng.normal(size=n)])
            (system,) = decided(rows, margin, resamples=399).systems
            passed[name] += system.outcome == "pass"
            power.append(system.power)
    assert passed["margin"] <= simulations * 0.05 + 4 * (simulations * 0.05 * 0.95) ** 0.5
    errors = 1.9 / simulations**0.5
    assert passed["none"] / simulations == pytest.approx(np.mean(power), abs=errors)


@pytest.mark.parametrize(
    ("margin", "claim", "fields", "said"),
    [
        (None, "not_worse", {}, "A gate needs a margin .--margin M in the shell"),
        (0.1, "same", {}, "no margin"),
        (0.1, "better", {}, "claim"),
        (0.1, "not_worse", {"pairs": "all"}, "baseline"),
        (
            0.1,
            "not_worse",
            {"metrics": ["scores", "scores:higher=false"]},
            "one metric, .* scores:higher=false",
        ),
        (0.1, "not_worse", {"correction": "max_t", "tests": ["bootstrap"]}, "max_t"),
        (0.1, "equivalent", {"alpha": 0.5}, "below 0.5, not 0.5"),
    ],
)
def test_gates_that_cannot_decide_are_refused(margin, claim, fields, said):
    with pytest.raises(RecipeError, match=said):
        decided(scores(20, (0.0,)), margin, claim, **fields)


@pytest.mark.parametrize("margin", [2, np.float32(2), np.int64(2)])
def test_a_margin_of_any_type_of_number_gives_the_report_of_the_shell(margin):
    rows = scores(20, (0.1,))
    assert json.dumps(decided(rows, margin).as_json()) == json.dumps(decided(rows, 2.0).as_json())


@pytest.mark.parametrize("claim", ["not_worse", "equivalent", "same"])
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"documents": ["d"] * 6, "unit": "document"}, "two documents at least"),
        ({"labels": list("abcdef"), "stratified": True}, "two segments of one label at least"),
    ],
)
def test_a_gate_needs_units_that_say_how_scores_vary(claim, fields, said):
    with pytest.raises(RecipeError, match=said):
        decided(scores(6, (0.0,)), None if claim == "same" else 0.1, claim, **fields)


@pytest.mark.parametrize(
    ("claim", "systems", "resamples"),
    [("not_worse", 1, 19), ("equivalent", 1, 19), ("same", 1, 39), ("not_worse", 2, 39)],
)
def test_a_gate_needs_resamples_enough_for_any_p_to_be_significant(claim, systems, resamples):
    rows, margin = scores(20, (0.0,) * systems), None if claim == "same" else 9
    decided(rows, margin, claim, resamples=resamples)
    with pytest.raises(RecipeError, match=f"p-value of {resamples - 1} resamples is 0.0"):
        decided(rows, margin, claim, resamples=resamples - 1)


def test_the_baseline_alone_passes_no_gate():
    with pytest.raises(RecipeError, match="a system to compare with the baseline"):
        decided(scores(20, (0.0,))[:1], 0.1)


def test_exit_statuses_and_what_is_printed(tmp_path, capsys):
    rows = scores(300, (0.0, -2.0, -0.31))
    for i, row in enumerate(rows):
        (tmp_path / f"s{i}").write_text("".join(f"{value}\n" for value in row))

    of_nine = ("--margin", "0.3", "--family", "9")

    def run(*names: str, options: tuple[str, ...] = ("--margin", "0.3")) -> tuple[int, str]:
        files = [
            word for name in ("s0", *names) for word in ("--scores", f"{name}={tmp_path / name}")
        ]
        status = main(["gate", *files, "--baseline", "s0", "--resamples", "999", *options])
        return status, capsys.readouterr().out

    for name, status, outcome in (("s1", 0, "pass"), ("s2", 1, "fail"), ("s3", 3, "undecided")):
        found, text = run(name)
        assert (found, text.split(":")[0]) == (status, outcome)
        assert "one-sided at 0.05; 90 % intervals\n" in text
        assert run(name, options=("--margin", "0.3", "--format", "markdown"))[0] == status
        assert "power" in text
    status, text = run("s1", options=("--aa",))
    assert status == 0
    assert text.startswith(
        "pass: no significant difference from s0 (A/A), two-sided at 0.05; 95 % intervals\n"
    )
    assert "does not prove that there is none" in text
    of_one, shown = (
        float(re.findall(r"^s3 .*\]  (\S+)", run("s3", options=own)[1], re.MULTILINE)[0])
        for own in (("--margin", "0.3"), of_nine)
    )
    assert shown == pytest.approx(min(1.0, 8 * of_one), rel=0.05)
    assert run("s1", options=("--aa", "--equivalent"))[0] == 2
    assert run("s1", options=("--margin", "wide"))[0] == 2
    status, text = run("s1", "s2", options=("--margin", "0.3", "--format", "json"))
    body = json.loads(text)
    assert (status, body["outcome"]) == (1, "fail")
    assert [system["system"] for system in body["systems"]] == ["s1", "s2"]


def test_a_gate_in_markdown_is_a_table_of_what_json_says(tmp_path, capsys):
    files = []
    for name, row in zip(("old|er", "new"), scores(300, (0.0, -0.31))[:2], strict=True):
        (tmp_path / name).write_text("".join(f"{value}\n" for value in row))
        files += ["--scores", f"{name}={tmp_path / name}"]
    told = []
    for form in ("json", "markdown"):
        main(["gate", *files, "--baseline", "old|er", "--margin", "1", "--format", form])
        told.append(capsys.readouterr().out)
    (system,) = json.loads(told[0])["systems"]
    heading, below, table, *_, signature = told[1].split("\n\n")
    assert heading.startswith(f"{system['outcome']}: not worse than old\\|er by 1 scores")
    assert below == "Less old\\|er:"
    row = [cell.strip() for cell in table.splitlines()[2].strip("|").split(" | ")]
    assert row[:2] == ["new", system["outcome"]]
    assert float(row[2]) == pytest.approx(system["difference"], abs=0.00005)
    low, high = (float(end) for end in row[3].strip("\\[]").split(","))
    assert (low, high) == pytest.approx(system["ci"], abs=0.00005)
    assert float(row[4]) == pytest.approx(system["p_adjusted"], rel=0.05)
    assert signature.startswith("Signature: ")
    main(["gate", *files, "--baseline", "old|er", "--margin", "1", "--format", "csv"])
    header, row = csv.reader(capsys.readouterr().out.splitlines())
    record = dict(zip(header, row, strict=True))
    assert (record["system"], record["outcome"]) == ("new", system["outcome"])
    assert float(record["p_adjusted"]) == system["p_adjusted"]


def test_a_notebook_shows_what_the_shell_prints(tmp_path, capsys):
    given = dict(zip(("base", "old", "new"), scores(300, (0.0, -0.31)), strict=True))
    files = []
    for name, row in given.items():
        (tmp_path / name).write_text("".join(f"{value}\n" for value in row))
        files += ["--scores", f"{name}={tmp_path / name}"]
    asked = ["--baseline", "base", "--margin", "0.3", "--resamples", "999"]
    assert main(["gate", *files, *asked]) == 3
    labelled = {name: {"scores": row} for name, row in given.items()}
    report = sigtest.gate(
        systems=[{"name": name, "scores": own} for name, own in labelled.items()],
        baseline="base", margin=0.3, resamples=999,
    )  # fmt: skip
    assert str(report) == repr(report) == capsys.readouterr().out


@pytest.mark.parametrize(
    ("units", "sign", "claim", "warned"),
    [
        (49, 0.0, "not_worse", "There are 49 segments, fewer than 50: "),
        (50, 0.0, "not_worse", None),
        (300, -1.0, "not_worse", "The differences of s1 from the baseline are skewed: "),
        # rare gains keep it from passing, and let it fail: .13 of gates, VALIDITY.md has the table
        (300, 1.0, "not_worse", "The differences of s1 from the baseline are skewed: "),
        (300, 1.0, "equivalent", "The differences of s1 from the baseline are skewed: "),
        (49, 0.0, "same", None),
    ],
)
def test_few_units_and_rare_large_differences_are_warned_of(units, sign, claim, warned):
    rows = scores(units, (0.0, 0.0))
    rows[1, :2] += sign * 60
    report = decided(rows, None if claim == "same" else 2.0, claim)
    assert [said.startswith(str(warned)) for said in sentences(report)] == [True] * bool(warned)


def test_a_difference_that_no_resample_changes_is_warned_of():
    """Of 60 units none differs: by chance alone (.95 ** 60 = .05) where 4.9 % of all do."""
    rows = scores(60, (0.0, 0.0))
    rows[1] = rows[0]
    same, said = decided(rows, 0.02).systems[0], sentences(decided(rows, 0.02))
    assert (same.outcome, same.ci) == ("pass", (0.0, 0.0))
    assert len(said) == 1
    assert said[0].startswith("No resample changes the difference of s1 from the baseline")
    assert "yet up to 4.9 % of segments may be" in said[0]
    assert not sentences(decided(rows, None, "same"))


@pytest.mark.parametrize("margin", [0, -1.0, math.nan, math.inf, 10**400, True, "1"])
def test_a_margin_that_is_no_positive_number_is_refused(margin):
    with pytest.raises(RecipeError, match="margin must be a positive number, not"):
        decided(scores(20, (0.1,)), margin)


def test_a_margin_that_no_share_can_lose_is_refused():
    rows = (scores(60, (0.0,)) > 0).astype(float)
    with pytest.raises(RecipeError, match=r"margin 5 is no difference of two shares.*0\.01"):
        decided(rows, 5.0)
    assert decided(100 * rows, 5.0).margin == 5.0


def test_rare_large_losses_pass_too_often_at_the_margin_of_few_units():
    """What the warning says: lognormal losses, a hundred systems worse by exactly the margin."""
    passed = 0
    for run in range(3):
        drawn = np.random.default_rng((7, run)).lognormal(size=(100, 20))
        rows = np.concatenate([np.zeros((1, 20)), np.exp(0.5) - drawn - 1.5])
        systems = decided(rows, 1.5, correction="none").systems
        passed += sum(system.outcome == "pass" for system in systems)
    assert 0.08 <= passed / 300 <= 0.15
