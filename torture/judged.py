"""What the record shows of each part: checks against the bars, and tables."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from torture.faults import FAULTS
from torture.flood import FLOODS, HIGH, MEDIAN
from torture.hurts import BARS, SHARES
from torture.load.ledger import BAD
from torture.mutation import NAMES
from torture.results import Total
from torture.soak import GROWTH, grows, growth
from torture.strangers import NEAR, deviation, told_apart
from validation.results import Check, Table

JOBS, KILLS, REQUESTS, UPLOADS, TWICE = 5_000, 1_000, 100_000, 5_000, 2.0
DISK_SECONDS = 60.0
QUIET = 8  # processes that want a core, on average, when a service has the machine for itself
CROWDED = (
    f"More than {QUIET} processes wanted one of the cores, for other work and other runs: the "
    "bars are for a machine that the service has for itself."
)
HEADER = ("what", "times", "median", "99 %", "worst", "bar")

Judged = tuple[list[Check], list[Table], str]


def storm(total: Total) -> Judged:
    """Counts of faults, sizes, and recoveries."""
    counts = total.counts
    jobs, kills = counts["jobs"], counts["kills"]
    checks = [
        _nothing(total, "nothing is lost, doubled, wrong or stuck",
                 "Every accepted question ends with the report that the library computes, byte "
                 "for byte; resubmissions are the same question; listings have what was accepted "
                 "and nothing else; no process is left over; no answer is 5xx but the 503 that "
                 "says so.",
                 f"{jobs:,} jobs, {counts['reports compared byte for byte']:,} reports compared, "
                 f"{kills:,} kills and {counts['hurts'] - kills:,} other hurts"),
    ]  # fmt: skip
    recovered, tables = _recoveries(total)
    kinds = [
        (name.removeprefix("reports of "), f"{n:,}")
        for name, n in sorted(counts.items())
        if name.startswith("reports of ")
    ]
    other = [(name, f"{counts[name]:,}") for name in ("leaderboards", "cancelled or deleted")]
    asked = Table("What was asked", ("kind", "reports compared"), (*kinds, *other))
    waited = total.worst("without an answer")
    away = f"No caller waited longer than {waited:.1f} s for any answer."
    return (
        [*checks, _size(jobs, JOBS, "jobs"), _size(kills, KILLS, "kills"), *recovered],
        [*tables, asked],
        f"{_aim(jobs, JOBS, 'jobs')} under {_aim(kills, KILLS, 'kills')}. {away}",
    )


def _recoveries(total: Total) -> tuple[list[Check], list[Table]]:
    """How long each way to hurt took to recover from, also where other work had the machine."""
    quiet = Total.of(run for run in total.runs if run.load <= QUIET)
    crowded = Total.of(run for run in total.runs if run.load > QUIET)
    checks = []
    for name, bar in BARS.items():
        if times := total.times.get(f"recovery: {name}", []):
            over = sum(seconds > bar for seconds in times)
            result = f"worst {max(times):.2f} s; {over} of {len(times):,} over"
            asserts = f"Within {bar:g} s, while callers ask as much as they can."
            checks.append(Check(f"recovery: {name}", asserts, not over, result))
    said = (
        "A worker: until there is another and the task that it held runs again. All others: until "
        "a small question, asked afterwards, is answered; of the store from when it answers again."
    )
    tables = [
        Table(f"Recovery in seconds, {where}", HEADER, tuple(_rows(some)), note)
        for where, some, note in (
            ("the machine its own", quiet, said),
            ("next to other work", crowded, CROWDED),
        )
        if some.runs
    ]
    return checks, tables


def _rows(total: Total) -> Iterator[tuple[str, ...]]:
    for name in SHARES:
        times = total.times.get(f"recovery: {name}", [])
        if times:
            shown = (statistics.median(times), _high(times), max(times))
            cells = (f"{seconds:.2f}" for seconds in shown)
            yield name, f"{len(times):,}", *cells, f"{BARS[name]:g}" if name in BARS else ""


def requests(total: Total) -> Judged:
    """How many, and what they were answered."""
    counts = total.counts
    sent = counts["generated requests"]
    checks = [
        _nothing(total, "every request is answered in the service's own words",
                 "No answer is 5xx, refusals are problem documents, nothing of the inside is told, "
                 "no other caller's resource is shown; what was accepted by chance has the "
                 "library's report.",
                 f"{sent:,} requests, {counts['reports compared byte for byte']:,} reports"),
    ]  # fmt: skip
    checks.append(_size(sent, REQUESTS, "generated requests"))
    rows = [(f"{n}xx", f"{counts[f'answered {n}xx']:,}") for n in (2, 3, 4, 5)]
    rows.append(("no HTTP at all", f"{counts['requests that are no HTTP']:,}"))
    table = Table("What generated requests were answered", ("status", "answers"), tuple(rows))
    return (
        checks,
        [table],
        f"{_aim(sent, REQUESTS, 'generated requests')}, over all routes.",
    )


def strangers(total: Total) -> Judged:
    """Keys, the clock, the disk."""
    known = total.times.get("seconds for texts known to another", [])
    unknown = total.times.get("seconds for texts unknown", [])
    disk = total.times.get("seconds until a deleted text has left the disk", [])
    area = told_apart(known, unknown) if known and unknown else math.nan
    chance = deviation(len(known), len(unknown)) if known and unknown else math.nan
    counts = total.counts
    checks = [
        _nothing(total, "callers are strangers to each other",
                 "Keys that nearly fit open nothing; every route about another's question or test "
                 "set says that there is none, in the same words as of one that never was.",
                 f"{counts['keys that nearly fit']:,} keys, "
                 f"{counts['requests about what is another caller' + chr(39) + 's']:,} requests"),
        Check("the clock tells nothing",
              f"AUC of telling texts that another caller has measured by time: .5 +- {NEAR}.",
              abs(area - 0.5) <= NEAR,
              f"AUC {area:.3f} over {len(known)} and {len(unknown)} texts "
              f"(standard deviation by chance {chance:.3f})"),
        Check("deletion reaches the disk",
              "A scan of every byte, decompressing, finds nothing a minute after DELETE.",
              bool(disk) and max(disk) <= DISK_SECONDS,
              f"{len(disk)} times, after at most {max(disk, default=math.nan):.0f} s"),
    ]  # fmt: skip
    return checks, [], f"{len(known) + len(unknown)} texts timed, {len(disk)} deletions followed."


def flood(total: Total) -> Judged:
    """Small questions idle and under each flood."""
    checks, rows = [], []
    for name in FLOODS:
        idle, under = (
            total.times.get(f"idle before {name}", []),
            total.times.get(f"under {name}", []),
        )
        if not idle or not under:
            continue
        median = statistics.median(under) - statistics.median(idle)
        high = _high(under) - _high(idle)
        asserts = f"At most the idle latency + {MEDIAN} s at the median, + {HIGH} s at p99."
        result = f"+{median:.3f} s at the median, +{high:.3f} s at p99"
        held = median <= MEDIAN and high <= HIGH
        checks.append(Check(f"under {name}", asserts, held, result))
        rows.append((name, f"{len(under)}", f"{statistics.median(idle):.3f}", f"{_high(idle):.3f}",
                     f"{statistics.median(under):.3f}", f"{_high(under):.3f}"))  # fmt: skip
    table = Table(
        "A small question, from POST to its end, in seconds",
        ("flood", "questions", "idle median", "idle p99", "median", "p99"),
        tuple(rows),
        "Idle and flooded questions follow each other on one service with two workers.",
    )
    many = sum(len(total.times.get(f"under {name}", [])) for name in FLOODS)
    return checks, [table], f"{many} small questions while another caller floods the service."


def cost(total: Total) -> Judged:
    """The worst ratio."""
    counts = total.counts
    ratios = total.times.get("CPU seconds, times what was predicted", [])
    worst = max(ratios, default=math.nan)
    checks = [
        Check("no upload takes over twice its prediction",
              "CPU seconds of the computation (less .05 s, the same for all) over those predicted "
              "before it, for random adversarial uploads of every kind.",
              worst <= TWICE, f"worst {worst:.2f} times, of {len(ratios):,} uploads"),
    ]  # fmt: skip
    checks.append(_size(len(ratios), UPLOADS, "uploads"))
    kinds = [(k[11:], f"{n:,}") for k, n in sorted(counts.items()) if k.startswith("uploads of ")]
    refused = [(k, f"{n:,}") for k, n in sorted(counts.items())
               if k.startswith("uploads ") and not k.startswith("uploads of ")]  # fmt: skip
    table = Table("Uploads", ("kind", "uploads"), tuple(kinds + refused))
    return (
        checks,
        [table],
        f"The worst of {len(ratios):,} hostile uploads takes {worst:.2f} times its prediction.",
    )


def soak(total: Total) -> Judged:
    """Growth of each process after the first third."""
    checks, rows = [], []
    for name, sizes in sorted(total.times.items()):
        if not name.startswith("MB of "):
            continue
        asserts = f"Flat within {GROWTH:.0%} after the first third of the run."
        held = not grows(sizes)
        checks.append(Check(f"memory of {name[6:]}", asserts, held, f"{growth(sizes):+.1%}"))
        third = sizes[len(sizes) // 3 :]
        rows.append((name[6:], f"{third[0]:.1f}", f"{statistics.median(third):.1f}",
                     f"{max(third):.1f}", f"{third[-1]:.1f}"))  # fmt: skip
    counts = Counter({name: n for name, n in total.counts.items() if name != "grown"})
    said = f"{counts['jobs']:,} jobs"
    checks.append(_nothing(replace(total, counts=counts), "answers stay right", "As there.", said))
    table = Table(
        "Memory in MB after the first third",
        ("of", "then", "median", "most", "in the end"),
        tuple(rows),
        "Memory that a process shares with no other; of the store also what it says of its data, "
        "which is kept for a minute here.",
    )
    minutes = total.seconds / 60
    return checks, [table], f"{minutes:.0f} minutes of work at half of what the service can do."


def faults(total: Total) -> Judged:
    """Which were noticed, and by what."""
    said = {f.partition(": ")[0]: f.partition(": ")[2] for r in total.runs for f in r.findings}
    there = [name for name in NAMES if name in said]
    rows = tuple(
        (name, FAULTS[name].does if name in FAULTS else "every prediction is a tenth", said[name])
        for name in there
    )
    check = Check(
        "every seeded fault is noticed",
        "With each fault planted, and nothing else changed, the part that looks for it fails.",
        len(there) == len(NAMES) and not total.faults,
        f"{len(there)} of {len(NAMES)}"
        + (f"; not: {set(NAMES) - set(there)}" if len(there) < len(NAMES) else ""),
    )
    table = Table("Seeded faults", ("fault", "what is wrong then", "seen"), rows)
    return [check], [table], f"{len(there)} of {len(NAMES)} seeded faults are noticed."


JUDGES: dict[str, Callable[[Total], Judged]] = {
    "storm": storm,
    "requests": requests,
    "strangers": strangers,
    "flood": flood,
    "cost": cost,
    "soak": soak,
    "faults": faults,
}


def _nothing(total: Total, name: str, asserts: str, seen: str) -> Check:
    found = ", ".join(f"{total.counts[bad]} {bad}" for bad in BAD if total.counts[bad])
    return Check(name, asserts, not found, f"{seen}: {found or 'no fault'}")


def _size(there: int, least: int, what: str) -> Check:
    """Whether the record is as large as it is to be."""
    return Check(f"as many {what} as the record asks for", f"{least:,} {what} or more.",
                 there >= least, f"{there:,}")  # fmt: skip


def _aim(there: int, aim: int, what: str) -> str:
    """How far the record is."""
    return f"{there:,} {what}" if there >= aim else f"{there:,} of the {aim:,} {what} aimed at"


def _high(times: Sequence[float]) -> float:
    """The 99th percentile."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, math.ceil(0.99 * len(ordered)) - 1)]
