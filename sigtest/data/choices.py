"""Choosing by name: what is known, and what a misspelt name may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from sigtest.errors import RecipeError, quoted


def choose(name: Any, known: Iterable[str], field: str, what: str, otherwise: str = "") -> Any:
    """Return `name` if it is known.

    Raises:
        RecipeError: It is not; the message lists what is, and the nearest, or `otherwise`.
    """
    names = list(known)
    if name in names:
        return name
    folded = {str(own).casefold(): own for own in names}  # a wrong case is the nearest
    near = difflib.get_close_matches(name.casefold(), folded, 1) if isinstance(name, str) else ()
    hint = f" Did you mean {folded[near[0]]!r}?" if near else otherwise
    instead = f"choose one of {', '.join(names)}" if names else "there is none here"
    raise RecipeError(f"Unknown {what} {quoted(name)}; {instead}.{hint}", field=field)
