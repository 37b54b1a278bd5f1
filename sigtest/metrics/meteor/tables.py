"""METEOR's own constants: its languages, and the numbers tuned for each task (Constants.java)."""

from __future__ import annotations

from dataclasses import dataclass

MODULES = ("exact", "stem", "synonym", "paraphrase")


@dataclass(frozen=True)
class Tuning:
    """The numbers of METEOR's formula.

    Attributes:
        alpha: Weight of recall against precision.
        beta: Exponent of the fragmentation.
        gamma: Largest fragmentation penalty.
        delta: Weight of content words; function words have the rest.
        weights: Of the modules, in the order in which they are used.
    """

    alpha: float
    beta: float
    gamma: float
    delta: float
    weights: tuple[float, ...]


INDEPENDENT = Tuning(0.75, 1.40, 0.70, 0.50, (1.0, 0.5, 0.5, 0.5))

RANKING = {
    "en": Tuning(0.85, 0.20, 0.60, 0.75, (1.0, 0.6, 0.8, 0.6)),
    "cz": Tuning(0.95, 0.20, 0.60, 0.80, (1.0, 0.4)),
    "fr": Tuning(0.90, 1.40, 0.60, 0.65, (1.0, 0.2, 0.4)),
    "es": Tuning(0.65, 1.30, 0.50, 0.80, (1.0, 0.8, 0.6)),
    "de": Tuning(0.95, 1.00, 0.55, 0.55, (1.0, 0.8, 0.2)),
    "ru": Tuning(0.75, 1.40, 0.70, 0.50, (1.0, 0.5, 0.5)),
}

ENGLISH = {
    "adq": Tuning(0.75, 1.40, 0.45, 0.70, (1.0, 1.0, 0.6, 0.8)),
    "hter": Tuning(0.40, 1.50, 0.35, 0.55, (1.0, 0.2, 0.6, 0.8)),
    "util": Tuning(0.65, 0.10, 0.55, 0.65, (1.0, 0.0, 0.0, 0.8)),
}

TUNE = Tuning(0.50, 1.00, 0.50, 0.50, (1.0, 0.5, 0.5, 0.5))

TASKS = ("default", "rank", "adq", "hter", "util", "li", "tune")

ALIASES = {"cs": "cz", "sv": "se"}  # METEOR takes both
STEMMED = ("da", "fi", "hu", "it", "nl", "no", "pt", "ro", "se", "tr", "ar-bw-red")
LANGUAGES = (*RANKING, *ALIASES, *STEMMED, "other")

NORMALISED = frozenset(RANKING)  # the languages that METEOR has a tokenizer for


def tuning(language: str, task: str) -> Tuning | None:
    """The numbers for a task, if METEOR has them for the language."""
    code = ALIASES.get(language, language)
    if task == "li" or (task == "default" and code not in RANKING):
        return INDEPENDENT
    if task == "tune":
        return TUNE if code != "other" else INDEPENDENT
    if task in {"default", "rank"}:
        return RANKING.get(code)
    return ENGLISH.get(task) if code == "en" else None


def modules(language: str) -> tuple[str, ...]:
    """The modules that METEOR has tables for here, in its order.

    Its paraphrase tables of other languages than English are not in the package.
    """
    code = ALIASES.get(language, language)
    if code == "en":
        return MODULES
    return ("exact",) if code in {"cz", "other"} else ("exact", "stem")
