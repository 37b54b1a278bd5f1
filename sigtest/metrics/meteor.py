"""METEOR 1.5 as its own program computes it (Denkowski & Lavie 2014)."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sigtest.arrays import Array
from sigtest.compiled import compiled
from sigtest.data.names import choose
from sigtest.data.testset import System, TestSet
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.base import Metric
from sigtest.metrics.jvm import UnansweredError, find, score

CHUNKS = 20
WORD_SECONDS = 1e-4
MATCH_SECONDS = 3e-5
LONG = 500  # words of both, from which on a match takes longer the more there are

_TOUCHING_BARS = re.compile(r"\|(?=\|)")
_WORDS = re.compile(r"\w+|[^\w\s]")
_RUN_OF_BARS = re.compile(r"\|{3,}")
_STAND_IN = "\U0010fffd"  # private use; stands for a bar where bars must not be moved apart

# METEOR's own constants: its languages, and the numbers tuned for each task (Constants.java).
MODULES = ("exact", "stem", "synonym", "paraphrase")


class Tuning(NamedTuple):
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


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR, 0 to 1. Statistics: the 23 numbers that METEOR prints for a segment.

    They are lengths and function words of hypothesis and reference, then the matches of each
    module (content words in hypothesis and reference, function words in both), chunks, and
    matched words in hypothesis and reference. Of several references the one with the best score
    counts, the first of equals; missing ones are left out.

    Attributes:
        language: METEOR's name of the language.
        task: What the parameters are tuned for; `default` is `rank`, or `li` (independent of the
            language) where METEOR has no other.
        modules: Matchers to use, such as `exact+stem`; `default` is all there are: four for
            English, exact and stem for most languages, exact for Czech. As in METEOR, the first
            module has the first of the task's weights, and so on.
        norm: Tokenise, normalise punctuation and ignore case, as METEOR recommends for raw text.
        lower: Ignore case; where `norm` is off.
        no_punct: Ignore punctuation; with `norm`.
    """

    name = "meteor"
    width = 23
    score_seconds = 7e-8
    title = "METEOR"
    papers = ("denkowski-lavie-2014-meteor",)
    most_jobs = 4  # each has a JVM of 0.6 GB

    language: str = "en"
    task: str = "default"
    modules: str = "default"
    norm: bool = True
    lower: bool = False
    no_punct: bool = False

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            RecipeError: An option that METEOR does not have, or not for this language.
            UnavailableError: METEOR or Java is not installed.
        """
        choose(self.language, LANGUAGES, "metrics", "language of meteor")
        tasks = [task for task in TASKS if tuning(self.language, task) is not None]
        choose(self.task, tasks, "metrics", f"task of meteor for language {self.language},")
        known, chosen = modules(self.language), self._modules
        if chosen != tuple(module for module in known if module in chosen):
            raise RecipeError(
                f"meteor has no modules {self.modules!r} for language {self.language!r}; "
                f"choose default, or some of {'+'.join(known)} in this order.",
                field="metrics",
            )
        if self.norm and self._code not in NORMALISED:
            raise RecipeError(
                f"meteor has no tokenizer for language {self.language!r}; bring tokenised text and "
                f"ask for meteor:language={self.language},norm=false,lower=true.",
                field="metrics",
            )
        if self.no_punct and not self.norm:
            raise RecipeError("meteor's no_punct needs norm=true.", field="metrics")
        self.require()

    @classmethod
    def require(cls) -> None:
        find()

    @property
    def implementation(self) -> str:
        return f"meteor:1.5-{find().fingerprint}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """METEOR's command line for these options."""
        task = () if self.task == "default" else ("-t", self.task)
        switches = {"-norm": self.norm, "-lower": self.lower, "-noPunct": self.no_punct}
        return (
            *("-l", self._code),
            *task,
            *("-m", " ".join(self._modules)),
            *(switch for switch, on in switches.items() if on),
        )

    def statistics(self, testset: TestSet, system: System) -> Array:
        texts = [reference.lines for reference in testset.references]
        hypotheses = self.hypotheses(system).complete
        requests = [
            self._request([line for line in references if line is not None], hypothesis)
            for *references, hypothesis in zip(*texts, hypotheses, strict=True)
        ]
        try:
            answers = score(self.arguments, requests)
        except UnansweredError as error:
            raise InputError(
                f"METEOR cannot score segment {error.index + 1} of system {system.name!r}: "
                f"{error.reason}.",
                field="hypotheses",
                system=system.name,
                line=error.index + 1,
            ) from error
        rows = np.array([answer.split() for answer in answers], np.float64)
        rows = rows.reshape(len(requests), self.width)
        rows[_perfect(rows), CHUNKS] = 0.0
        return rows

    def seconds(self, testset: TestSet, system: System) -> float:
        """METEOR tries every word of a hypothesis with every equal one of a reference.

        The search for the best alignment of these grows with the length of the line, too.
        """
        hypotheses = system.hypotheses.lines if system.hypotheses else ()
        return sum(
            _line_seconds(line or "", reference or "")
            for text in testset.references
            for line, reference in zip(hypotheses, text.lines, strict=True)
        )

    def formula(self, sums: Array) -> Array:
        numbers, used = tuning(self.language, self.task), len(self._modules)
        assert numbers is not None  # checked when made
        weights = (*numbers.weights, *(0.0,) * len(MODULES))[:used]
        return _meteor(
            sums, np.array(weights), numbers.alpha, numbers.beta, numbers.gamma, numbers.delta
        )

    @property
    def _code(self) -> str:
        return ALIASES.get(self.language, self.language)

    @property
    def _modules(self) -> tuple[str, ...]:
        return modules(self.language) if self.modules == "default" else (*self.modules.split("+"),)

    def _request(self, references: list[str], hypothesis: str) -> str:
        """A line that METEOR understands as it would the same texts in files.

        Its separator is `|||`. With `norm`, bars are tokens of their own, so moving them apart
        changes nothing; without, three and more are replaced by a character that no text has.
        A carriage return inside a segment, which METEOR takes for a line end, is a space. Spaces
        and control characters at either end go, as METEOR strips what it reads here.
        """
        parts = [text.replace("\r", " ") for text in (*references, hypothesis)]
        if self.norm:
            parts = [_TOUCHING_BARS.sub("| ", text) for text in parts]
        else:
            parts = [_RUN_OF_BARS.sub(lambda run: _STAND_IN * len(run[0]), text) for text in parts]
        # The space at the end keeps an empty hypothesis from being no hypothesis.
        return " ||| ".join(("SCORE", *parts)) + " "


