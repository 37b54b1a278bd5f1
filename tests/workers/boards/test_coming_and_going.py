"""Leaderboards from systems that come and go, against the comparison of all of them at once."""

import json
import random
import signal
import threading
from dataclasses import replace

import pytest
from board import DOCUMENTS, RECIPE, REFERENCE, SYSTEMS, Board, Choice, board_on, garbled, lines
from service import CALLER, kill, send, started, until

from sigtest.comparison.comparison import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.data.testset import System, TestSet
from sigtest.engine import compare
from sigtest.errors import LengthError, LimitError, RecipeError
from sigtest.render.records import render_json
from sigtest.requests.recipe import Recipe
from workers.errors import GoneError, NotFoundError, TakenError
from workers.questions import Questions
from workers.queue import Context
from workers.settings import Settings
from workers.store.boards import Standing
from workers.store.server import connect
from workers.testsets import NewTestSet, TestSets


@pytest.fixture
def board(working: Context, request: pytest.FixtureRequest) -> Board:
    """With all systems of the example."""
    board = board_on(working, request.node.name[:50])
    for name, output in SYSTEMS.items():
        board.put(name, output)
    return board


def test_systems_that_come_and_go_leave_the_comparison_of_those_there(board):
    board.is_right()
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    board.remove("elm")
    board.put("Zelkova", garbled(SYSTEMS["elm"]))
    board.is_right()
    board.is_right(Choice(alpha=0.01))


@pytest.mark.parametrize(
    ("choice", "recipe"),
    [
        (Choice(0.2, "benjamini_hochberg"), {}),
        (Choice(None, "none"), {"tests": ["paired_bootstrap", "bootstrap"]}),
        (Choice(0.01, "bonferroni"), {"tests": ["bootstrap"], "alternative": "greater"}),
        (Choice(), {"tests": ["approximate_randomization"], "correction": "tukey"}),
        (Choice(), {"unit": "document", "metrics": ["ter", "bleu"], "seed": 3}),
        (Choice(), {"exact": "never", "metrics": ["ter"]}),
        (Choice(), {"metrics": ["nist", {"name": "chrf", "word_order": 2}], "alternative": "less"}),
        (Choice(), {"tests": ["bootstrap"], "correction": "max_t"}),
    ],
)
def test_what_is_shown_is_what_a_comparison_of_it_gives(working, choice, recipe):
    board = board_on(working, "shown", **recipe)
    for name in ("aspen", "birch", "cedar"):
        board.put(name, SYSTEMS[name])
    board.put("almost", (*SYSTEMS["aspen"][:130], *SYSTEMS["birch"][130:]))  # exact by counting
    board.is_right(choice)


def test_one_system_or_none_has_no_pairs(working):
    board = board_on(working, "alone")
    assert board.look().systems == ()
    empty = board.testsets.empty(board.record).as_json()
    assert (empty["systems"], empty["pairs"]) == ([], [])
    none = json.loads(board.report())
    assert none == json.loads(json.dumps(empty))
    board.put("aspen", SYSTEMS["aspen"])
    one = json.loads(board.report())
    assert [system["name"] for system in one["systems"]] == ["aspen"]
    assert one["pairs"] == []
    scores = one["systems"][0]["scores"]
    board.put("birch", SYSTEMS["birch"])
    assert json.loads(board.report())["systems"][0]["scores"] == scores


def test_what_is_shown_is_found_like_any_other_comparison(board):
    shown = board.shown()
    assert shown.comparison is not None
    record = Questions(board.context).find(shown.comparison, CALLER, "comparisons")
    assert record.testset == board.id
    assert record.about.systems == shown.systems == tuple(SYSTEMS)
    assert record.about.metrics == tuple(RECIPE["metrics"])
    listed, _ = Questions(board.context).listing(CALLER, None, 1000, listed="comparisons")
    assert record.id not in {other.id for other in listed}
    with pytest.raises(NotFoundError):
        Questions(board.context).report(record.id, "somebody else")
    board.remove("elm")
    later = board.shown()
    assert later.comparison != shown.comparison
    assert Questions(board.context).find(shown.comparison, CALLER) == record  # a permanent link
    board.put("elm", SYSTEMS["elm"])
    assert board.shown().comparison == shown.comparison


def test_a_report_that_two_workers_write_is_as_old_as_the_first(board):
    shown = board.shown().comparison
    assert shown is not None
    questions = Questions(board.context)
    record, report = questions.find(shown, CALLER), questions.report(shown, CALLER)
    plan = Plan.of(board.context.questions.read(shown)[1])
    board.context.testsets.show(board.state, shown, plan, report, record.pictures)
    assert questions.find(shown, CALLER) == record


