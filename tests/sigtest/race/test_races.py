"""Races: boundaries against textbook loops, who stops when, sources of scores, warnings."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import brentq
from sentences import sentences

import sigtest
from sigtest.cli import main
from sigtest.errors import InputError, LengthError, LimitError, RecipeError
from sigtest.kinds import KINDS
from sigtest.kinds.base import Finished
from sigtest.race import sequences
from sigtest.race.compute import Race, standing
from sigtest.race.sequences import Sequences, all_pairs
from sigtest.report import encode

KIND = KINDS["sequential-comparisons"]
LEVEL = 0.05


def right(shares, items=300, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((items, len(shares))) < shares).astype(float)


def normal(means, items, seed):
    noise = np.random.default_rng(seed).normal(size=(items, len(means)))
    return noise + np.array(means)


def columns(scores, names="abcdefgh"):
    listed = np.where(np.isnan(scores), None, scores).T.tolist()
    return dict(zip(names, listed, strict=False))


def reported(scores, **choices):
    """Of scores that are right or wrong with their scale, which is never guessed."""
    if np.isin(scores[np.isfinite(scores)], (0, 1)).all():
        choices = {"scale": (0, 1), **choices}
    return KIND.compute(KIND.parse({"scores": columns(scores), **choices}))


def capital(differences, candidate):
    """Waudby-Smith & Ramdas (2024), Theorem 3, one side, of differences in [-1, 1]."""
    logarithm, seen = 0.0, []
    for t, d in enumerate(differences, 1):
        means = [sum(seen[: i + 1]) / (i + 2) for i in range(len(seen))]
        variance = (1 + sum((x - m) ** 2 for x, m in zip(seen, means, strict=True))) / t
        bet = math.sqrt(2 * math.log(2 / LEVEL) / (variance * t * math.log(1 + t)))
        logarithm += math.log(1 + min(bet, 0.6) * (d - candidate))
        seen.append(d)
    return logarithm


@pytest.mark.parametrize("items", [12, 40, 150])
def test_betting_intervals_are_where_a_plain_loop_has_won_enough(items):
    scores = right((0.8, 0.5), items, seed=items)
    d = (scores[:, 0] - scores[:, 1]).tolist()
    race = Sequences(all_pairs(2), LEVEL, 1.0, 100)
    race.add(scores)

    low, high = race.intervals()[0]

    target = math.log(2 / LEVEL)
    ends = (-1 + 1e-9, 0.5)
    assert low == pytest.approx(
        brentq(lambda m: capital(d, m) - target, *ends, xtol=1e-13), abs=1e-9
    )
    turned = [-x for x in d]
    other = -brentq(lambda m: capital(turned, m) - target, *ends, xtol=1e-13)
    assert high == pytest.approx(other, abs=1e-9)


def test_a_pair_is_decided_with_the_item_at_which_half_the_capital_is_enough():
    scores = right((0.8, 0.5), 150, seed=4)
    d = (scores[:, 0] - scores[:, 1]).tolist()
    first = next(n for n in range(1, 151) if capital(d[:n], 0.0) >= math.log(2 / LEVEL))

    (pair,) = reported(scores).pairs

    assert (pair.decided, pair.since) == ("a", first)


def reach(d, burn_in):
    """Waudby-Smith et al. (2024), Theorem 2.2, with rho for 5 burn-ins; s.d. with n."""
    n, twice = len(d), -2 * math.log(LEVEL)
    rho2 = (twice + math.log(twice + 1)) / (5 * burn_in)
    grown = n * rho2 + 1
    return d.std() * math.sqrt(2 * grown / (n**2 * rho2) * math.log(math.sqrt(grown) / LEVEL))


def test_asymptotic_intervals_are_those_of_the_formula():
    scores = normal((0.5, 0.0), 400, 3)
    burn_in, d = 50, scores[:, 0] - scores[:, 1]

    report = reported(scores, burn_in=burn_in)

    (pair,) = report.pairs
    assert pair.difference == pytest.approx(d.mean(), abs=1e-12)
    ends = (d.mean() - reach(d, burn_in), d.mean() + reach(d, burn_in))
    assert pair.ci == pytest.approx(ends, abs=1e-9)
    assert report.looks[-1].ci == pytest.approx(pair.ci, abs=1e-12)
    assert min(look.row for look in report.looks) >= burn_in


def test_an_asymptotic_interval_decides_with_the_first_item_that_leaves_0_out():
    for seed in range(40):
        scores = normal((0.5, 0.0), 400, seed)
        d = scores[:, 0] - scores[:, 1]
        apart = [n for n in range(10, 401) if abs(d[:n].mean()) > reach(d[:n], 10)]
        (pair,) = reported(scores, burn_in=10).pairs
        assert pair.since == (apart[0] if apart else None)


@pytest.mark.parametrize("scale", [None, (-9.0, 9.0)])
def test_batches_of_any_size_say_what_all_items_at_once_do(scale):
    scores = np.clip(normal((0.5, 0.2, 0.0), 333, 1), -9, 9)
    whole = reported(scores, scale=scale)
    for size in (1, 10, 333):
        race = Race("abc", scale=scale)
        for start in range(0, len(scores), size):
            race.add(columns(scores[start : start + size]))
        assert race.report() == whole


def test_a_score_of_another_scale_says_the_same_in_its_own_unit():
    ones, hundreds = (reported(right((0.9, 0.6)) * k, scale=(0, k)) for k in (1, 100))
    assert [pair.since for pair in ones.pairs] == [pair.since for pair in hundreds.pairs]
    assert hundreds.pairs[0].ci == pytest.approx([100 * end for end in ones.pairs[0].ci], abs=1e-7)


def test_where_less_is_better_the_other_one_wins():
    more, less = (reported(right((0.9, 0.4, 0.6)), lower=lower) for lower in (False, True))
    assert (more.leader, less.leader) == ("a", "b")
    assert [pair.since for pair in more.pairs] == [pair.since for pair in less.pairs]
    assert {pair.decided for pair in more.pairs[:2]} == {"a"}
    assert {pair.decided for pair in less.pairs[:2]} == {"b"}
    assert more.systems[0].range == (1, 1)
    assert less.systems[0].range == (3, 3)


def test_a_system_that_has_stopped_stops_no_other():
    """b loses to a, then would beat c, then a beats c: c stops with a's win alone."""
    pairs = all_pairs(3)  # ab, ac, bc
    sequences = SimpleNamespace(
        pairs=pairs, decided=np.array([1, 1, 1]), since=np.array([10, 40, 20])
    )
    question = SimpleNamespace(systems="abc", choices=SimpleNamespace(lower=False))

    now = standing(sequences, question)

    assert now.until.tolist() == [40, 10, 40]
    assert now.over == 40
    open_ = SimpleNamespace(pairs=pairs, decided=np.array([1, 0, 1]), since=np.array([10, 0, 20]))
    assert standing(open_, question).until.tolist() == [0, 10, 0]
    assert standing(open_, question).over is None


