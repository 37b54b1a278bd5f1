"""Names that readers may take for one another: warned of; names that are equal: refused."""

import pytest

from sigtest.comparison.parse import parse_comparison
from sigtest.data.names import check_name, look_alikes
from sigtest.engine import compare
from sigtest.errors import InputError


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("aspen", "Aspen"),
        ("my aspen", "myaspen"),
        ("aspen", "\uff41spen"),  # full width
        ("aspen", "\u0430spen"),  # Cyrillic
        ("\u0391spen", "Aspen"),  # Greek
        ("run-0", "run-O"),
        ("run-1", "run-l"),
        ("ONLINE-I", "ONLINE-l"),
        ("caf\u00e9", "Cafe\u0301"),
        ("2", "\u00b2"),
    ],
)
def test_names_that_look_alike_are_told(a: str, b: str) -> None:
    (said,) = look_alikes(["cedar", a, "dogwood", b])
    assert said.endswith("look alike.")
    assert repr(a) in said
    assert repr(b) in said
    assert all(f"U+{ord(c):04X}" in said for c in a + b if not c.isascii())


def test_names_that_can_be_told_apart_are_passed_over() -> None:
    names = ["v1", "v10", "v01", "run-1", "run-2", "online-a", "online-b", "A", "B", "i", "l"]
    words = ["\u0441\u043e\u0441\u043d\u0430", "\u043a\u043b\u0435\u043d", "sosna", "\u677e", "o"]
    assert look_alikes([*names, *words]) == ()


def test_reports_warn_of_them() -> None:
    texts = {"aspen": "a b c d", "\u0430spen": "a b c e", "birch": "a x c d"}
    body = {
        "references": [["a b c d"] * 4],
        "systems": [{"name": name, "hypotheses": [line] * 4} for name, line in texts.items()],
        "metrics": ["bleu"],
        "resamples": 99,
    }
    said = "The names 'aspen' and '\u0430spen' (with U+0430) differ, and look alike."
    assert said in compare(parse_comparison(body)).warnings


def test_a_slash_is_refused_with_the_name_that_would_do() -> None:
    with pytest.raises(InputError, match=r"contains '/'; .*, such as 'org__big'\.$"):
        check_name("org/big")
    with pytest.raises(InputError, match=r"control characters\.$"):
        check_name("<org>/big")
