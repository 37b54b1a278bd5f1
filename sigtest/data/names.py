"""Names: which are known, which are safe, and which a file stands for."""

import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

from sigtest.errors import InputError, RecipeError, quoted

MAX_NAME = 200
MOST_NAME = 500  # characters of a name that is put before many others
# Capital and small letters of the Cyrillic and Greek alphabets with the shape of a Latin one, and
# digits with that of a letter; from the confusables of Unicode Technical Standard 39.
SHAPES = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0391\u0392\u0395\u0396\u0397"
    "\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd01I|",
    "ABEKMHOPCTYXlJSaeopcyxijsABEZHlKMNOPTYXovOlll",
)
MEANS = {"mean", "average", "avg", "total", "overall", "sum", "median", "std", "stdev", "stddev"}
COUNT = re.compile(  # length, n, n_tokens, word_count, and not n-best
    r"n|(n_|num_|no_of_|number_of_)\w+"
    r"|(\w+_)?(len|length|chars|characters|words|tokens|lines?|index|counts?|seconds|latency)"
)
# Names of what is better when lower: the last word decides, but for what may follow it.
ERRORS = re.compile(
    r"per|bits_per_byte|([^_]+_)*"
    r"(brier|cd?cer|cder|cer|costs?|divergence|(cp|m)?wer|deletions|der|distance|duration|ece|eer|entropy"
    r"|errors?|failures|fid|hallucinations?|h?terp?|insertions|latency|loss(es)?|s?map?e|mer"
    r"|metricx|mistakes|mqm|r?mse|nll|penalt(y|ies)|perplexity|ppl|regret|runtime|ser"
    r"|substitutions|time|toxicity|violations|wil)"
    r"(_(p?\d[^_]*|rates?|ratio|counts?|scores?|sum|total|mean|avg|average|median|percent|pct|norm"
    r"|normali[sz]ed|ms|sec|seconds|[a-z]|xl|xxl|large|qe|hybrid|ref[a-z]?|src))*"
)
REFERENCE = re.compile(r"(^|[._-])(reference\w*|refs?([a-d]|\d{1,2})?)([._-]|$)", re.IGNORECASE)
_FORBIDDEN = set("<>\"'`/")


def check_name(name: object, what: str = "system", field: str = "name") -> str:
    """Return `name` if it can safely name a system in files, pages and tables.

    Args:
        name: A name.
        what: What it names.
        field: The part of the request that it stands in.

    Raises:
        InputError: No text, empty, longer than 200 characters, a control character, a quotation
            mark, an angle bracket, a slash, only dots, or space at either end.
    """
    shown = quoted(name)
    if not isinstance(name, str):
        raise InputError(f"A {what}'s name must be a string, not {shown}.", field=field)
    if not name or len(name) > MAX_NAME:
        raise InputError(
            f"A {what}'s name must have 1 to {MAX_NAME} characters; {shown} has {len(name)}.",
            field=field,
        )
    bad = sorted({c for c in name if c in _FORBIDDEN or unicodedata.category(c)[0] == "C"})
    if bad or name.strip() != name or not name.strip("."):
        reason = f"contains {', '.join(ascii(c) for c in bad)}" if bad else "is blank at an end"
        if not name.strip("."):
            reason = "consists of dots"
        instead = f", such as {without_slash(name)!a}" if bad == ["/"] else ""
        raise InputError(
            f"The {what} name {shown} {reason}; use letters, digits, spaces and marks other than "
            f"quotes, angle brackets, slashes and control characters{instead}.",
            field=field,
        )
    return name


def name_in(value: object, where: str) -> str:
    """What is put before others, as the name of a document is before those of its segments.

    Raises:
        InputError: It is so long that all of them would fill the memory.
    """
    name = str(value)
    if len(name) > MOST_NAME:
        why = f"a name of {len(name):,} characters, {quoted(name, 40)}"
        raise InputError(f"{where}: {why}; at most {MOST_NAME:,} are accepted.", field=where)
    return name


