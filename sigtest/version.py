"""The version of sigtest: part of every report, identity and cache key."""

__version__ = "0.3.0"
