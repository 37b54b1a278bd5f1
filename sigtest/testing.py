"""pytest's fixture `sigtest_gate`: a test fails where a change may not pass."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def sigtest_gate() -> Callable[..., Any]:
    """Decide as `sigtest.gate` does; the test fails with the report unless all systems pass."""

    def decide(*given: Any, **named: Any) -> Any:
        from sigtest.notebook import gate  # late: most tests of a project need no statistics

        report = gate(*given, **named)
        if report.outcome != "pass":
            pytest.fail(f"sigtest {report}", pytrace=False)
        return report

    return decide
