"""`sigtest-admin failed`: every failure is listed with its reason, and nothing else is."""

from board import SYSTEMS, board_on
from byhand import finish
from commanded import told
from service import synthetic

from workers.questions import Status


def test_what_failed_is_listed_with_its_reason(jobs, context, settings):
    bad, good, unfinished = (
        jobs.submit(synthetic(seed, segments=5), caller)[0].id
        for seed, caller in enumerate(["ann", "ann", "bob"])
    )
    context.questions.commit(bad, Status.FAILED, "METEOR needs Java.")
    finish(context, good)
    board = board_on(context, "sets")
    for name in ("aspen", "birch"):
        board.put(name, SYSTEMS[name])
    context.testsets.fail(board.id, board.state.digests["birch"], "It is too long.")
    heading, *lines = told(settings, "failed")
    assert heading.split() == ["id", "caller", "kind", "why"]
    assert [line.split(maxsplit=3) for line in lines] == [
        [bad, "ann", "comparisons", "METEOR needs Java."],
        [board.id, "tester", "testsets", "birch: It is too long."],
    ]
    assert unfinished not in "".join(lines)


def test_what_is_quoted_of_a_text_steers_no_terminal(jobs, context, settings):
    bad = jobs.submit(synthetic(7, segments=5), "ann")[0].id
    context.questions.commit(bad, Status.FAILED, "line 1: '\x1b[2J\u202egone'")
    (line,) = told(settings, "failed")[1:]
    assert line.endswith("line 1: '\ufffd[2J\ufffdgone'")