def test_what_stopping_spares_is_counted_in_scores():
    report = reported(right((0.95, 0.6, 0.3), 400))
    stops = [system.until for system in report.systems]
    assert report.over == max(stops)
    assert report.needed == sum(stops)
    assert report.observations == 1200
    assert "spared" in KIND.present(report).document().answer[0]


def test_pairs_are_compared_on_the_items_that_both_have():
    scores = right((0.9, 0.5, 0.7), 300)
    scores[:100, 2] = np.nan  # joins late
    scores[200:, 1] = np.nan  # has stopped

    pairs = {(pair.a, pair.b): pair for pair in reported(scores).pairs}

    common = scores[100:200][:, 1:]
    assert pairs["b", "c"].items == 100
    assert pairs["b", "c"].difference == pytest.approx(float(np.diff(-common).mean()))
    late = Sequences(all_pairs(2), LEVEL / 3, 1.0, 100)
    late.add(scores[100:][:, [0, 2]])
    assert pairs["a", "c"].ci == pytest.approx(late.intervals()[0].tolist())
    assert pairs["a", "c"].since == (late.since[0] + 100 if late.since[0] else None)


def test_arrays_of_any_layout_are_taken_by_one_kernel():
    """Another one would be compiled while somebody waits."""
    rows = np.random.default_rng(1).random((60, 6))
    plain, strided = (
        Sequences(all_pairs(3), LEVEL, 1.0, 10),
        Sequences(all_pairs(3), LEVEL, 1.0, 10),
    )
    plain.add(rows[:, :3].copy(), rows[:, 3:].copy())
    known = [*sequences._take.signatures]
    strided.add(rows[:, :3], rows[:, 3:])
    assert [*sequences._take.signatures] == known
    assert strided.sums.tolist() == plain.sums.tolist()


