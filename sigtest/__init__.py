"""Calibrated significance tests for comparing translation systems and other NLP systems."""

from importlib import import_module
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
    from sigtest.notebook import accuracy, compare, gate, human, meta, plan, suite
    from sigtest.race.compute import Race
    from sigtest.report import Report

__all__ = [
    "InputError",
    "LengthError",
    "LimitError",
    "Race",
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


_NOTEBOOK = ("accuracy", "compare", "gate", "human", "meta", "plan", "suite")
_PLACES = dict.fromkeys(_NOTEBOOK, "sigtest.notebook")
_PLACES |= {"Race": "sigtest.race.compute", "Report": "sigtest.report"}


def __getattr__(name: str) -> Any:
    """Import NumPy and the engine when they are first used: `sigtest --help` needs neither."""
    if name not in _PLACES:
        raise AttributeError(f"module 'sigtest' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    """What notebooks complete: also what is not loaded yet, and nothing of the inside."""
    return __all__
