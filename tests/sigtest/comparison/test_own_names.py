"""Systems of one comparison can be told apart by their names."""

import pytest

from sigtest.comparison.parse import parse_comparison
from sigtest.errors import InputError


@pytest.mark.parametrize(
    ("a", "b"), [("same", "same"), ("caf\u00e9", "cafe\u0301"), ("\u212b", "\u00c5")]
)
def test_names_that_unicode_calls_equal_are_one_name(a: str, b: str) -> None:
    systems = [{"name": name, "hypotheses": ["a b"]} for name in (a, b)]
    with pytest.raises(InputError, match="Two systems are named") as caught:
        parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
    assert caught.value.system is not None


def test_other_names_may_look_alike() -> None:
    systems = [{"name": name, "hypotheses": ["a b"]} for name in ("a", "\u0430", "A")]
    parse_comparison({"references": [["a b"]], "systems": systems, "metrics": ["bleu"]})
