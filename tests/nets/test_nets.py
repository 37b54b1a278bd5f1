"""Nothing that people see changes by accident while the house is rebuilt.

The records are our own output, no values from outside: a difference asks for a look, and a change
that is meant is recorded anew in the same commit (each script says how).
"""

from __future__ import annotations

import looks
import pytest
import refusals


def test_every_format_table_and_picture_of_the_examples_is_as_recorded():
    now = {name: looks.hashed(text) for name, text in looks.looks()}
    recorded = dict(line.split("\t") for line in looks.RECORD.read_text("utf-8").splitlines())
    assert now.keys() == recorded.keys()
    assert [name for name in now if now[name] != recorded[name]] == []


@pytest.mark.parametrize(
    "share", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["an eighth", "all"]
)
def test_every_refusal_has_the_recorded_words(share):
    now, recorded = dict(refusals.refusals(share)), refusals.recorded()
    assert [told for what, told in now.items() if told != recorded.get(what, "")] == []
    assert share > 1 or recorded.keys() <= now.keys()
