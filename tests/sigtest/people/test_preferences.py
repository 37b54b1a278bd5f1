"""Comparisons of two systems: Bradley & Terry's strengths, their errors, and what is said of them.

Baseball: the 1987 season of the American League East, Agresti (2002), "Categorical Data Analysis",
Table 10.10; estimates and errors as BradleyTerry2 1.1-2 prints them in its vignette (section 3.1).
"""

import base64
import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from jsonschema_rs import Draft202012Validator
from scipy import optimize, stats
from sentences import sentences

from sigtest.errors import InputError, RecipeError, SigtestError
from sigtest.files.formats.preferences import JUDGEMENTS
from sigtest.people.bradley_terry import all_won, fit, parts, reaching, resample, scatter
from sigtest.people.compute import compute
from sigtest.people.judgements import Comparisons, Names
from sigtest.people.kind import KIND
from sigtest.people.pictures import PICTURES
from sigtest.people.preferences import Fitted, wald
from sigtest.people.question import HumanQuestion, parse
from sigtest.report import decode, encode

TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = np.array([
    [0, 7, 9, 7, 7, 9, 11], [6, 0, 7, 5, 11, 9, 9], [4, 6, 0, 7, 7, 8, 12], [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12], [4, 4, 5, 6, 6, 0, 6], [2, 4, 1, 3, 1, 7, 0],
], dtype=float)  # fmt: skip
PUBLISHED = {
    "Milwaukee": (1.5814, 0.3433), "Detroit": (1.4364, 0.3396), "Toronto": (1.2945, 0.3367),
    "New York": (1.2476, 0.3359), "Boston": (1.1077, 0.3339), "Cleveland": (0.6839, 0.3319),
}  # fmt: skip


def compared(systems, a, b, share, weight=None):
    """Comparisons without labels."""
    n, plain = len(share), Names.unknown(len(share))
    system = Names(tuple(f"s{i}" for i in range(systems)), np.stack([a, b], axis=1))
    return Comparisons(
        system, *[plain] * 4, np.zeros(n, int), np.asarray(share),
        np.ones(n) if weight is None else weight, plain, np.zeros(n, int), np.arange(n),
    )  # fmt: skip


def drawn(systems=6, n=600, units=40, spread=0.6, between=0.0, ties=0.8, seed=1):
    """Comparisons of systems of spread strengths, whose units like systems more or less."""
    rng = np.random.default_rng(seed)
    a = rng.integers(systems, size=n)
    b = (a + 1 + rng.integers(systems - 1, size=n)) % systems
    unit = rng.integers(units, size=n)
    own = np.linspace(0, spread, systems) + between * rng.normal(size=(units, systems))
    distance = own[unit, a] - own[unit, b]
    win, tie, loss = np.exp(distance / 2), np.full(n, ties), np.exp(-distance / 2)
    x = rng.random(n) * (win + tie + loss)
    share = np.where(x < win, 1.0, np.where(x < win + tie, 0.5, 0.0))
    return compared(systems, a, b, share), unit


def text_of(sums, item=None, judge=None):
    a, b = sums.system.codes.T.tolist()
    columns = {"a": [f"s{i}" for i in a], "b": [f"s{i}" for i in b],
               "winner": [{1.0: "a", 0.5: "tie", 0.0: "b"}[s] for s in sums.share]}  # fmt: skip
    columns |= {"item": item} if item is not None else {}
    columns |= {"judge": judge} if judge is not None else {}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]).encode()


def asked(text, **choices):
    data = text if isinstance(text, bytes) else text.encode()
    return parse(choices, [("battles", data)])


def evaluated(text, **choices):
    return compute(asked(text, **choices))


def test_baseball_equals_the_published_strengths_and_errors():
    at = fit(WINS, 0, davidson=True)
    theta = at.theta - at.theta[-1]
    for team, (value, error) in PUBLISHED.items():
        i = TEAMS.index(team)
        way = np.eye(8)[i] - np.eye(8)[6]
        assert theta[i] == pytest.approx(value, abs=6e-5)
        assert math.sqrt(way @ at.inverse @ way) == pytest.approx(error, abs=6e-5)


@pytest.mark.parametrize("davidson", [True, False])
def test_strengths_equal_those_of_another_optimiser(davidson):
    sums, _ = drawn()
    ties, n = sums.ties, len(sums.share)

    def loss(x):
        d = x[sums.system.codes[:, 0]] - x[sums.system.codes[:, 1]]
        if davidson:
            total = np.exp(d / 2) + np.exp(-d / 2) + np.exp(x[-1])
            logs = (sums.share - 0.5) * d + ties * x[-1] - np.log(total)
        else:
            logs = (sums.share - 0.5) * d - np.log(np.exp(d / 2) + np.exp(-d / 2))
        return -logs.sum() + n * x[:6].sum() ** 2

    found = optimize.minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    at = fit(sums.won, float(ties.sum()), davidson)
    assert at.theta == pytest.approx(found.x[:6], abs=1e-6)
    assert (at.log_nu == pytest.approx(found.x[6], abs=1e-6)) == davidson


def test_the_sandwich_is_that_of_textbooks():
    sums, unit = drawn()
    at = fit(sums.won, float(sums.ties.sum()), davidson=True)
    scores = np.zeros((40, 7))
    for k, u in enumerate(unit):
        win, tie, loss = at.outcomes(
            at.theta[sums.system.codes[k, 0]] - at.theta[sums.system.codes[k, 1]]
        )
        off = (sums.share[k] - 0.5) - (win - loss) / 2
        scores[u, sums.system.codes[k, 0]] += off
        scores[u, sums.system.codes[k, 1]] -= off
        scores[u, 6] += (sums.share[k] == 0.5) - tie
    found = scatter(at, sums, unit)[:-1, :-1]
    assert found == pytest.approx(scores.T @ scores * 40 / 39, abs=1e-9)


