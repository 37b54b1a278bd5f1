"""What is left when comparisons and test sets are deleted, or while nothing is: by hand."""

import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
from board import SYSTEMS, Board, board_on, garbled
from byhand import finish, perform, settle
from service import CALLER, Comparisons, until

from sigtest.version import __version__
from workers.errors import GoneError, OnBoardError, TakenError
from workers.questions import PairChoice, Questions
from workers.queue import Context
from workers.store import keys, totals
from workers.store.boards import Standing, row_name
from workers.store.questions import block_name
from workers.store.records import Task
from workers.tasks.boards import refresh
from workers.tasks.run import died
from workers.testsets import TestSets


@pytest.fixture
def board(jobs: Comparisons, context: Context) -> Board:
    """With three systems that are measured, on a server without workers."""
    board = board_on(context, "by hand")
    for name in ("aspen", "birch", "cedar"):
        board.put(name, SYSTEMS[name])
    settle(context, board)
    return board


def about(context: Context, name: str) -> set[str]:
    """Keys of one question or test set, but for caches."""
    found = {key.decode() for key in context.questions.redis.keys(f"sigtest:*{name}*")}
    return {key for key in found if not key.startswith("sigtest:cache:")}


def total_bytes(context: Context) -> int:
    redis = context.questions.redis
    held = [redis.hvals(name) for name in redis.keys("sigtest:totals:*")]
    return sum(len(part) for parts in held for part in parts)


def test_a_boards_report_outlives_the_equal_comparison_of_its_caller(board, jobs, context):
    shown = board.look().comparison
    assert shown is not None
    record, created = jobs.submit(board.comparison(), CALLER)
    assert created
    assert record.id != shown
    finish(context, record.id)
    assert jobs.report(record.id, CALLER) == jobs.report(shown, CALLER)
    assert jobs.remove(record.id, CALLER) is None
    assert jobs.report(shown, CALLER)
    board.is_right()


def test_a_comparison_outlives_the_board_that_shows_the_same(board, jobs, context):
    record, _ = jobs.submit(board.comparison(), CALLER)
    finish(context, record.id)
    report = jobs.report(record.id, CALLER)
    board.testsets.delete(board.id, CALLER)
    assert jobs.report(record.id, CALLER) == report


def test_two_boards_of_equal_content_have_reports_of_their_own(board, context):
    twin = board_on(context, "twin")
    for name in ("aspen", "birch", "cedar"):
        twin.put(name, SYSTEMS[name])
    settle(context, twin)
    assert twin.look().comparison != board.look().comparison
    assert twin.report() == board.report()
    twin.testsets.delete(twin.id, CALLER)
    board.is_right()


def test_a_boards_comparison_goes_with_its_test_set_only(board, context):
    questions, shown = Questions(context), board.look().comparison
    assert shown is not None
    with pytest.raises(OnBoardError, match=board.id):
        questions.remove(shown, CALLER)
    assert questions.report(shown, CALLER)
    board.testsets.delete(board.id, CALLER)
    for ask in (questions.find, questions.report, questions.remove):
        with pytest.raises(GoneError):
            ask(shown, CALLER)


def test_nothing_but_tombstones_is_left_of_a_deleted_test_set(board, context):
    reports = {board.look().comparison}
    for change in ("replace", "raise", "remove"):
        if change == "replace":
            board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
        elif change == "raise":
            board.testsets.raise_resamples(board.id, CALLER, 700)
        else:
            board.remove("aspen")
        settle(context, board)
        reports.add(board.look().comparison)
    assert len(reports) == 4
    again = replace(board.state, rows={}).joins
    tasks = [Task("refresh", board.id, ("late",)), *again]
    board.testsets.delete(board.id, CALLER)
    redis = context.questions.redis
    for late in (False, True):
        if late:
            perform(context, tasks)
        assert about(context, board.id) == {f"sigtest:gone:{board.id}"}
        for report in reports:
            assert about(context, str(report)) == {f"sigtest:gone:{report}"}
        assert total_bytes(context) == 0
        assert board.id.encode() not in redis.smembers(keys.JOINING)
        lives = [redis.ttl(key) for key in redis.keys(f"sigtest:cache:{board.id}:*")]
        assert 0 < min(lives) <= max(lives) <= 3600


def test_a_test_set_is_listed_as_long_as_it_lives(context):
    redis = context.questions.redis
    brief = Context.on(
        redis, context.settings.model_copy(update={"retention": 2, "remembrance": 1})
    )
    board = board_on(brief, "changed now and then")
    for _ in range(4):  # and lives on with each change
        time.sleep(1)
        board.put("aspen", SYSTEMS["aspen"])
    assert [record.id for record in board.testsets.listing(CALLER, None, 10)[0]] == [board.id]
    until(lambda: not redis.keys("sigtest:testset:*"))
    assert not redis.keys("sigtest:listing:*")


