"""Calibrated significance tests for comparing translation systems and other NLP systems."""

from typing import TYPE_CHECKING, Any

from sigtest.errors import (
    InputError,
    LengthError,
    LimitError,
    RecipeError,
    ServiceError,
    SigtestError,
    UnavailableError,
)
from sigtest.version import __version__

if TYPE_CHECKING:
    from sigtest.notebook import compare, gate, suite
    from sigtest.notebook.people import accuracy, human, meta
    from sigtest.notebook.planning import plan
    from sigtest.report import Report

__all__ = [
    "InputError",
    "LengthError",
    "LimitError",
    "RecipeError",
    "Report",
    "ServiceError",
    "SigtestError",
    "UnavailableError",
    "__version__",
    "accuracy",
    "compare",
    "gate",
    "human",
    "meta",
    "plan",
    "suite",
]


def __getattr__(name: str) -> Any:
    """Import NumPy and the engine when they are first used: `sigtest --help` needs neither."""
    if name in {"compare", "gate", "suite"}:
        from sigtest import notebook  # late: see above

        return getattr(notebook, name)
    if name == "plan":
        from sigtest.notebook.planning import plan  # late: see above

        return plan
    if name in {"accuracy", "human", "meta"}:
        from sigtest.notebook import people  # late: see above

        return getattr(people, name)
    if name == "Report":
        from sigtest.report import Report  # late: see above

        return Report
    raise AttributeError(f"module 'sigtest' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What notebooks complete: also what is not loaded yet, and nothing of the inside."""
    return __all__
