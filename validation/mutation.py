"""Part 7, mutation: a check that cannot fail proves nothing, so every fault must be seen."""

from __future__ import annotations

from validation.faults import FAULTS, Fault
from validation.results import Check, Part, Table, all_hold


def named(fault: Fault) -> str:
    """The name of the check that has to see a fault."""
    return fault.seen_by.__name__.replace("_", " ")


def verdict(number: int) -> str:
    """What the check says while fault `number` is in place."""
    fault = FAULTS[number]
    with fault.seed():
        return _outcome(fault)


def _outcome(fault: Fault) -> str:
    """Why the check fails, or nothing where it passes."""
    check = fault.seen_by()
    return "" if check.passed else check.result


def every_fault_is_seen() -> tuple[Check, list[str]]:
    """Seed every fault; its named check must fail, and must pass without it."""
    numbers = range(len(FAULTS))
    distinct = {fault.seen_by: number for number, fault in enumerate(FAULTS)}.values()
    sound = [_outcome(FAULTS[number]) for number in distinct]
    seen = [verdict(number) for number in numbers]
    problems = [
        f"{named(FAULTS[number])} fails without any fault: {found}"
        for number, found in zip(distinct, sound, strict=True)
        if found
    ]
    problems += [
        f"{FAULTS[number].name} is not seen by {named(FAULTS[number])}"
        for number, found in zip(numbers, seen, strict=True)
        if not found
    ]
    check = all_hold(
        "every fault is seen",
        "Each seeded fault makes its named check fail; without faults these checks pass.",
        problems,
        len(FAULTS) + len(distinct),
    )
    return check, seen


def part() -> Part:
    """The list of faults and what saw them."""
    check, seen = every_fault_is_seen()
    rows = tuple(
        (fault.name, named(fault), found or "NOT SEEN")
        for fault, found in zip(FAULTS, seen, strict=True)
    )
    return Part(
        7,
        "Mutation: would these checks notice?",
        "How do I know that the checks can fail at all?",
        (check,),
        text=(
            "Each fault is put into the running library, in place of the right function, for the "
            "time of one quick check.",
        ),
        tables=(Table("Seeded faults", ("fault", "check that fails", "what it reports"), rows),),
        headline=f"{sum(map(bool, seen))} of {len(FAULTS)} seeded faults are noticed.",
    )