def test_what_a_leaderboard_showed_is_gone_when_it_has_expired(context):
    brief = Context.on(
        context.questions.redis, context.settings.model_copy(update={"retention": 2})
    )
    board = board_on(brief, "short")
    board.put("aspen", SYSTEMS["aspen"])
    settle(brief, board)
    shown = board.look().comparison
    assert shown is not None
    until(lambda: context.questions.stored(shown) is None)
    with pytest.raises(GoneError):
        Questions(context).find(shown, CALLER)


def test_a_test_set_deleted_while_its_report_is_written_leaves_none(board, context):
    board.remove("aspen")
    show = context.testsets.show

    def deleted_meanwhile(*arguments: Any) -> None:
        board.testsets.delete(board.id, CALLER)
        show(*arguments)

    context.testsets.show = deleted_meanwhile  # type: ignore[method-assign]
    refresh(context, board.id)
    left = about(context, "")
    assert not {key for key in left if key.startswith(("sigtest:report:", "sigtest:question:"))}
    assert about(context, board.id) == {f"sigtest:gone:{board.id}"}


def test_a_system_removed_while_its_board_is_settled_is_not_forgotten(board, context):
    settled = context.testsets.settle

    def removed_meanwhile(*arguments: Any) -> None:
        board.remove("aspen")
        settled(*arguments)

    context.testsets.settle = removed_meanwhile  # type: ignore[method-assign]
    refresh(context, board.id)
    assert context.testsets.pending() == {board.id}  # for the reconciler, who lets it be written
    context.testsets.settle = settled  # type: ignore[method-assign]
    refresh(context, board.id)
    assert context.testsets.pending() == set()


def test_texts_of_what_was_replaced_or_removed_go_at_once(board, context):
    redis, outputs = context.questions.redis, f"sigtest:testset-outputs:{board.id}"
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    board.remove("aspen")
    held = {digest.decode() for digest in redis.hkeys(outputs)}
    assert held == set(board.state.digests.values())
    assert len(held) == 2


def test_a_system_can_be_removed_from_a_full_store(board, context):
    redis = context.redis
    redis.config_set("maxmemory", 1)
    board.remove("aspen")
    assert b"aspen" not in redis.hkeys(f"sigtest:testset-systems:{board.id}")
    assert redis.hlen(f"sigtest:testset-outputs:{board.id}") == 2
    redis.config_set("maxmemory", 0)
    assert {name for name, _ in board.state.left} == {"aspen"}
    settle(context, board)
    board.is_right()


def test_totals_of_what_was_replaced_or_removed_go_when_the_board_is_written(board, context):
    board.put("twin", SYSTEMS["aspen"])
    settle(context, board)
    before = total_bytes(context)
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    board.remove("birch")
    board.remove("aspen")  # its content is the twin's
    settle(context, board)
    held = {name.decode() for name in context.questions.redis.keys("sigtest:totals:*")}
    assert held == {keys.totals(board.id, 600, own) for own in board.state.digests.values()}
    assert 0 < total_bytes(context) < before


def test_totals_of_mixed_sizes_are_bounded_by_their_bytes(context):
    redis, sizes = context.redis, [400, 5, 5, 300, 600, 5, 5, 5]
    settings = context.settings.model_copy(update={"totals": 1000})
    store = TestSets(Context.on(redis, settings))
    boards = [board_on(context, name).id for name in ("one", "two")]
    redis.hset("sigtest:totals-sizes", "of 0.2.0", 1)

    def keep(board: str, digest: str, size: int) -> None:
        place, (_, expiry) = keys.totals(board, 600, digest), store.holder(board)
        totals.keep(redis, settings, place, {"base": bytes(size)}, expiry)

    for number, size in enumerate(sizes):
        keep(boards[number % 2], f"{number}", size)

    def held() -> set[int]:
        return {int(name.rpartition(b":")[2]) for name in redis.keys("sigtest:totals:*")}

    assert held() == {1, 2, 3, 4, 5, 6, 7}  # 925 bytes
    assert not redis.exists("sigtest:totals-sizes")
    store.delete(boards[0], CALLER)
    assert held() == {1, 3, 5, 7}
    keep(boards[1], "8", 600)  # where what was deleted had its place
    assert held() == {1, 3, 5, 7, 8}
    keep(boards[1], "9", 1001)
    assert held() == {1, 3, 5, 7, 8}


def test_a_replaced_system_is_pending_until_it_is_measured(board, context):
    assert board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True) == "replaced"
    shown = board.look()  # what was there stays until there is something newer
    assert (shown.systems, shown.pending, shown.fresh) == (
        ("aspen", "birch", "cedar"),
        ("cedar",),
        False,
    )
    settle(context, board)
    assert (board.look().pending, board.look().fresh) == ((), True)


