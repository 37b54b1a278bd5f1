"""The command line: the shell's door to `compare` and to a running service."""

from sigtest.cli.shell import main

__all__ = ["main"]