def test_scores_computed_elsewhere(working):
    recipe = Recipe.of({"metrics": ["scores"], "resamples": 300})
    asked = NewTestSet.of("scores", TestSet.of([], segments=100), recipe)
    testsets = TestSets(working)
    board = Board(working, testsets.make(asked, CALLER)[0].id, {}, {})
    rng = random.Random(0)
    first = [rng.gauss(0, 1) for _ in range(100)]
    rows = {
        "a": first,
        "b": [*[x + rng.gauss(0.2, 1) for x in first[:12]], *first[12:]],  # exact by counting
        "c": [round(10 * x) for x in first],
        "d": [round(10 * x) + rng.choice([-1, 0, 2]) for x in first],  # exact by convolution
        "e": [x + rng.gauss(0.1, 1) for x in first],
    }
    for name, scores in rows.items():
        system = System.of(name, scores={"scores": scores})
        testsets.put(board.id, CALLER, system, False, lambda _: (9, "x"))
    systems = [{"name": name, "scores": {"scores": scores}} for name, scores in rows.items()]
    choices = {"metrics": ["scores"], "resamples": 300, "family": 64}
    whole = parse_comparison({"systems": systems, **choices})
    assert board.report().decode() == render_json(compare(whole))


def test_equal_outputs_under_two_names(board):
    board.put("twin", SYSTEMS["cedar"])
    board.is_right()
    board.remove("cedar")
    board.is_right()


