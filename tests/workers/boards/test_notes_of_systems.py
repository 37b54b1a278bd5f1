"""What is said of a system on a board."""

from sigtest.report import WarningReport
from workers.tasks.boards import SystemNotes


def test_findings_are_warnings_of_a_system():
    findings = [(True, ": line 3 is empty.", "empty"), (False, "Cut words.", "tokenizer")]
    assert SystemNotes(findings, [], {}).warnings("a") == [
        WarningReport("empty", "a: line 3 is empty.", ("a",)),
        WarningReport("tokenizer", "Cut words."),
    ]