def test_resamples_agree_with_fitting_each_anew():
    sums, unit = drawn(n=1200)
    at = fit(sums.won, float(sums.ties.sum()), davidson=True)
    covariance, without = resample(at, sums, unit, 4000, 3)
    rng, thetas = np.random.default_rng(2), []
    rows = [np.flatnonzero(unit == u) for u in range(40)]
    for _ in range(600):
        take = np.concatenate([rows[u] for u in rng.integers(40, size=40)])
        again = compared(6, *sums.system.codes[take].T, sums.share[take])
        thetas.append(fit(again.won, float(again.ties.sum()), davidson=True).theta)
    assert without == 0
    assert np.diag(covariance) == pytest.approx(np.var(thetas, axis=0), rel=0.18)


def test_draws_do_not_depend_on_blocks(monkeypatch):
    sums, unit = drawn()
    at = fit(sums.won, float(sums.ties.sum()), davidson=True)
    one = resample(at, sums, unit, 50, 3)[0]
    monkeypatch.setattr("sigtest.people.bradley_terry.ROOM", 300)
    assert resample(at, sums, unit, 50, 3)[0] == pytest.approx(one, rel=1e-12)


def test_a_resample_without_a_maximum_is_counted():
    """Of four units one has the only win of the second: (3 / 4)^4 of all resamples lack it."""
    sums = compared(2, np.zeros(4, int), np.ones(4, int), np.array([1, 1, 1, 0.0]))
    at = fit(sums.won, 0.0, davidson=False)
    _, without = resample(at, sums, np.arange(4), 20_000, 5)
    assert without == pytest.approx(0.75**4 + 0.25**4, abs=0.01)


def test_p_values_are_those_of_students_t():
    sums, unit = drawn()
    report = evaluated(text_of(sums, item=unit), errors="sandwich", correction="none")
    assert (report.preferences.unit, report.preferences.units) == ("item", 40)
    reach = stats.t.ppf(0.975, 39)
    for pair in report.pairs:
        error = (pair.ci[1] - pair.ci[0]) / 2 / reach
        assert pair.p_greater == pytest.approx(stats.t.sf(pair.difference / error, 39), rel=1e-9)
        assert pair.p_greater + pair.p_less == pytest.approx(1)


def test_parts_are_what_wins_connect():
    won = np.zeros((5, 5))
    won[0, 1] = won[1, 2] = won[2, 0] = won[3, 0] = 1  # a circle, one that won, one that never met
    assert parts(won).tolist() == [0, 0, 0, 1, 2]
    rng = np.random.default_rng(1)
    for size in (2, 3, 5, 9):
        edges = rng.random((300, size, size)) < rng.random((300, 1, 1))
        paths = np.eye(size, dtype=bool) | edges
        for k in range(size):
            paths |= paths[..., [k]] & paths[..., [k], :]
        assert (reaching(edges.astype(float)) == paths).all()
        assert 0 < paths.all(axis=(1, 2)).sum() < 300


def test_who_won_everything_has_a_bound_and_an_exact_p():
    rows = ["a,b,winner", *["X,A,X"] * 3, "X,B,X", "X,B,X", *["A,B,A"] * 6, *["A,B,B"] * 3,
            "Z,W,Z"]  # fmt: skip
    report = evaluated("\n".join(rows))
    own = {system.name: system.strength for system in report.systems}
    assert set(report.preferences.undetermined) == {"X", "Z", "W"}
    assert own["A"].value - own["B"].value == pytest.approx(math.log(2))
    a, b = own["A"].value, own["B"].value
    low = own["X"].ci[0]
    chance = (1 / (1 + math.exp(a - low))) ** 3 * (1 / (1 + math.exp(b - low))) ** 2
    assert chance == pytest.approx(0.025, rel=1e-6)
    assert (own["X"].value, own["X"].ci[1], own["Z"].ci) == (None, math.inf, (-math.inf, math.inf))
    pair = next(pair for pair in report.pairs if {pair.a, pair.b} == {"X", "A"})
    better = pair.p_greater if pair.a == "X" else pair.p_less
    assert better == pytest.approx(0.5**3 * (2 / 3) ** 2)
    (told,) = (w for w in sentences(report) if "determine" in w)
    assert all(name in told for name in "XZW")
    assert "they have bounds" in told
    assert "X" in str(report)
    assert json.dumps(encode(report), allow_nan=False)  # infinite ends are null
    left = evaluated("\n".join(rows), undetermined="leave_out")
    assert {system.name for system in left.systems} == {"A", "B"}
    assert any("left out" in warning for warning in sentences(left))


def test_wins_within_one_unit_are_no_evidence_of_their_number():
    at = fit(np.array([[0, 2.0], [1, 0]]), 0.0, davidson=False)
    ones, opponents = np.ones(4), np.zeros(4)
    assert all_won(at, 0.0, opponents, np.arange(4), ones) == pytest.approx(1 / 16)
    assert all_won(at, 0.0, opponents, np.zeros(4, dtype=int), ones) == pytest.approx(1 / 2)