def test_what_is_asked_of_a_deleted_system_is_gone_at_once(board, context):
    comparison = board.look().comparison
    assert comparison is not None
    board.remove("cedar")
    assert board.look().comparison == comparison
    questions = Questions(context)
    pair = PairChoice("aspen", "cedar", "bleu", "bootstrap")
    for ask in (questions.distribution, questions.segments):
        with pytest.raises(GoneError, match="'cedar' of this leaderboard was deleted or replaced"):
            ask(comparison, CALLER, pair, False)
    kept = PairChoice("aspen", "birch", "bleu", "bootstrap")
    assert questions.distribution(comparison, CALLER, kept, True) is None  # a worker makes it


def test_names_of_what_is_kept_have_the_versions_that_made_it():
    rows = {row_name(600, "a"), row_name(600, "a", "b"), row_name("said", "a")}
    held = rows | {block_name((0, 9))}
    make = f"{__version__}+sacrebleu.{version('sacrebleu')}"
    assert {name.split(" ")[0] for name in held} == {make}
    assert f":{make}:" in keys.totals("0" * 32, 600, "a")


def test_rows_of_what_was_replaced_stay_bounded(board, context):
    redis, rows = context.questions.redis, f"sigtest:testset-rows:{board.id}"
    redis.hset(rows, mapping={f"0.0.1 600 {i:064x} {i:064x}": b"" for i in range(1000)})
    board.put("cedar", garbled(SYSTEMS["cedar"]), replaces=True)
    settle(context, board)
    assert redis.hlen(rows) == 3 + 3 + 3  # systems, pairs, what was found in outputs


def test_systems_that_another_version_measured_are_measured_again(board, context):
    redis, name = context.questions.redis, f"sigtest:testset-rows:{board.id}"
    for field, row in redis.hgetall(name).items():
        redis.hdel(name, field)
        _, _, rest = field.decode().partition(" ")
        redis.hset(name, f"0.0.1 {rest}", bytes(len(row)))
    assert board.state.pending == ("aspen", "birch", "cedar")
    assert board.id not in context.testsets.pending()
    perform(context, [board.state.refreshing("by hand")])
    assert board.id in context.testsets.pending()  # where the reconciler finds it
    shown = board.look()  # what the other version made, until all of it is made anew
    assert (shown.systems, shown.pending, shown.fresh) == (
        ("aspen", "birch", "cedar"),
        ("aspen", "birch", "cedar"),
        False,
    )
    settle(context, board)
    assert board.testsets.system(board.id, CALLER, "aspen").standing is Standing.MEASURED
    board.is_right()


def test_totals_of_another_version_are_none_of_this(board, context, monkeypatch):
    before = keys.totals(board.id, 600, "0" * 64)
    monkeypatch.setattr(keys, "MAKE", "0.0.1")
    assert keys.totals(board.id, 600, "0" * 64) != before


def test_a_task_that_is_often_late_does_not_count_as_dying(board, context):
    join = Task("join", board.id, (board.state.digests["aspen"], 599))
    for _ in range(context.settings.attempts - 1):
        died(context, join)
    for _ in range(2 * context.settings.attempts):
        perform(context, [join])
    assert not board.state.failures
    died(context, join)
    assert board.state.failures


def test_a_system_that_is_submitted_again_starts_anew_and_no_other(board, context):
    joins_of = {
        name: Task("join", board.id, (digest, 600)) for name, digest in board.state.digests.items()
    }
    context.redis.delete(f"sigtest:testset-rows:{board.id}")
    for name, deaths in (("aspen", context.settings.attempts), ("birch", 2)):
        for _ in range(deaths):
            died(context, joins_of[name])
    assert board.put("aspen", SYSTEMS["aspen"]) == "again"
    counted = context.redis.hgetall(f"sigtest:attempts:{board.id}")
    assert counted == {joins_of["birch"].key.encode(): b"2"}


def test_a_test_set_that_changes_while_it_is_deleted_is_checked_again(board, context):
    """Nothing comes between the check and the deletion, nor between it and more resamples."""

    def changed_meanwhile() -> Callable[[str], None]:
        seen = board.record.etag
        changes = [{"title": "First"}, {"title": "Second"}]

        def check(etag: str) -> None:
            if etag != seen:
                raise TakenError("changed")
            context.testsets.describe(board.id, CALLER, changes.pop())

        return check

    with pytest.raises(TakenError):
        board.testsets.delete(board.id, CALLER, changed_meanwhile())
    with pytest.raises(TakenError):
        board.testsets.raise_resamples(board.id, CALLER, 700, changed_meanwhile())
    assert (len(board.record.digests), board.state.resamples) == (3, 600)
    board.is_right()


def test_a_question_that_changes_while_it_is_deleted_is_checked_again(jobs, board, context):
    record, _ = jobs.submit(board.comparison(), CALLER)
    finish(context, record.id)
    seen = jobs.find(record.id, CALLER).etag

    def check(etag: str) -> None:
        if etag != seen:
            raise TakenError("changed")
        if looks.pop() == "last":
            context.questions.describe(record.id, CALLER, {"title": "Now"})

    looks = ["last", "first"]
    with pytest.raises(TakenError):
        Questions(context).remove(record.id, CALLER, check)
    assert jobs.report(record.id, CALLER)
