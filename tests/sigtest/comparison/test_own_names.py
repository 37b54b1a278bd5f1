"""Systems of one comparison can be told apart by their names."""

import re

import pytest

from sigtest.comparison.parse import parse_comparison
from sigtest.errors import InputError


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("same", "same", "'same'"),
        ("caf\u00e9", "caf\u00e9", "'caf\u00e9'"),
        (
            "caf\u00e9",
            "cafe\u0301",
            "'cafe\u0301' (with U+0301) and 'caf\u00e9' (with U+00E9), which are equal",
        ),
        (
            "\u212b",
            "\u00c5",
            "'\u00c5' (with U+00C5) and '\u212b' (with U+212B), which are equal",
        ),
    ],
)
def test_names_that_unicode_calls_equal_are_one_name(a: str, b: str, said: str) -> None:
    systems = [{"name": name, "hypotheses": ["a b"]} for name in (a, b)]
    told = re.escape(f"Two systems are named {said}; every system needs its own name.")
    with pytest.raises(InputError, match=f"^{told}$") as caught:
        parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
    assert caught.value.system is not None


def test_other_names_may_look_alike() -> None:
    systems = [{"name": name, "hypotheses": ["a b"]} for name in ("a", "\u0430", "A")]
    parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
