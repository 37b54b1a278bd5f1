"""Numbers as people read them, and names and sentences from outside, made harmless.

No number has more digits than it carries, and no p-value is 0.
"""

import unicodedata
from collections.abc import Callable, Sequence

TINY = 1e-300
MINUS = "\N{MINUS SIGN}"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# They belong to many scripts and to emoji; looks that join letters keep them, a terminal may not.
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def fixed(value: float, places: int) -> str:
    """`value` with so many decimals, `inf` where there is no bound; a zero has no sign.

    Without decimals it is a count, whose thousands are marked.
    """
    shown = f"{value:{'' if places else ','}.{places}f}"
    return shown if shown.strip("-0.") else shown.removeprefix("-")


def signed(value: float, places: int) -> str:
    """`value` with its sign, and a zero without."""
    shown = fixed(value, places)
    return shown if shown.startswith("-") or not shown.strip("0.") else f"+{shown}"


def interval(ends: Sequence[float], places: int) -> str:
    """`[low, high]`."""
    return f"[{fixed(ends[0], places)}, {fixed(ends[1], places)}]"


def estimate(
    value: float | None, ends: Sequence[float] | None, places: int,
    how: Callable[[float, int], str] = fixed,
) -> str:  # fmt: skip
    """`value [low, high]`, as far as they are known, with signs as pictures have them."""
    known = [] if value is None else [how(value, places)]
    known += [] if ends is None else [interval(ends, places)]
    return " ".join(known).replace("-", MINUS)


def probability(p: float, alpha: float | None = None) -> str:
    """A p-value with two significant digits; more where rounding would carry it across alpha."""
    if p <= TINY:  # nor was anything smaller kept
        return f"<{TINY:.0e}"
    for digits in range(2, 18):
        shown = f"{p:#.{digits}g}"
        if alpha is None or (float(shown) <= alpha) == (p <= alpha):
            break
    return f"{float(shown):g}" if float(shown) in {0.0, 1.0} else shown.removesuffix(".")


def short_probability(p: float, alpha: float | None = None) -> str:
    """A p-value for small places: `.012`, with the digits that it has elsewhere."""
    return probability(p, alpha).removeprefix("0")


def whole(value: int) -> str:
    """A count with its thousands marked."""
    return f"{value:,}"


def percent(share: float) -> str:
    """0.95 as `95 %`."""
    return f"{round(100 * share, 6):g} %"


def printable(text: str, replacement: str = REPLACEMENT, kept: str = "") -> str:
    """`text` without characters that could steer a terminal, break a line or reverse a script.

    Control, format, surrogate and unassigned characters (Unicode category C) and line and
    paragraph separators become `replacement`, but for those that are `kept`.
    """
    if text.isascii() and text.isprintable():  # most names and all numbers
        return text
    steers = {c for c in text if unicodedata.category(c).startswith(("C", "Zl", "Zp"))} - {*kept}
    return "".join(replacement if c in steers else c for c in text)


def turns(text: str) -> bool:
    """Whether some of `text` is read from right to left, which turns round numbers beside it."""
    return not text.isascii() and any(unicodedata.bidirectional(c) in {"R", "AL"} for c in text)


def width(text: str) -> int:
    """Columns that `text` takes on a terminal: two for wide characters, none for accents."""
    if text.isascii():
        return len(text)
    seen = [c for c in text if not unicodedata.combining(c)]
    return len(seen) + sum(unicodedata.east_asian_width(c) in {"W", "F"} for c in seen)


def in_words(name: str | None) -> str:
    """What a test or correction is called in prose."""
    return (name or "").replace("_", " ")


def p_in_words(correction: str, plain: str = "unadjusted p") -> str:
    """What p-values are, corrected in this way."""
    return plain if correction == "none" else f"p adjusted by {in_words(correction)}"


def limit_in_words(correction: str, alpha: float, also: str = "") -> str:
    """What a p-value that decides is at most; `also` says of which others that is true."""
    return f"{p_in_words(correction, 'p')}{also} is at most {alpha:g}"


def correction_in_words(correction: str) -> str:
    """How p-values are corrected, if they are."""
    return "no correction" if correction == "none" else in_words(correction)
