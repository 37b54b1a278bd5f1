"""What is derived from texts is kept with them, so that no metric or system derives it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import numpy as np

from sigtest.arrays import Flags
from sigtest.data.text import Text

T = TypeVar("T")


def shared(texts: Sequence[Text], key: object, derive: Callable[[], T]) -> T:
    """What `derive` makes of these texts under this key; made once, kept with the first text.

    Args:
        texts: All texts that it depends on.
        key: Everything else that it depends on.
        derive: Makes it.
    """
    kept = texts[0].derived
    whole = (key, *texts[1:])
    if whole not in kept:
        kept[whole] = derive()
    return cast(T, kept[whole])


def interleaved(texts: Sequence[Text]) -> tuple[list[str], Flags]:
    """References segment by segment.

    Returns:
        n * r lines, the references of a segment next to each other, empty where one is missing;
        and (n, r) False where one is missing.
    """
    lines = [
        line for segment in zip(*(text.lines for text in texts), strict=True) for line in segment
    ]
    present = np.array([line is not None for line in lines]).reshape(-1, len(texts))
    return [line if line is not None else "" for line in lines], present
