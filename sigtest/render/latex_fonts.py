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
    """The first line of a fragment, or more where letters of other scripts need another engine.

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
    alone = [own.title() for own in scripts if own not in EUROPEAN | ASIAN]
    engines = "XeLaTeX" if alone else "XeLaTeX or LuaLaTeX"
    return (
        f"% Needs \\usepackage{{booktabs}}, and {engines}{told}:\n"
        f"% pdfLaTeX stops at them, and a font that lacks letters leaves them out.\n"
        f"% These have them: \\usepackage{{fontspec}}{_main(scripts)}\n" + "".join(map(_own, alone))
    )


def _main(scripts: dict[str, None]) -> str:
    """The choice of a font for all letters that one font has beside Latin ones."""
    if not (EUROPEAN | ASIAN) & scripts.keys():
        return ""
    return f"\\setmainfont{{{FONTS[bool(ASIAN & scripts.keys())]}}}"


def _own(script: str) -> str:
    """How names in a script are set whose fonts have no Latin letters, which a table needs, too."""
    return (
        f"% \\newfontfamily\\in{script}[Script={script}]{{Noto Sans {script}}}, and names by "
        f"--names 'NAME={{\\in{script} NAME}}'\n"
    )


def _foreign(letter: str) -> bool:
    if ord(letter) < FIRST_UNSURE:
        return letter in UNKNOWN
    return unicodedata.category(letter)[0] in "LM" and letter not in KNOWN


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNNAMED").partition(" ")[0].partition("-")[0]
