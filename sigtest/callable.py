"""Packages that are also functions of a notebook: `sigtest.human(...)`, from `sigtest.human`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package whose call is the call of the function of its name in `sigtest.notebook.people`."""

    def __call__(self, *args: Any, **choices: Any) -> Any:
        # by name, when called: these functions stand above the packages that they go through
        doors = import_module("sigtest.notebook.people")
        return getattr(doors, self.__name__.rpartition(".")[2])(*args, **choices)
