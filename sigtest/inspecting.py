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

SETTING = "SIGTEST_BASELINE"


@hooks(name="sigtest", description=f"Compares the logs of a run with {SETTING}.")
class Compared(Hooks):
    """Prints a comparison for each log; what goes wrong is a warning of Inspect's."""

    def enabled(self) -> bool:
        return SETTING in os.environ

    async def on_run_end(self, data: Any) -> None:
        from sigtest.notebook import compare  # late: most runs have no baseline

        for log in data.logs:
            path = Path(log.location.removeprefix("file://"))
            logs = {"run": path, "baseline": Path(os.environ[SETTING])}
            sys.stdout.write(str(compare(systems=logs, pairs={"baseline": "baseline"})))
