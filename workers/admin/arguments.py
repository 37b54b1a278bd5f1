"""Types of what the commands take."""

from __future__ import annotations

import argparse
import math

from workers.settings import SECONDS

# argparse has no public name for it
Commands = argparse._SubParsersAction


def span(text: str) -> float:
    """A length of time, in days or in seconds, as a type of argparse.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= SECONDS:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {SECONDS:,}, not {text!r}")
    return number
