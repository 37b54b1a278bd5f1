"""A shared task of 4 test sets, 30 teams and 3 systems: CPU of a burst, and of even submissions.

    python -m benchmarks.shared_task [--teams 30] [--seed 0] [--quick]

Teams submit all at once while 20 processes of the service are killed; then the same on another
service, one submission after the other, each when the one before is measured, without kills. CPU is
that of all processes of a service from the first submission until every board is whole. `--quick`
leaves out the second.
"""

import argparse
import time
from collections.abc import Callable

from torture.burst import KILLS, Meter, SharedTask, Sizes, announced


def measured(task: SharedTask, meter: Meter, run: Callable[[], None]) -> float:
    """CPU seconds of a run; says these and what was wrong."""
    before, since = meter.seconds, time.monotonic()
    run()
    spent, lasted = meter.seconds - before, time.monotonic() - since
    task.account()
    ledger = task.ledger
    print(f"  {spent:.1f} s of CPU in {lasted:.1f} s; kills: {ledger.counts['kills']}")
    print(f"  {len(task.receipts)} accepted; {ledger.faults or 'no fault'}", flush=True)
    for finding in ledger.findings:
        print(f"  {finding}")
    return spent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--teams", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    sizes = Sizes(teams=options.teams)
    print(f"{sizes}; a burst under {len(KILLS)} kills", flush=True)
    with announced(sizes, options.seed) as (task, meter):
        burst = measured(task, meter, lambda: task.at_once(KILLS))
    if options.quick:
        return
    print("one after the other")
    with announced(sizes, options.seed) as (task, meter):
        even = measured(task, meter, task.evenly)
    print(f"the burst takes {burst / even:.2f} times the CPU")


if __name__ == "__main__":
    main()
