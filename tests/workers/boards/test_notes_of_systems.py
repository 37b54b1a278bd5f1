"""What is said of a system on a board, also where an older version stored it without codes."""

from __future__ import annotations

import pytest

from sigtest.report import WarningReport
from workers.tasks.boards import SystemNotes


@pytest.mark.parametrize(
    ("findings", "warnings"),
    [
        ([[True, ": line 3 is empty."]], [WarningReport("other", "a: line 3 is empty.", ("a",))]),
        ([[False, "Cut words."]], [WarningReport("other", "Cut words.")]),
        (
            [[True, ": line 3 is empty.", "empty"], [False, "Cut words.", "tokenizer"]],
            [
                WarningReport("empty", "a: line 3 is empty.", ("a",)),
                WarningReport("tokenizer", "Cut words."),
            ],
        ),
    ],
)
def test_findings_are_warnings_of_a_system(findings, warnings):
    assert SystemNotes(findings, [], {}).warnings("a") == warnings
