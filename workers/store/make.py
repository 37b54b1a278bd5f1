"""Which software makes what is stored: what another made is none of ours, and is made anew."""

from __future__ import annotations

from sigtest.metrics.sacre import VERSION
from sigtest.version import __version__

MAKE = f"{__version__}+sacrebleu.{VERSION}"  # without spaces, as names of rows have it