def test_systems_that_join_at_the_same_time_find_each_other(working):
    board = board_on(working, "crowd")
    many = {f"{name}-{i}": garbled(SYSTEMS[name], i) for name in SYSTEMS for i in range(3)}
    threads = [threading.Thread(target=board.put, args=entry) for entry in many.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    board.is_right()


def test_a_late_or_doubled_task_changes_nothing(board):
    before = board.shown()
    rows = board.context.questions.redis.hgetall(f"sigtest:testset-rows:{board.id}")
    again = replace(board.state, rows={}).joins
    assert len(again) == len(set(SYSTEMS.values()))
    board.context.feed.add(CALLER, again)
    until(lambda: board.id not in board.context.feed.waiting())
    until(lambda: not any(key.startswith(board.id) for key in board.context.feed.jobs.alive()))
    assert board.shown() == before
    assert board.context.questions.redis.hgetall(f"sigtest:testset-rows:{board.id}") == rows


def test_more_resamples_keep_the_first_draws(board):
    board.settled()
    record = board.testsets.raise_resamples(board.id, CALLER, 900)
    assert record.settings["resamples"] == 900
    replace(board, recipe={**board.recipe, "resamples": 900}).is_right()
    with pytest.raises(RecipeError, match="900 resamples already"):
        board.testsets.raise_resamples(board.id, CALLER, 899)


def test_evicted_totals_are_made_again(board):
    board.settled()
    redis = board.context.questions.redis
    redis.delete(*redis.keys(f"sigtest:totals:{board.id}:*"))
    redis.delete(*redis.keys(f"sigtest:cache:{board.id}:*"))
    board.put("late", garbled(SYSTEMS["aspen"]))
    board.is_right()
    kept = redis.keys(f"sigtest:totals:{board.id}:*")
    assert len(kept) == len(set(board.systems.values()))
    redis.delete(*kept)
    board.is_right(Choice(alpha=0.3))


def test_a_bound_on_totals_is_kept(tmp_path):
    settings = Settings(state=tmp_path, workers=2, totals=120_000)
    with started(settings) as service:
        board = board_on(service.jobs.questions.context, "small")
        for name, output in SYSTEMS.items():
            board.put(name, output)
        board.is_right()
        redis = connect(service.settings)
        kept = [redis.hvals(key) for key in redis.keys("sigtest:totals:*")]
        assert len(kept) == 2
        assert sum(len(part) for parts in kept for part in parts) <= 120_000
        redis.close()


@pytest.mark.slow
def test_killed_workers_lose_nothing(working, service):
    board = board_on(working, "killed", resamples=100_000, metrics=["bleu"])
    for name, output in SYSTEMS.items():
        board.put(name, output)
    kill(*service.caught())
    board.settled()
    for seed in range(3):
        board.put(f"late {seed}", garbled(SYSTEMS["aspen"], seed))
    hurt = service.caught()
    kill(*hurt)
    send(signal.SIGCONT, *hurt)
    board.settled()
    board.is_right()


def test_a_name_is_taken_until_it_is_replaced(board):
    before = board.shown()
    assert board.put("aspen", SYSTEMS["aspen"]) == "known"
    with pytest.raises(TakenError, match="'aspen'"):
        board.put("aspen", SYSTEMS["birch"])
    after = board.shown()
    assert (after.comparison, after.systems) == (before.comparison, before.systems)
    new = garbled(SYSTEMS["aspen"], 5)
    assert board.put("aspen", new, replaces=True) == "replaced"
    assert not board.look().fresh
    board.is_right()
    assert board.put("aspen", SYSTEMS["birch"], replaces=True) == "replaced"
    # what birch brings is measured
    assert board.testsets.system(board.id, CALLER, "aspen").standing is Standing.MEASURED
    board.is_right()


def test_what_does_not_fit_changes_nothing(board):
    before = board.shown()
    with pytest.raises(LengthError, match="137 lines"):
        board.put("short", SYSTEMS["aspen"][1:])
    system, room = System.of("six", REFERENCE), (5, "max_scores")
    with pytest.raises(LimitError, match="5 systems already, the most that max_scores"):
        board.testsets.put(board.id, CALLER, system, False, lambda _: room)
    with pytest.raises(NotFoundError):
        board.testsets.remove(board.id, CALLER, "nobody")
    assert board.shown() == before


def test_test_sets_of_others_and_deleted_ones(board):
    with pytest.raises(NotFoundError) as unknown:
        board.testsets.find(board.id, "somebody else")
    assert not isinstance(unknown.value, GoneError)
    board.testsets.delete(board.id, CALLER)
    with pytest.raises(GoneError):
        board.testsets.find(board.id, CALLER)
    with pytest.raises(GoneError):
        board.put("aspen", REFERENCE)


@pytest.mark.parametrize(
    ("documents", "recipe", "error"),
    [
        (DOCUMENTS[1:], {}, LengthError),
        (None, {"unit": "document"}, RecipeError),
        (DOCUMENTS, {"metrics": ["bleu"], "tests": ["wilcoxon"]}, RecipeError),
        (DOCUMENTS, {"pairs": {"baseline": "aspen"}}, RecipeError),
    ],
)
def test_settings_that_a_leaderboard_cannot_have(documents, recipe, error):
    with pytest.raises(error):
        NewTestSet.of("bad", TestSet.of([REFERENCE], documents), Recipe.of(recipe))


@pytest.mark.parametrize(("name", "verdict"), [("aspen", "again"), ("birch", "created")])
def test_what_cannot_be_measured_says_why(working, name, verdict):
    board = board_on(working, f"failing, then {name}")
    board.put("aspen", SYSTEMS["aspen"])
    board.settled()
    working.redis.hset(f"sigtest:testset:{board.id}", "resamples", 700)  # and nobody is asked
    working.testsets.fail(board.id, board.state.digests["aspen"], "No reason.")
    record = board.testsets.system(board.id, CALLER, "aspen")
    assert (record.standing, record.error) == (Standing.FAILED, "No reason.")
    shown = board.shown()
    assert (shown.systems, shown.testset.failed) == ((), {"aspen": "No reason."})
    assert board.put(name, SYSTEMS["aspen"]) == verdict
    board.settled()
    for own in board.state.digests:
        assert board.testsets.system(board.id, CALLER, own).standing is Standing.MEASURED


@pytest.mark.slow
def test_a_shared_task_one_by_one(working, data):
    """12 systems in random order, two replaced, one deleted: the bytes of one comparison."""
    folder = data / "wmt12.es-en"
    reference = lines(folder / "reference.en")
    outputs = {f.stem: lines(f) for f in sorted((folder / "systems").iterdir())}
    recipe = {"metrics": ["bleu", "chrf", "ter"], "tests": RECIPE["tests"], "resamples": 9999}
    asked = NewTestSet.of("wmt12", TestSet.of([reference]), Recipe.of(recipe))
    record, _ = TestSets(working).make(asked, CALLER)
    board = Board(working, record.id, recipe, {}, reference, None)
    names = random.Random(1).sample(sorted(outputs), len(outputs))
    for name in names:
        board.put(name, outputs[name])
        board.settled()
    board.put(names[0], garbled(outputs[names[0]]), replaces=True)
    board.put(names[5], outputs[names[6]], replaces=True)
    board.remove(names[3])
    board.is_right()