def test_items_by_name_are_those_of_lists():
    scores = right((0.9, 0.5), 60)
    named = {k: {f"q{i}": v for i, v in enumerate(own)} for k, own in columns(scores).items()}
    assert KIND.compute(KIND.parse({"scores": named, "scale": [0, 1]})) == reported(scores)


def test_a_decision_stays_and_no_item_before_the_burn_in_decides():
    far = normal((3.0, 0.0), 150, 2)
    (pair,) = reported(far[:99]).pairs
    assert (pair.decided, pair.ci) == (None, (-math.inf, math.inf))
    assert encode(reported(far[:99]))["pairs"][0]["ci"] == [None, None]
    back = np.concatenate([far, far[:, ::-1]])
    (pair,) = reported(back).pairs
    assert (pair.decided, pair.since) == ("a", 100)


def test_about_how_many_items_the_rest_takes():
    """Of pairs that are open after 120 items, whose differences were small so far."""
    for step, scale in ((0.12, (0, 1)), (0.25, None)):
        ratios = []
        for seed in range(60):
            scores = normal((step, 0.0), 40_000, seed)
            if scale:
                scores = right((0.7, 0.7 - step), 40_000, seed)
            race = Sequences(all_pairs(2), LEVEL, 1.0 if scale else None, 100)
            race.add(scores[:120])
            about = race.remaining()[0]
            if race.decided[0] == 0 and about:
                race.add(scores[120:])
                ratios.append(about / (race.since[0] - 120))
        assert 0.5 < np.median(ratios) < 3


def test_nothing_is_said_of_what_goes_on_for_ever():
    same = reported(np.ones((50, 2)))
    assert (same.pairs[0].remaining, same.remaining, same.pairs[0].decided) == (None, None, None)


def test_sorted_items_are_warned_of_and_shuffled_ones_are_not():
    rng = np.random.default_rng(8)
    harder = np.linspace(0.9, 0.5, 600)[:, None]  # with little between neighbours
    falling = (rng.random((600, 2)) < harder).astype(float)
    twice = np.repeat(right((0.8, 0.6, 0.5), 150), 2, axis=0)  # without a trend
    for ordered in (falling, twice):
        assert any("random order" in warning for warning in sentences(reported(ordered)))
    warned = [sentences(reported(right((0.8, 0.6, 0.5), 300, seed))) for seed in range(100)]
    assert sum(map(bool, warned)) <= 4


def test_skewed_differences_are_warned_of_where_no_scale_is_given():
    rng = np.random.default_rng(5)
    rare = np.where(rng.random((400, 2)) < [0.03, 0.0], -0.97, 0.03) + 0.01 * rng.normal(
        size=(400, 2)
    )
    assert any("skewed" in warning for warning in sentences(reported(rare)))
    assert not sentences(reported(rare, scale=(-2, 2)))
    assert not sentences(reported(rng.normal(size=(400, 2))))


def test_a_comparison_races_by_its_metric():
    scores = right((0.9, 0.5), 60)
    systems = {name: {"scores": {"ok": own}} for name, own in columns(scores).items()}
    body = {"systems": systems, "metrics": ["scores"]}

    report = KIND.compute(KIND.parse({"comparison": body, "scale": [0, 1]}))

    assert report.pairs == reported(scores).pairs
    assert report.statistic == "mean scores of a segment"
    finished = Finished(KINDS["comparisons"].parse(body), {})
    named = {"comparison": {"id": "c"}, "scale": [0, 1]}
    for place in KIND.named:
        ids = place.ids(named)
        named = place.replace(named, dict.fromkeys(ids, place.take(finished)))
    assert KIND.compute(KIND.parse(named)) == report


def test_error_rates_race_downwards():
    reference = ["a b c d"] * 40
    systems = {"good": ["a b c d"] * 40, "poor": ["a x c y"] * 40}
    body = {"references": reference, "systems": systems, "metrics": ["bleu", "ter"]}
    report = KIND.compute(KIND.parse({"comparison": body, "metric": "ter", "scale": [0, 100]}))
    assert (report.leader, report.pairs[0].decided) == ("good", "a")
    assert report.systems[1].mean == pytest.approx(50)


