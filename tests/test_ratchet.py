"""The ratchet counts code, and nothing else."""

from benchmarks.ratchet import PACKAGES, folders, measure, product

SOURCE = '''"""A module."""

# a comment
import os


class Line:
    """A class."""

    def length(self) -> int:
        """A method,
        documented in two lines."""
        return len(
            os.sep
        )
'''


def test_blanks_comments_and_docstrings_are_no_code() -> None:
    size = measure(SOURCE)
    assert (size["lines"], size["functions"], size["modules"]) == (6, 1, 1)


def test_a_folder_counts_what_lies_below_it() -> None:
    sizes = folders()
    assert product(sizes) == sum((sizes[package] for package in PACKAGES), type(sizes["app"])())
    assert sizes["app"]["lines"] > sizes["app/http"]["lines"]
