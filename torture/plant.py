"""Plants faults in a service: changes of modules, made when a process imports them.

Nothing of the product knows of this. A change is made right after its module was executed and
before anything is imported from it, so that names imported elsewhere are the changed ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

Change = Callable[[ModuleType], None]


class Changing(Loader):
    """Executes a module as its own loader does, and changes it afterwards.

    Args:
        loader: The module's own.
        change: What to do with the module.
    """

    def __init__(self, loader: Loader, change: Change) -> None:
        self._loader = loader
        self._change = change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)


class Finder(MetaPathFinder):
    """Finds the modules that are to be changed; all others are found as ever.

    Args:
        changes: What to do, by name of the module.
    """

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec whose loader changes the module."""
        if name not in self._changes:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = Changing(spec.loader, self._changes[name])
        return spec


def install(environment: Mapping[str, str]) -> None:
    """Plant what an environment asks for.

    Raises:
        KeyError: A fault that there is none of.
    """
    from torture.faults import FAULTS  # late: a process without faults reads no more than it must

    changes: dict[str, Change] = {}
    if fault := environment.get("TORTURE_FAULT"):
        planted = FAULTS[fault]
        changes[planted.module] = planted.change
    if version := environment.get("TORTURE_VERSION"):
        changes["sigtest.version"] = lambda module: setattr(module, "__version__", version)
    sys.meta_path.insert(0, Finder(changes))