def test_judgements_of_people_race_by_their_means():
    rows = [
        {
            "annotator": who,
            "system": system,
            "segment": segment,
            "score": score + 10 * (who == "w2"),
        }
        for segment in range(60)
        for system, score in (("a", 60 + segment % 7), ("b", 50 + segment % 5))
        for who in ("w1", "w2")
    ]
    report = KIND.compute(
        KIND.parse({"human": {"judgements": rows}, "scale": [0, 100]})  # scores as given
    )
    means = np.array([[65 + s % 7, 55 + s % 5] for s in range(60)], dtype=float)
    assert report.pairs == reported(means, scale=[0, 100]).pairs
    human = {"judgements": rows, "standardise": "annotator"}
    with pytest.raises(InputError, match="item 0: standardised score of a segment is -"):
        KIND.parse({"human": human, "scale": [0, 100]})


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        ({}, InputError, "about one of scores, comparison, human; 0 are given"),
        ({"scores": {"a": [1], "b": [0]}, "human": {}}, InputError, "2 are given"),
        ({"scores": {"a": [1, 2]}}, InputError, "two systems at least"),
        ({"scores": {str(i): [1] for i in range(301)}}, LimitError, "up to 300 systems"),
        ({"scores": {"a": [], "b": []}}, InputError, "There are no scores"),
        ({"scores": {"a": [1, 2], "b": [1]}}, LengthError, "1 segment scores"),
        ({"scores": {"a": [1, "x"], "b": [1, 0]}}, InputError, "'x' is not a finite number"),
        (
            {"scores": {"a": {"p": 1, "q": 5}, "b": {"q": 0}}, "scale": [0, 4]},
            InputError,
            "System 'a', item q: score is 5, outside of the scale from 0 to 4",
        ),
        ({"scores": {"a": [1], "b": [0]}, "burnin": 5}, RecipeError, "burn_in"),
    ],
)
def test_requests_that_cannot_be_used_say_why(request_, error, words):
    with pytest.raises(error, match=words):
        KIND.parse(request_)


def test_races_refuse_what_they_do_not_know():
    for names in ([], ["a"], ["a", "a"], ["a", "b\n"]):
        with pytest.raises(InputError):
            sigtest.Race(names)
    assert sentences(sigtest.Race(["new", "old"]).report()) == []
    race = sigtest.Race(["new", "old"], scale=(0, 1))
    with pytest.raises(RecipeError, match="Did you mean 'new'"):
        race.add({"New": 1})
    with pytest.raises(InputError, match="outside of the scale"):
        race.add({"new": 3, "old": 0})
    with pytest.raises(LengthError):
        race.add({"new": [1, 0], "old": [1]})
    with pytest.raises(InputError, match="not a finite number"):
        race.add({"new": "right", "old": 0})
    assert race.sequences.items == 0
    race.add({"new": np.float32(1), "old": None})
    race.add({"new": np.array([1, 0])})
    assert [(own.items, own.mean) for own in race.report().systems] == [(3, 2 / 3), (0, None)]


def test_the_shell_reads_rows_with_gaps_and_draws(tmp_path, capsys):
    scores = right((0.95, 0.6, 0.3), 120)
    scores[60:, 2] = np.nan
    table = tmp_path / "scores.tsv"
    rows = ["\t".join("" if math.isnan(v) else f"{v:g}" for v in row) for row in scores]
    lines = [f"q{i}\t{row}" for i, row in enumerate(rows)]
    table.write_text("\n".join(["item\ta\tb\tc", *lines]) + "\n")

    plots = str(tmp_path / "plots")
    assert main(["race", str(table), "--scale", "0,1", "--format", "json", "--plots", plots]) == 0

    assert KIND.read(json.loads(capsys.readouterr().out)) == reported(scores, metric="scores")
    assert (tmp_path / "plots" / "race.svg").read_text().startswith("<svg")


def test_the_shell_reads_judgements(tmp_path, capsys):
    path = tmp_path / "judged.csv"
    rows = [f"{s},{i},{50 + 8 * (s == 'a') + i % 3}" for i in range(40) for s in "ab"]
    path.write_text("\n".join(["system,segment,score", *rows]) + "\n")
    assert main(["race", "--human", str(path), "--scale", "0,100", "--format", "csv"]) == 0
    assert "a,b,40,8." in capsys.readouterr().out
    assert main(["race"]) == 2
    assert "which FILE of scores" in capsys.readouterr().err


@pytest.mark.parametrize(
    "apart",
    [
        {"unpaired": True},
        {"pairs": {"baseline": 0.5}},
        {"pairs": {"baseline": 0.5}, "finished": True},
        {"unpaired": True, "finished": True},
    ],
)
def test_systems_without_common_items_do_not_race(apart):
    scores = columns(normal((0.5, 0.8), 40, 1))
    body = {"systems": [{"name": name, "scores": {"s": own}} for name, own in scores.items()]}
    finished = apart.pop("finished", False)
    body |= apart
    if finished:
        place, named = KIND.named[1], {"comparison": {"id": "c"}}
        made = place.take(Finished(KINDS["comparisons"].parse(body), {}))
        body = place.replace(named, dict.fromkeys(place.ids(named), made))["comparison"]
    with pytest.raises(RecipeError, match="leave out unpaired and numbers"):
        KIND.parse({"comparison": body})


