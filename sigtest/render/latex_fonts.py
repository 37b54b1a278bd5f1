"""What a LaTeX fragment needs besides booktabs: pdfLaTeX's fonts have no letters but Latin ones."""

from __future__ import annotations

import unicodedata

# What pdfLaTeX prints of the letters from U+0180 on, does not print before, and does in T1 only.
KNOWN = frozenset("ǍǎǏǐǑǒǓǔǢǣǦǧǨǩǪǫǰǴǵȘșȚțȲȳȷ")
UNKNOWN = frozenset("ĦħĸĿŀŉŦŧſ")
IN_T1 = frozenset("ÐÞðþĄąĐđĘęĮįŊŋŲųǪǫ")
FIRST_UNSURE = 0x180
# By the first word of letters' names in Unicode: fonts with Latin letters, the wider ones last.
FONTS = ("Noto Serif", "Noto Serif CJK SC")
EUROPEAN = {"LATIN", "GREEK", "CYRILLIC", "MODIFIER", "COMBINING"}
ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "FULLWIDTH", "HALFWIDTH"}


def needs(latex: str) -> str:
    """The first line of a fragment, or three where letters of other scripts need another engine.

    Args:
        latex: The fragment; letters in its comments do not matter.
    """
    shown = "".join(line for line in latex.splitlines() if not line.startswith("%"))
    scripts = dict.fromkeys(map(_script, sorted(set(filter(_foreign, shown)))))
    if not scripts:
        encoding = " and \\usepackage[T1]{fontenc}" if IN_T1 & set(shown) else ""
        return f"% Needs \\usepackage{{booktabs}}{encoding}.\n"
    named = ", ".join(own if own == "CJK" else own.title() for own in scripts if own != "LATIN")
    told = f" for letters that are {named}" if named else " for its letters"
    fonts = _fonts(scripts)
    which = f"this one has them:\n% \\usepackage{{fontspec}}\\setmainfont{{{fonts[0]}}}"
    if len(fonts) > 1:
        which = f"no one has all of these:\n% \\usepackage{{fontspec}} and {', '.join(fonts)}"
    return (
        f"% Needs \\usepackage{{booktabs}}, and XeLaTeX or LuaLaTeX{told}:\n"
        f"% pdfLaTeX stops at them. A font that lacks letters leaves them out; {which}\n"
    )


def _fonts(scripts: dict[str, None]) -> list[str]:
    """One where one has all letters, otherwise those that have them together."""
    fonts = [f"Noto Sans {own.title()}" for own in scripts if own not in EUROPEAN | ASIAN]
    if not fonts or any(own in ASIAN for own in scripts):
        fonts.append(FONTS[any(own in ASIAN for own in scripts)])
    return fonts


def _foreign(letter: str) -> bool:
    if ord(letter) < FIRST_UNSURE:
        return letter in UNKNOWN
    return unicodedata.category(letter)[0] in "LM" and letter not in KNOWN


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNNAMED").partition(" ")[0].partition("-")[0]
