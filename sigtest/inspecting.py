"""Inspect AI's hook: at the end of a run, what its logs say beside a baseline's.

`SIGTEST_BASELINE` names the log of an earlier run of the same task; without it nothing is done.
"""

import os
import sys
from pathlib import Path
from typing import Any

try:
    from inspect_ai.hooks import Hooks, hooks
except ImportError:  # nobody asks for a hook then
    Hooks, hooks = object, lambda **_: lambda hook: hook


@hooks(name="sigtest", description="Compares the logs of a run with SIGTEST_BASELINE.")
class Compared(Hooks):
    """Prints a comparison for each log; what goes wrong is a warning of Inspect's."""

    def enabled(self) -> bool:
        return "SIGTEST_BASELINE" in os.environ

    async def on_run_end(self, data: Any) -> None:
        from sigtest.notebook import compare  # late: most runs have no baseline

        for log in data.logs:
            run = Path(log.location.removeprefix("file://"))
            logs = {"run": run, "baseline": Path(os.environ["SIGTEST_BASELINE"])}
            sys.stdout.write(str(compare(systems=logs, pairs={"baseline": "baseline"})))