def test_a_file_says_in_which_direction_its_scores_race(tmp_path, capsys):
    path = tmp_path / "judged.csv"
    rows = [f"q{i},{s},wer,{i % 3 / 10 + (s == 'b')}" for i in range(120) for s in "ab"]
    for way, leader, warned in (("false", "a", False), ("", "b", True)):
        lines = [f"{row},{way}" for row in rows]
        path.write_text("\n".join(["id,system,metric,score,higher_is_better", *lines]) + "\n")
        assert main(["race", str(path), "--format", "json"]) == 0
        report = json.loads(capsys.readouterr().out)
        said = "mean wer (lower is better)" if way else "mean wer"
        assert (report["leader"], report["statistic"]) == (leader, said)
        told = [own for own in sentences(report) if "wer has the name of an error rate" in own]
        assert bool(told) == warned
    systems = {s: {"scores": {"wer": [0.1 * (s == "a")] * 3}} for s in "ab"}
    compared = {"comparison": {"systems": systems, "metrics": ["scores:of=wer"]}}
    (warning,) = sentences(KIND.compute(KIND.parse(compared)))
    assert warning.startswith("wer has the name of an error rate")
    report = KIND.compute(KIND.parse({**compared, "lower": True}))
    assert (report.leader, sentences(report)) == ("b", [])


def test_a_scale_is_never_guessed_so_that_no_later_score_takes_a_decision_back():
    scores = np.stack([np.ones(60), np.zeros(60)], axis=1)
    for said in (KIND.compute(KIND.parse({"scores": columns(scores)})), raced(scores)):
        assert (said.scale, said.pairs[0].decided) == (None, None)
        assert any("--scale 0,1" in warning for warning in sentences(said))
    assert reported(scores).pairs[0].decided == "a"


def raced(scores):
    race = Race("ab")
    race.add(columns(scores))
    return race.report()


def test_the_shell_takes_scales_below_zero(tmp_path, capsys):
    path = tmp_path / "mqm.tsv"
    rows = [f"q{i}\t{-(i % 5)}\t{-(i % 7)}" for i in range(40)]
    path.write_text("\n".join(["item\ta\tb", *rows]) + "\n")
    assert main(["race", str(path), "--scale", "-25,0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["scale"] == [-25, 0]


def test_nothing_is_foreseen_after_an_item_or_in_a_scale_far_wider_than_differences():
    scores = normal((0.3, 0.0), 120, 0)
    for seen, scale in ((1, None), (1, (-9, 9)), (120, (-500, 500))):
        (pair,) = reported(scores[:seen], scale=scale).pairs
        assert (pair.decided, pair.remaining) == (None, None)


def test_a_file_is_followed_until_the_race_is_over(tmp_path, capsys, monkeypatch):
    """Rows that are half written wait; what is decided is said once, and the report follows."""
    path = tmp_path / "running.csv"
    rows = ["id,new,old,older", *(f"q{i},1,{i % 2},0" for i in range(60))]
    text = "\n".join(rows) + "\n"
    pieces = [text[at : at + 37] for at in range(0, len(text), 37)]
    path.write_text(pieces.pop(0))

    def sleep(_: float) -> None:
        with path.open("a") as file:
            file.write(pieces.pop(0))

    monkeypatch.setattr("sigtest.cli.compare.time.sleep", sleep)
    assert main(["race", str(path), "--scale", "0,1", "--follow", "--format", "json"]) == 0
    told = capsys.readouterr()
    report = json.loads(told.out)
    assert report["items"] < 60  # it ended before the file did
    said = [line for line in told.err.splitlines() if line.startswith("item ")]
    won = {own["until"]: own["name"] for own in report["systems"]}
    assert len(won) > 1
    decided = [(p["since"], p["a"], p["b"]) for p in report["pairs"] if p["decided"]]
    assert sorted(said) == sorted(f"item {n}: {a} is better than {b}" for n, a, b in decided)
    assert report["over"] == max(n for n, a, _ in decided if a == "new")
    assert main(["race", "--human", str(path), "--follow"]) == 2
    assert "which FILE of scores" in capsys.readouterr().err