def test_ties_alone_and_ties_that_no_maximum_explains_are_half_wins():
    alone = evaluated("a,b,winner\nA,B,tie\nB,C,tie\nA,C,tie\n", errors="sandwich")
    assert [system.strength.value for system in alone.systems] == [0, 0, 0]
    endless = evaluated("a,b,winner\n" + "A,B,A\n" * 4 + "A,B,tie\n" * 3)
    assert (endless.preferences.ties, endless.preferences.nu) == ("half", None)
    gap = endless.systems[0].strength.value - endless.systems[1].strength.value
    assert gap == pytest.approx(math.log(5.5 / 1.5))
    assert any("two half wins" in warning for warning in sentences(endless))


FORMS = {
    "arena": "model_a,model_b,winner,judge\nx,y,model_a,1\ny,z,tie (bothbad),2\nz,x,model_b,3\n",
    "votes": "left_model,right_model,vote\nx,y,leftvote\ny,z,bothbad_vote\nz,x,rightvote\n",
    "numbered": "system1,system2,preferred_model\nx,y,x\ny,z,neither\nz,x,x\n",
    "names": "model_a\tmodel_b\twinner\nx\ty\tx\ny\tz\tboth bad\nz\tx\tx\n",
    "one-hot": "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    "1,x,y,1,0,0\n2,y,z,0,0,1\n3,z,x,0,1,0\n",
    "numbers": '{"a": "x", "b": "y", "preference": 1}\n{"a": "y", "b": "z", "preference": 0.5}\n'
    '{"a": "z", "b": "x", "preference": 0}\n',
    "alpaca": json.dumps([
        {"instruction": "a" * 300, "generator_1": "x", "generator_2": "y", "preference": 1.0},
        {"instruction": "b", "generator_1": "y", "generator_2": "z", "preference": 1.5},
        {"instruction": "c", "generator_1": "z", "generator_2": "x", "preference": 2},
    ]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_comparisons_are_read_alike(form):
    judged = asked(FORMS[form]).judgements
    sides = [tuple(judged.system.names[s] for s in both) for both in judged.system.codes]
    assert sides == [("x", "y"), ("y", "z"), ("z", "x")]
    assert judged.share.tolist() == [1, 0.5, 0]
    assert asked(FORMS[form]).sources[0].input == ("alpaca_eval" if form == "alpaca" else
                                                   "preferences")  # fmt: skip


def test_a_fraction_is_a_win_and_a_loss():
    sums = asked("a,b,preference,weight\nA,B,.7,2\nB,A,.4,\n").judgements
    assert sums.won == pytest.approx(np.array([[0, 1.4 + 0.6], [0.6 + 0.4, 0]]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,winner\nA,B,C\n", "battles, line 2: 'C' is neither system, nor a, b or tie"),
        ("a,b,preference\nA,B,1.5\n", "line 2: '1.5' is no preference from 0 to 1"),
        ("a,b,winner,weight\nA,B,a,-1\n", "line 2: '-1' is no weight above 0"),
        ("a,b,winner,weight\nA,B,a,nan\n", "line 2: 'nan' is no weight above 0"),
        ("a,b,winner\n,B,a\n", "line 2: '' is no name of a system"),
        ('generator_1,generator_2,preference\nA,B,3\n', "no preference from 1 to 2"),
        ("a,b,winner\nA,B,\n", "holds no comparison"),
        ("model_a,model_b,judge\nA,B,w\n", "no column winner; columns are model_a, model_b"),
        ('[{"model_1": "A", "model_2": "B", "g1_winner": "A"}]', "no column winner"),
        ('[{"model_a": "A", "model_b": "B"}, {"winner": "A"}]', "null is no name of a system"),
        ("a,b,winner,lp\nA,B,a,x-y\nA,B,b,y-z\n", "several language pairs"),
        ("a,b,winner,criterion\nA,B,a,style\nA,B,b,facts\n", "several criteria .*name one"),
        ('a,b,winner\nA<,B,a\n', "line 2: .* contains '<'"),
    ],
)  # fmt: skip
def test_bad_comparisons_are_refused_with_their_place(text, message):
    with pytest.raises(InputError, match=message):
        asked(text)


def games_of_fastchat():
    """As FastChat's play_a_match_pair (fastchat/llm_judge/common.py) writes them."""
    winners = [("model_1", "model_1"), ("model_1", "model_2"), ("tie", "model_2"),
               ("error", "model_2"), ("tie", "tie")]  # fmt: skip
    about = {"model_1": "vicuna 13b", "model_2": "gpt-4", "g1_user_prompt": "?", "g1_judgment": "!"}
    return [
        {"question_id": 81 + i // 2, **about, "g1_winner": first, "g2_winner": second,
         "judge": ["gpt-4", ("pair-v2", "pair-v2-multi-turn")[i % 2]], "turn": 1 + i % 2}
        for i, (first, second) in enumerate(winners)
    ]  # fmt: skip


def games_of_arena_hard(baseline=True):
    """As gen_judgment.py of arena-hard-auto writes them; the baseline is A in the first game."""
    scores = [("A>>B", "B>A"), ("B>A", "A>>B"), ("A=B", "B=A"), (None, "A>B"), ("A<<B", "B<A")]
    return [
        {"uid" if baseline else "question_id": f"u{i}", "judge": "gpt-4.1", "model": "m1",
         **({"baseline": "o3"} if baseline else {}),
         "games": [{"score": score, "judgment": "[[...]]"} for score in pair]}
        for i, pair in enumerate(scores)
    ] + [{"uid" if baseline else "question_id": "u5", "judge": "gpt-4.1", "model": "m1",
          "games": [{"score": "A>B"}, None]}]  # fmt: skip


def wins_of(question):
    judged = question.judgements
    sides = [tuple(judged.system.names[s] for s in both) for both in judged.system.codes]
    share = zip(judged.share.tolist(), judged.weight.tolist(), strict=True)
    return [(*both, *own) for both, own in zip(sides, share, strict=True)]


def rows_as(form, rows):
    if form == "request":
        return parse({"judgements": rows})
    lines = [*map(json.dumps, rows)]
    return asked("\n".join(lines) if form == "lines" else f"[{','.join(lines)}]")


@pytest.mark.parametrize("form", ["lines", "array", "request"])
def test_pairs_of_games_are_two_comparisons_that_change_sides(form):
    question = rows_as(form, games_of_fastchat())
    v, g = "vicuna 13b", "gpt-4"
    assert wins_of(question) == [
        (v, g, 1, 1), (g, v, 0, 1), (v, g, 1, 1), (g, v, 1, 1), (v, g, 0.5, 1), (g, v, 1, 1),
        (v, g, 0.5, 1), (g, v, 0.5, 1),
    ]  # fmt: skip
    judged, (source,) = question.judgements, question.sources
    assert judged.segment.names == ("81", "82", "83")
    assert judged.annotator.names == ("gpt-4",)
    assert (source.input, source.rows, source.dropped) == ("games", 5, {"no winner": 1})
    assert question.choices.unit == "item"
    assert compute(question).preferences.position is not None
    assert next(note for note in question.notes if note.code == "model-judge")


@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize("form", ["lines", "request"])
def test_games_of_arena_hard_have_verdicts_of_which_the_strong_count_three_times(form, baseline):
    question = rows_as(form, games_of_arena_hard(baseline))
    o, m = "o3" if baseline else "baseline", "m1"
    assert wins_of(question) == [
        (o, m, 1, 3), (m, o, 0, 1), (o, m, 0, 1), (m, o, 1, 3), (o, m, 0.5, 1), (m, o, 0.5, 1),
        (o, m, 0, 3), (m, o, 1, 1),
    ]  # fmt: skip
    assert question.sources[0].dropped == {"no winner": 2}
    assert compute(question).sources[0].used == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"games": [{"score": "A>C"}, {"score": "A>B"}]}, "'A>C' is neither system"),
        ({"model": None}, "null is no name of a system"),
        ({"model": "o3"}, "holds no comparison"),
        ({"games": []}, "holds no comparison"),
        ({"games": "none"}, "holds no comparison"),
    ],
)
def test_games_that_say_nothing_are_refused_or_left_out(changed, message):
    with pytest.raises(InputError, match=message):
        rows_as("lines", [{**games_of_arena_hard()[0], **changed}])


