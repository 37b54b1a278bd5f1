"""Says why a question is not accepted, and when it may be."""

from __future__ import annotations

from workers.errors import BusyError, CostlyError, FullError
from workers.settings import Settings
from workers.store.questions import Verdict

LONGEST_WAIT = 3600


def refusal(
    settings: Settings, verdict: Verdict, seconds: float, most: int
) -> BusyError | CostlyError | FullError:
    """The error for a question that is too much, or too much now.

    Args:
        settings: How much is accepted.
        verdict: What was too much, and what its caller has unfinished.
        seconds: Predicted for the question, of one core.
        most: Seconds that its caller's unfinished questions may be predicted to take.
    """
    predicted = {
        "seconds": seconds,
        "unfinished_seconds": verdict.seconds,
        "accepted_seconds": most,
        "bytes": verdict.size,
        "unfinished_bytes": verdict.bytes,
        "accepted_bytes": settings.room,
    }
    if verdict.word == "full":
        return FullError(
            f"This question is predicted to take {verdict.size:,} bytes of the store, which has "
            f"{max(0, verdict.bytes):,.0f} left besides what unfinished ones are to take; ask for "
            "fewer systems, metrics or resamples, delete something, or try again later."
        )
    if verdict.word == "many":
        return BusyError(
            f"You have {settings.pending:,} unfinished questions, the most that this "
            "service accepts of one caller; try again later.",
            limit="SIGTEST_PENDING",
            predicted=predicted,
            seconds=_wait(settings, verdict.seconds / settings.pending),
        )
    long = verdict.word == "seconds"
    asked, load = (seconds, verdict.seconds) if long else (verdict.size, verdict.bytes)
    accepted = most if long else settings.room
    limit = "SIGTEST_BUDGET" if long else "SIGTEST_ROOM"
    unit = "seconds of one core" if long else "bytes in the store"
    said = f"This question is predicted to take {asked:,.0f} {unit}"
    if asked > accepted:
        return CostlyError(
            f"{said}, more than the {accepted:,} that one caller may have unfinished; ask for "
            "fewer systems, metrics or resamples.",
            limit=limit,
            predicted=predicted,
        )
    share = min(1.0, (asked + load - accepted) / load)
    return BusyError(
        f"{said} and your unfinished ones {load:,.0f}, together more than the {accepted:,} "
        "that one caller may have unfinished; try again later.",
        limit=limit,
        predicted=predicted,
        seconds=_wait(settings, share * verdict.seconds),
    )


def _wait(settings: Settings, seconds: float) -> int:
    """Whole seconds after which so much work may be done."""
    return min(LONGEST_WAIT, max(1, round(seconds / settings.workers)))