def _line_seconds(hypothesis: str, reference: str) -> float:
    """About how long one core needs for a line and one reference."""
    # how words and signs begin: what METEOR may find alike by their stems
    own, other = (
        Counter(word[:3] for word in _WORDS.findall(text.lower()))
        for text in (hypothesis, reference)
    )
    words = own.total() + other.total()
    matches = sum(count * other[word] for word, count in own.items())
    return WORD_SECONDS * words + MATCH_SECONDS * matches * max(1.0, words / LONG)


def _perfect(rows: Array) -> Array:
    """Segments matched word by word in one chunk; their chunk is not fragmentation.

    METEOR leaves it out of its sums (`MeteorStats.addStats`), which makes their rows additive.
    """
    tested = rows[:, 4:CHUNKS:2].sum(axis=1)
    referred = rows[:, 5:CHUNKS:2].sum(axis=1)
    return (tested == rows[:, 0]) & (referred == rows[:, 1]) & (rows[:, CHUNKS] == 1.0)


@compiled
def _meteor(
    sums: Array, weights: Array, alpha: float, beta: float, gamma: float, delta: float
) -> Array:
    """METEOR of (23, N) sums, as `MeteorScorer.computeMetrics` has it; 0 where nothing matches."""
    rest = 1.0 - delta
    given = delta * (sums[0] - sums[2]) + rest * sums[2]
    wanted = delta * (sums[1] - sums[3]) + rest * sums[3]
    matched_given = np.zeros(sums.shape[1])
    matched_wanted = np.zeros(sums.shape[1])
    for m in range(len(weights)):
        matched_given = matched_given + sums[4 + 4 * m] * weights[m] * delta
        matched_wanted = matched_wanted + sums[5 + 4 * m] * weights[m] * delta
    for m in range(len(weights)):
        matched_given = matched_given + sums[6 + 4 * m] * weights[m] * rest
        matched_wanted = matched_wanted + sums[7 + 4 * m] * weights[m] * rest
    scores = np.zeros(sums.shape[1])
    for i in range(len(scores)):
        if matched_given[i] > 0 and matched_wanted[i] > 0:
            precision = matched_given[i] / given[i]
            recall = matched_wanted[i] / wanted[i]
            mean = 1.0 / ((1.0 - alpha) / precision + alpha / recall)
            fragmentation = sums[20, i] / ((sums[21, i] + sums[22, i]) / 2.0)
            penalty = gamma * math.pow(fragmentation, beta)
            scores[i] = max(mean * (1.0 - penalty), 0.0)
    return scores