@pytest.mark.parametrize(
    ("rows", "changed", "where"),
    [
        (games_of_arena_hard, {"games": [{"score": "A>B"}, {"score": "A>C"}]}, "games[1].score"),
        (games_of_arena_hard, {"model": 7}, "model"),
        (games_of_arena_hard, {"baseline": 7}, "baseline"),
        (games_of_fastchat, {"g2_winner": "model_3"}, "g2_winner"),
        (games_of_fastchat, {"model_1": None}, "model_1"),
    ],
)
def test_games_are_refused_by_the_names_that_their_sender_wrote(rows, changed, where):
    with pytest.raises(InputError) as refused:
        parse({"judgements": [rows()[0], {**rows()[0], **changed}]})
    assert refused.value.field == f"judgements[1].{where}"
    assert str(refused.value).startswith(f"judgements[1].{where}: ")


@pytest.mark.parametrize("form", ["csv", "lines", "array"])
def test_battles_of_arenas_are_read_from_every_form(form):
    winners = ["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]
    rows = [{"question_id": i, "model_a": "gpt-4", "model_b": "llama 2", "winner": winner,
             "judge": "arena_user_1", "turn": 1, "language": ("German", "English")[i % 2]}
            for i, winner in enumerate(winners)]  # fmt: skip
    if form == "csv":
        text = "\n".join([",".join(rows[0]), *(",".join(map(str, r.values())) for r in rows)])
        question = asked(text)
    else:
        question = rows_as(form, rows)
    assert question.judgements.share.tolist() == [1, 0, 0.5, 0.5, 0.5]
    assert question.systems == ("gpt-4", "llama 2")


def test_ids_that_are_not_there_name_no_item_and_no_judge():
    rows = [{"model_a": "x", "model_b": "y", "winner": "ab"[i % 2], "judge": judge,
             "question_id": item}
            for i, (item, judge) in enumerate([(math.nan, "w"), (None, "NA"), ("q", "nan"),
                                               ("q", "w"), (math.nan, "")])]  # fmt: skip
    judged = rows_as("lines", rows).judgements
    assert judged.segment.names == ("q",)
    assert judged.annotator.codes.tolist() == [0, -1, -1, 0, -1]


def test_small_weights_are_summed_and_not_rounded():
    wins = "abaabaab"
    text = "a,b,winner,weight\n" + "".join(f"A,B,{side},0.05\n" for side in wins)
    report = evaluated(text)
    (pair,) = report.pairs
    assert (pair.n_a, pair.u) == (0.4, pytest.approx(0.25))
    table = next(own for own in KIND.document(report).tables() if own.name == "pairs")
    shown = {column.heading: column.cells[0] for column in table.columns}
    assert (shown["won"].value, shown["lost"].value) == pytest.approx((0.25, 0.15))
    whole = evaluated("a,b,winner\nA,B,a\nA,B,b\nA,B,tie\n").pairs[0]
    assert json.dumps([whole.n_a, whole.n_b]) == "[2, 2]"


def test_what_has_no_strength_is_drawn_without_a_number():
    text = "a,b,winner,item\n" + "".join(f"A,B,{'ab'[i % 2]},{i}\nC,A,a,{i}\n" for i in range(9))
    report = evaluated(text)
    drawn = PICTURES["strengths"].draw(report, {})
    low, _ = report.systems[0].strength.ci
    assert f"C [{low:.2f}, inf]" in drawn
    assert "A 0.11 [" in drawn  # half of log(5 / 4)


def test_methods_say_how_bounds_come_about():
    text = "a,b,winner,item\n" + "".join(f"A,B,{'ab'[i % 2]},{i}\nC,A,a,{i}\n" for i in range(9))
    bounded = "Of systems whose strengths are not determined, p-values and bounds follow"
    assert bounded in evaluated(text).methods.text
    assert bounded not in evaluated(text, undetermined="leave_out").methods.text


def test_chosen_and_rejected_models_are_winner_and_loser():
    text = "prompt,chosen_model,rejected_model\np,A,B\nq,B,A\nr,A,B\n"
    assert wins_of(asked(text)) == [("A", "B", 1, 1), ("B", "A", 1, 1), ("A", "B", 1, 1)]


def test_rows_of_a_request_are_checked_with_their_place():
    row = {"a": "A", "b": "B", "winner": "a"}
    assert len(parse({"judgements": [row, {**row, "winner": "b"}]}).judgements) == 2
    with pytest.raises(InputError, match=r"judgements\[1\].winner: 'no' is neither"):
        parse({"judgements": [row, {**row, "winner": "no"}]})
    with pytest.raises(RecipeError, match="Did you mean 'winner'"):
        parse({"judgements": [{**row, "winer": "a"}]})


BATTLE = {"question_id": 81, "model_a": "x", "model_b": "y", "winner": "tie (bothbad)",
          "judge": "arena_user_1", "tstamp": 1682351591.1, "language": "German"}  # fmt: skip
ANNOTATION = {"instruction": "Why?", "generator_1": "x", "generator_2": "y", "preference": 1.25}


@pytest.mark.parametrize(("row", "share"), [(BATTLE, 0.5), (ANNOTATION, 0.75)])
def test_published_rows_are_read_in_requests_as_in_files(row, share):
    (sent, _), (read, _) = (
        found.judgements.share
        for found in (parse({"judgements": [row, row]}), asked(json.dumps([row, row])))
    )
    assert sent == read == share
    with pytest.raises(InputError, match=r"judgements\[0\].(winner|preference): 'no' is neither"):
        parse({"judgements": [{**row, ("winner" if "winner" in row else "preference"): "no"}]})


def test_the_schema_knows_every_published_row():
    schema = Draft202012Validator(JUDGEMENTS)
    published = [BATTLE, ANNOTATION, games_of_fastchat()[0], games_of_arena_hard()[0],
                 {"winner": "x", "loser": "y"}, {"chosen_model": "x", "rejected_model": "y"},
                 {"a": "x", "b": "y", "winner": "a"}]  # fmt: skip
    for row in published:
        assert len(parse({"judgements": [row]}).judgements)
        schema.validate([row])
    for row in ({"a": "x", "b": "y", "winer": "a"}, {"model_a": "x"}, {"system": "x"}):
        with pytest.raises(SigtestError):
            parse({"judgements": [row]})
        assert not schema.is_valid([row])


@pytest.mark.parametrize(
    ("marks", "share"),
    [("1,0,0", 1), ("0,1,0", 0), ("0,0,1", 0.5), ("True,False,False", 1), ("0.6,0.3,0.1", 0.65)],
)
def test_winners_that_are_marked_are_read(marks, share):
    head = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie"
    text = "\n".join([head, f"1,x,y,{marks}", "2,x,y,0,0,0", "3,x,y,,,", "4,y,x,1,0,0"])
    question = asked(text)
    assert question.judgements.share == pytest.approx([share, 1])
    assert question.sources[0].dropped == {"no winner": 2}
    with pytest.raises(InputError, match="line 2: '7' is neither 0 nor 1"):
        asked(f"{head}\n1,x,y,7,0,0\n")


def test_equal_outputs_are_marked_beside_the_name_of_the_better_one():
    head = "model_a_name,model_b_name,chosen_model_name,both_equal"
    judged = asked(f"{head}\nx,y,x,False\ny,x,,True\ny,x,x,False").judgements
    assert judged.share.tolist() == [1, 0.5, 0]


def two_leagues():
    """Two sets of three systems that never meet, and the first of them on its own."""
    sums, unit = drawn(systems=3, n=300, seed=4)
    other, _ = drawn(systems=3, n=240, seed=5)
    one = text_of(sums, item=unit).decode()
    two = text_of(other, item=unit[:240]).decode().replace("s", "t").splitlines()[1:]
    return one, "\n".join([one, *two])


def test_a_second_league_is_compared_within_itself():
    one, both = two_leagues()
    alone, together = (evaluated(text, errors="sandwich", ties="half") for text in (one, both))
    of = {(pair.a, pair.b): pair for pair in together.pairs}
    for pair in alone.pairs:
        assert of[pair.a, pair.b].difference == pytest.approx(pair.difference, abs=1e-9)
        assert of[pair.a, pair.b].p_greater == pytest.approx(pair.p_greater, rel=1e-6)
    assert {*together.preferences.undetermined} == {"t0", "t1", "t2"}
    for (a, b), pair in of.items():
        if a[0] != b[0]:
            assert (pair.difference, pair.p_greater, pair.p_less) == (None, 1, 1)
    inside = [pair.difference for (a, b), pair in of.items() if a[0] == b[0] == "t"]
    assert None not in inside
    assert inside[0] + inside[2] == pytest.approx(inside[1], abs=1e-9)
    assert together.preferences.fit.df == 2


def test_what_is_left_out_is_counted():
    report = evaluated(two_leagues()[1], undetermined="leave_out", resamples=9)
    (source,) = report.sources
    assert (source.rows, source.used) == (540, 300)
    assert source.dropped == {"of undetermined systems": 240}
    assert "compared 3 systems by preference in 300 judgements" in report.methods.text


def test_nearly_certain_wins_have_their_strengths():
    """A billion wins to one are ln 1e9 apart; a chain of a hundred, as far as it is long."""
    text = "a,b,winner,weight\nx,y,x,1e9\nx,y,y,1\ny,z,y,1e9\ny,z,z,1\n"
    own = {system.name: system.strength.value for system in evaluated(text).systems}
    assert [own[name] for name in "xyz"] == pytest.approx(
        [math.log(1e9), 0, -math.log(1e9)], abs=1e-6
    )
    rows = [f"s{i},s{i + 1},{'b' if k == 0 else 'a'}" for i in range(100) for k in range(9)]
    chain = evaluated("\n".join(["a,b,winner", *rows]), errors="sandwich")
    own = [system.strength.value for system in chain.systems]
    assert own[0] - own[-1] == pytest.approx(100 * math.log(8), rel=1e-9)
    with pytest.raises(InputError, match="too nearly certain"):
        evaluated("a,b,preference\nx,y,0.9999999999999999\nx,y,0.9999999999999999\n")


def test_lists_of_winners_and_losers_say_nothing_of_positions():
    report = evaluated("winner,loser\n" + "x,y\ny,x\nx,z\nz,y\n" * 9)
    assert report.preferences.comparisons == 36
    assert report.preferences.position is None
    sides = [(pair.a, pair.b, pair.u) for pair in report.pairs]  # as systems, from the best
    assert sides == [("x", "z", 9), ("x", "y", 9), ("z", "y", 9)]


def test_rows_that_are_no_comparison_are_counted():
    text = "a,b,winner,criterion,lp\nA,B,a,x,p\nA,A,a,x,p\nB,A,,x,p\nA,B,b,y,p\nA,B,b,x,q\n"
    source = asked(text, languages="p", criteria=["x"]).sources[0]
    assert source.dropped == {"one system twice": 1, "no winner": 1, "other language pair": 1,
                              "other criterion": 1}  # fmt: skip


def test_overlapping_files_count_once_where_rows_say_who_judged_what():
    known = "a,b,winner,item,judge\nA,B,a,1,w\nB,A,a,2,w\n"
    files = [("one", known.encode()), ("two", (known + "A,B,b,3,w\n").encode())]
    assert len(parse({}, files).judgements) == 3
    bare = "a,b,winner\nA,B,a\nB,A,a\n"
    files = [("one", bare.encode()), ("two", (bare + "A,B,b\n").encode())]
    assert len(parse({}, files).judgements) == 5


def test_units_are_clusters_items_or_judgements_by_default():
    sums, unit = drawn()
    assert evaluated(text_of(sums), resamples=9).preferences.unit == "judgement"
    assert evaluated(text_of(sums, item=unit), resamples=9).preferences.unit == "item"
    own = evaluated(text_of(sums, item=unit, judge=unit % 7), unit="judge", resamples=9).preferences
    assert (own.unit, own.units) == ("judge", 7)
    with pytest.raises(RecipeError, match="unit=judge needs comparisons that say of which"):
        asked(text_of(sums), unit="judge")
    with pytest.raises(RecipeError, match="unit=judge needs several of them; there is one"):
        asked(text_of(sums, judge=0 * unit), unit="judge")
    with pytest.raises(RecipeError, match="unit needs comparisons of two systems"):
        parse({"unit": "item"}, [("x", b"system,segment,score\nA,1,5\nB,1,7\n")])


def test_the_wrong_unit_is_warned_of():
    sums, unit = drawn(n=1500, units=30, between=0.8)
    wrong = evaluated(text_of(sums, judge=unit), errors="sandwich")
    (other,) = wrong.preferences.other_units
    assert wrong.preferences.unit == "judgement"
    assert (other.unit, other.units) == ("judge", 30)
    assert other.design > 1.5
    assert any("unit=judge" in warning for warning in sentences(wrong))
    right = evaluated(text_of(sums, judge=unit), unit="judge", errors="sandwich")
    assert not any("(unit=judge)" in warning for warning in sentences(right))
    widths = [np.mean([p.ci[1] - p.ci[0] for p in r.pairs]) for r in (wrong, right)]
    assert (widths[1] / widths[0]) ** 2 == pytest.approx(other.design, rel=0.2)


def test_standing_first_is_measured():
    sums, _ = drawn(n=4000, ties=0.5)
    rng = np.random.default_rng(1)
    flip = (sums.share != 1) & (rng.random(4000) < 0.15)
    pushed = replace(sums, share=np.where(flip, 1.0, sums.share))
    plain = evaluated(text_of(sums), errors="sandwich").preferences.position
    found = evaluated(text_of(pushed), errors="sandwich")
    assert plain.p_value > 0.05 > found.preferences.position.p_value
    assert any("stands first is preferred more often" in w for w in sentences(found))
    at = fit(pushed.won, float(pushed.ties.sum()), davidson=True)

    def loss(x):
        d = x[pushed.system.codes[:, 0]] - x[pushed.system.codes[:, 1]] + x[7]
        total = np.exp(d / 2) + np.exp(-d / 2) + np.exp(x[6])
        logs = (pushed.share - 0.5) * d + pushed.ties * x[6] - np.log(total)
        return -logs.sum() + x[:6].sum() ** 2

    best = optimize.minimize(loss, np.array([*at.theta, at.log_nu, 0.0]), method="BFGS").x[7]
    assert found.preferences.position.effect == pytest.approx(best, rel=0.03)  # of one step


def test_a_baseline_that_always_stands_first_has_no_position():
    rows = [f"base,m{i % 3},{'ab'[i % 2]}" for i in range(60)]
    assert evaluated("\n".join(["a,b,winner", *rows])).preferences.position is None


def test_a_circle_is_explained_by_no_order():
    rows = ["A,B,A", "B,C,B", "C,A,C"] * 30 + ["A,B,B", "B,C,C", "C,A,A"] * 10
    report = evaluated("\n".join(["a,b,winner", *rows]))
    own = report.preferences.fit
    assert own.df == 1
    # strengths are equal; 30 of 40 are won where 20 are expected, with variance 10
    assert own.chi_square * own.dispersion == pytest.approx(3 * 10**2 / 10, rel=1e-6)
    assert own.p_value == pytest.approx(stats.chi2.sf(own.chi_square, 1), rel=1e-9)
    assert any("does not explain all pairs" in warning for warning in sentences(report))


def test_fit_is_not_doubted_where_one_order_holds():
    p = [evaluated(text_of(drawn(seed=seed)[0]), errors="sandwich").preferences.fit.p_value
         for seed in range(60)]  # fmt: skip
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_models_that_judge_are_warned_of():
    text = "a,b,winner,judge\nA,B,a,{0}\nB,A,a,{0}\n"
    for name in ("gpt-4", "A"):
        (note,) = asked(text.format(name)).notes
        assert note.code == "model-judge"
        assert f"A model is the judge ({name})" in note.message
    assert not asked(text.format("w1")).notes


def test_agreement_is_of_judges_of_one_item_and_pair():
    text = ("a,b,winner,item,judge\nA,B,a,1,v\nB,A,b,1,w\nA,B,b,2,v\nA,B,a,2,w\nA,B,tie,3,v\n"
            "A,B,tie,3,v\n")  # fmt: skip
    same, distinct = evaluated(text).agreement
    assert (same.pairs, same.agreed, distinct.pairs, distinct.agreed) == (1, 1, 2, 1)


def test_rankings_are_comparisons_clustered_by_ranking(data):
    path = data / "wmt12.es-en" / "human" / "wmt12.RNK_results.es-en.csv"
    question = parse({"errors": "sandwich"}, [(path.name, path.read_bytes())])
    own = compute(question).preferences
    lone = sum(question.sources[0].dropped.values())
    assert (own.unit, own.units) == ("cluster", question.sources[0].rows - lone)
    assert own.comparisons > 5 * own.units
    fitted = Fitted.of(question.judgements, question.choices)
    assert fitted.at.theta.sum() == pytest.approx(0)


def test_size_is_kept_where_all_are_equal():
    rejected = []
    for seed in range(150):
        sums, unit = drawn(n=500, units=40, spread=0, between=0.5, seed=seed)
        at = fit(sums.won, float(sums.ties.sum()), davidson=True)
        whole = at.inverse @ scatter(at, sums, unit)[:-1, :-1] @ at.inverse
        p = wald(at, whole[:-1, :-1], 40)
        rejected += [2 * min(p[i, j], p[j, i]) <= 0.05 for i, j in combinations(range(6), 2)]
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(("correction", "claims"), [("none", 1), ("holm", 2)])
def test_a_win_rate_is_shown_with_the_power_that_was_planned(correction, claims):
    """Of two systems, with as many comparisons as the plan says: simulated."""
    sums, _ = drawn(systems=2, n=2000, spread=0.2, ties=1.0)
    own = evaluated(text_of(sums), win_rate=0.6, correction=correction).preferences
    rng, tied = np.random.default_rng(1), own.tied
    won = rng.multinomial(own.needed, [0.6 - tied / 2, tied, 0.4 - tied / 2], size=20_000)
    mean = (won[:, 0] + won[:, 1] / 2) / own.needed
    spread = np.sqrt(((won[:, 0] + won[:, 1] / 4) / own.needed - mean**2) / own.needed)
    shown = (mean - 0.5) / spread > stats.norm.ppf(1 - 0.05 / claims)
    assert shown.mean() == pytest.approx(0.8, abs=0.015)


def test_a_plan_counts_what_units_add():
    sums, unit = drawn(n=2000, units=30, between=0.8)
    alone = evaluated(text_of(sums), win_rate=0.55, errors="sandwich").preferences
    by_judge = evaluated(text_of(sums, judge=unit), win_rate=0.55, unit="judge",
                         errors="sandwich").preferences  # fmt: skip
    assert by_judge.needed > 1.5 * alone.needed
    with pytest.raises(RecipeError, match="win_rate must lie between"):
        asked(text_of(sums), win_rate=0.4)


@pytest.mark.parametrize("scale", [1e-3, 1e9])
def test_strengths_do_not_depend_on_the_scale_of_weights(scale):
    sums, _ = drawn()
    one = fit(sums.won, float(sums.ties.sum()), davidson=True)
    other = fit(sums.won * scale, float(sums.ties.sum()) * scale, davidson=True)
    assert other.theta == pytest.approx(one.theta, abs=1e-9)
    assert other.inverse * scale == pytest.approx(one.inverse, rel=1e-6, abs=1e-9)


def packed_as(kind: str, *rows: object) -> dict[str, object]:
    array = np.array(rows[0] if len(rows) == 1 else rows, dtype=kind)
    data = base64.b64encode(array.tobytes()).decode()
    return {"type": kind, "shape": list(array.shape), "base64": data}


def test_stored_rankings_are_asked_again_as_comparisons():
    # as 0.2.0 stored them, before comparisons were read
    stored = {
        "judgements": {"Rankings": {
            "annotator": {"names": ["w1", "w2"], "codes": packed_as("<i8", [0, 1, 0])},
            "segment": {"names": ["1", "2", "3"], "codes": packed_as("<i8", [0, 1, 2])},
            "languages": {"names": ["deu-eng"], "codes": packed_as("<i8", [0, 0, 0])},
            "names": ["A", "B", "C"],
            "system": packed_as("<i8", [0, 1, 2], [1, 2, 0], [2, 0, 1]),
            "rank": packed_as("<i8", [1, 2, 2], [2, 1, 3], [2, 1, -1]),
            "source": packed_as("<i8", [0, 0, 0]),
        }},
        "sources": [{"input": "rnk", "rows": 3, "dropped": {}, "sha256": "c2"}],
        "choices": {"languages": "deu-eng", "standardise": "none", "criteria": ["ranking"],
                    "test": "sign"},
    }  # fmt: skip
    header = "srclang,trglang,srcIndex,judgeID,system1Id,system2Id,system3Id,system1rank,"
    text = f"{header}system2rank,system3rank\ndeu,eng,1,w1,A,B,C,1,2,2\n"
    text += "deu,eng,2,w2,B,C,A,2,1,3\ndeu,eng,3,w1,C,A,B,2,1,-1\n"
    again = compute(decode(HumanQuestion, stored))
    anew = evaluated(text, correction="none", unit="cluster")
    assert again.systems == anew.systems
    assert [replace(pair, criterion="") for pair in again.pairs] == [
        replace(pair, criterion="") for pair in anew.pairs
    ]
    assert str(again)
    stored["judgements"]["Rankings"]["rank"] = packed_as("<i8", *[[1, -1, -1]] * 3)
    with pytest.raises(InputError, match="no two outputs"):
        decode(HumanQuestion, stored)


CHAIN = "a,b,winner\nz,w,z\ny,z,y\nx,y,x\n"


def test_leaving_out_all_is_refused():
    with pytest.raises(RecipeError, match="would leave no two systems"):
        asked(CHAIN, undetermined="leave_out")


@pytest.mark.parametrize("text", [CHAIN, "a,b,winner\ny,x,x\ny,x,x\n"])
def test_who_beat_others_stands_above_them_and_has_no_strength(text):
    report = evaluated(text)
    assert [system.name for system in report.systems] == sorted(
        question_names := asked(text).systems, key="xyzw".index
    )
    assert {*report.preferences.undetermined} == {*question_names}
    for system in report.systems:
        own = system.strength
        assert (own.value, own.stderr, own.probability) == (None, None, None)
        assert own.ci == (-math.inf, math.inf)
    (table,) = (
        part
        for part in KIND.present(report).document().blocks
        if getattr(part, "name", "") == "systems"
    )
    assert [name.text for name in table.names[0].cells] == [s.name for s in report.systems]


@pytest.mark.parametrize("text", ["", ",item"])
def test_what_never_varies_has_no_interval(text):
    rows = ["x,y,x,1", "x,y,y,1"] if text else ["x,y,tie", "y,x,tie"]
    more = ["x,u,x,2", "v,u,v,2"] if text else []
    report = evaluated("\n".join([f"a,b,winner{text}", *rows, *more]), win_rate=0.6)
    pair = next(pair for pair in report.pairs if {pair.a, pair.b} == {"x", "y"})
    assert (pair.difference, pair.ci, pair.p_greater, pair.p_less) == (0, None, 0.5, 0.5)
    for system in (one for one in report.systems if one.name in "xy"):
        assert system.strength.ci == (-math.inf, math.inf)
        assert system.strength.stderr is None
    assert report.preferences.needed is report.preferences.position is report.preferences.fit
    assert any("Nothing varies" in warning for warning in sentences(report))


def test_what_stands_first_says_of_which_systems():
    report = evaluated("a,b,winner\nx,y,x\nw,z,z\nz,w,w\n")
    assert "0.0 % of the comparisons of systems whose strengths are" in " ".join(
        str(report).split()
    )


def test_many_systems_have_sandwiches_unless_resamples_are_asked_for():
    ring = [(i, (i + 1) % 101) for i in range(101)]
    text = "\n".join(["a,b,winner", *(f"s{i},s{j},a" for i, j in ring)])
    assert asked(text).choices.errors == "sandwich"
    assert asked(text, errors="bootstrap").choices.errors == "bootstrap"
    assert asked(text.replace("s100", "s99")).choices.errors == "bootstrap"


def test_units_that_only_left_out_systems_have_are_judgements():
    text = "a,b,winner,item\nx,y,x,\ny,x,y,\nq,x,q,1\nq,y,q,1\n"
    report = evaluated(text, undetermined="leave_out")
    assert [system.name for system in report.systems] == ["x", "y"]
    assert (report.preferences.comparisons, report.preferences.units) == (2, 2)
