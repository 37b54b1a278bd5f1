"""The quick way to indented JSON against the standard library's."""

import json

import pytest

from sigtest.render.json import indented


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "x",
        1.5e-7,
        {"a": []},
        {"a": {}, "b": 1},
        [[], [[]]],
        [1, [2], 3, 4, [{}]],
        [{"a": 1, "%s": [1, 2.5], "c": []}, {"a": "\0,%d"}, {"a": None, "%s": ["x", 3], "c": []}],
        [{"a": 1}, {}, {"a": [1]}, {"a": [[1]]}, 3, [1, 2]],
        {"a": 1, "b": [1, (2.5,), {"x": None, 'é"': '\u2028",\n ['}], "c": {"d": [True]}, "e": 2},
    ],
)
def test_as_the_standard_library_writes_it(value: object) -> None:
    assert indented(value) == json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)


def test_numbers_that_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="JSON"):
        indented({"a": [1.0, float("nan")]})