def without_slash(name: str) -> str:
    """What files call a model of a hub, whose name has a slash: as lm-evaluation-harness does."""
    return name.replace("/", "__")


def require_distinct_names(names: Iterable[str]) -> None:
    """Check that readers can tell systems apart by their names.

    Names that Unicode calls equal (an accent in the letter, or after it) look the same everywhere.

    Raises:
        InputError: Two are equal.
    """
    equal: dict[str, list[str]] = defaultdict(list)
    for name in names:
        equal[unicodedata.normalize("NFC", name)].append(name)
    for name, group in equal.items():
        if len(group) > 1:
            spelled = " and ".join(sorted(map(_spelled, set(group))))
            which = f"{spelled}, which are equal" if len(set(group)) > 1 else repr(name)
            raise InputError(
                f"Two systems are named {which}; every system needs its own name.",
                field="systems",
                system=name,
            )


def is_reference(filename: str) -> bool:
    """Whether a file has the name of a reference: `ref.en`, `refB.txt`, `newstest-deen-ref.en`."""
    return REFERENCE.search(filename) is not None


def is_error(name: str) -> bool:
    """Whether a metric or criterion has the name of an error, a penalty, a loss, a distance, ...

    Such are better when lower: `word_error_rate`, `sentenceTER`, `MetricX-23-XL`, and not
    `error detection F1`, nor a count per something.
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z]{2}|[A-Z][a-z])", " ", name)
    return ERRORS.fullmatch("_".join(re.findall(r"[^\W_]+", apart.lower()))) is not None


def look_alikes(names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Sentences about names that differ and may be taken for one another, by these names.

    They differ by case, width, spaces and other forms of the same letter (NFKC), or by letters of
    other alphabets and digits that have the same shape.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        whole = "".join(unicodedata.normalize("NFKC", name).split())
        for look in {f"letters {whole.casefold()}", f"shape {whole.translate(SHAPES)}"}:
            alike[look].append(name)
    groups = dict.fromkeys(tuple(group) for group in alike.values() if len(group) > 1)
    return {
        group: f"The names {' and '.join(map(_spelled, group))} differ, and look alike."
        for group in groups
    }


def summaries(names: Iterable[str]) -> dict[str, str]:
    """Sentences about names of systems that in tables are those of means, sums and counts."""
    return {
        name: f"{name!r} is taken for a system; if it is a mean, a sum or a count, take it out."
        for name in names
        if name.lower() in MEANS or COUNT.fullmatch(re.sub(r"[ .]", "_", name.lower()))
    }


def _spelled(name: str) -> str:
    """A name with the symbols that are not those of a keyboard."""
    odd = dict.fromkeys(f"U+{ord(c):04X}" for c in name if not c.isascii())
    return f"{name!r} (with {', '.join(odd)})" if odd else repr(name)


def system_name(filename: str) -> str:
    """The name of the system whose hypotheses a file holds: without `.gz` and the last suffix."""
    stem = filename.removesuffix(".gz")
    name, _, suffix = stem.rpartition(".")
    return name if name and "/" not in suffix else stem


def choose(name: Any, known: Iterable[str], field: str, what: str, otherwise: str = "") -> Any:
    """Return `name` if it is known.

    Raises:
        RecipeError: It is not; the message lists what is, and the nearest, or `otherwise`.
    """
    names = list(known)
    if isinstance(name, Hashable) and name in names:  # arrays of a notebook are not
        return name
    folded = {str(own).casefold(): own for own in names}  # a wrong case is the nearest
    near = difflib.get_close_matches(name.casefold(), folded, 1) if isinstance(name, str) else ()
    hint = f" Did you mean {folded[near[0]]!r}?" if near else otherwise
    instead = f"choose one of {', '.join(names)}" if names else "there is none here"
    raise RecipeError(f"Unknown {what} {quoted(name)}; {instead}.{hint}", field=field)
