"""What to compute from judgements: every choice of a request, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sigtest.comparison.recipe import DEFAULT_SEED, MAX_SEED
from sigtest.data.compound import Members, Renames, Span, Texts, checked, with_defaults
from sigtest.data.fields import Choice, Field, Flag, Number, Text, Whole
from sigtest.errors import RecipeError
from sigtest.questions.human.files.columns import JUDGEMENTS
from sigtest.significance.corrections import ALONE

STANDARDISE = ("annotator", "annotator_no_refs", "none")
TESTS = ("rank_sum", "signed_rank", "approximate_randomization")
RANKING_TEST = "sign"
QUALITY_TESTS = ("paired_t", "signed_rank", "welch", "mann_whitney")
UNTESTABLE = ("drop", "keep")
AGGREGATES = ("segment", "document")
DOMAINS = ("micro",)
MAX_RESAMPLES = 99_999
MAX_CATEGORIES = 100


@dataclass(frozen=True)
class Quality:
    """Which annotators count.

    Attributes:
        test: Gives each annotator's p-value.
        threshold: P-value below which an annotator is careful.
        min_pairs: Pairs that the test needs.
        untestable: Whether annotators with fewer pairs are left out (`drop`) or stay (`keep`).
    """

    test: str = "paired_t"
    threshold: float = 0.05
    min_pairs: int = 3
    untestable: str = "drop"

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"{self.test}<{self.threshold:g},{self.min_pairs},{self.untestable}"


@dataclass(frozen=True)
class Longitudinal:
    """Four systems of one language pair, as the judgements name them.

    Attributes:
        best_old: The best system of the old test set.
        best_new: The best system of the new one.
        current_old: One system of today on the old test set.
        current_new: The same on the new one.
    """

    best_old: str
    best_new: str
    current_old: str
    current_new: str

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"({self.best_old},{self.best_new},{self.current_old},{self.current_new})"


@dataclass(frozen=True)
class Choices:
    """What was asked for; None is what the judgements decide.

    Attributes:
        input: Format of the files; recognised where none is named.
        languages: Language pair, where the files hold several.
        scale: Lowest and highest score.
        standardise: `annotator`, `annotator_no_refs` or `none`.
        quality: Quality control; every annotator counts where there is none.
        criteria: In the order in which they decide; all there are where none is named.
        test: Significance test.
        aggregate: What one observation of a test is.
        alpha: Level of decisions.
        correction: Correction for multiple comparisons.
        aliases: New names of systems by the names in the files.
        domains: How segments of several domains are averaged: all alike.
        longitudinal: By name of the language pair.
        categories: Of agreement.
        resamples: Of approximate randomization and of the intervals of gains.
        seed: Of all draws.
        show_annotators: Whether the report names annotators.
    """

    input: str | None = None
    languages: str | None = None
    scale: tuple[float, float] | None = None
    standardise: str | None = None
    quality: Quality | None = None
    criteria: tuple[str, ...] = ()
    test: str | None = None
    aggregate: str = "segment"
    alpha: float = 0.05
    correction: str = "none"
    aliases: Mapping[str, str] = field(default_factory=dict)
    domains: str = "micro"
    longitudinal: Mapping[str, Longitudinal] = field(default_factory=dict)
    categories: int = 5
    resamples: int = 9_999
    seed: int = DEFAULT_SEED
    show_annotators: bool = False

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Choices:
        """Check the choices of a JSON request; what is left out has its default.

        Raises:
            RecipeError: A field that is unknown, of the wrong type or out of range.
        """
        return cls(**checked(FIELDS, request, ("judgements",)))


@dataclass(frozen=True)
class Years(Field):
    """Four systems of one language pair, or of several by name."""

    metavar = "FIELD=SYSTEM,..."

    def check(self, value: object, path: str) -> dict[str, Longitudinal]:
        if not isinstance(value, Mapping) or not value:
            raise RecipeError(f"{path} must be an object with four systems.", field=path)
        if not all(isinstance(entry, Mapping) for entry in value.values()):
            return {"": FOUR.check(value, path)}
        return {pair: FOUR.check(entry, f"{path}.{pair}") for pair, entry in value.items()}

    @property
    def form(self) -> dict[str, Any]:
        several = {"type": "object", "additionalProperties": FOUR.form, "minProperties": 1}
        return {"anyOf": [FOUR.form, several]}

    def read(self, words: Sequence[str]) -> object:
        return FOUR.read(words)


FOUR = Members(
    "longitudinal",
    "four systems of one language pair",
    members=(
        Text("best_old", "the best system of the old test set"),
        Text("best_new", "the best system of the new one"),
        Text("current_old", "one system of today on the old test set"),
        Text("current_new", "the same on the new one"),
    ),
    make=Longitudinal,
    complete=True,
)
QUALITY = Members(
    "quality",
    f"quality control, which leaves careless annotators out: a test ({', '.join(QUALITY_TESTS)}), "
    "and threshold, min_pairs, untestable",
    members=with_defaults(
        (
            Choice(
                "test", "gives each annotator's p-value",
                known=QUALITY_TESTS, what="test of annotators",
            ),
            Number("threshold", "p-value below which an annotator is careful"),
            Whole("min_pairs", "pairs that the test needs", low=2, high=1_000_000),
            Choice(
                "untestable", "what becomes of annotators with fewer pairs",
                known=UNTESTABLE, what="treatment of untestable annotators",
            ),
        ),
        Quality(),
    ),
    make=Quality,
)  # fmt: skip
FIELDS = with_defaults(
    (
        Text("input", "format of the files; recognised where none is named"),
        Text("languages", "language pair, where the files hold several"),
        Span("scale", "lowest and highest score"),
        Choice(
            "standardise", "whether scores are standardised by annotator; by default they are "
            "where that is possible",
            known=STANDARDISE, what="standardisation",
        ),
        QUALITY,
        Texts(
            "criteria", "what was judged, in the order in which it decides; default all",
            option="criterion", what="criterion", reserved="combined",
        ),
        Choice(
            "test", "what compares two systems; by default rank_sum, for rankings sign",
            known=(*TESTS, RANKING_TEST), what="significance test",
        ),
        Choice(
            "aggregate", "what counts as one observation in the test",
            known=AGGREGATES, what="unit of aggregation",
        ),
        Number("alpha", "how often a claim may be false where nothing differs", high=0.5),
        Choice(
            "correction", "of p-values, for the number of pairs that are compared",
            known=ALONE, what="correction",
        ),
        Renames("aliases", "another name for a system of the files", option="alias"),
        Choice(
            "domains", "how segments of several domains are averaged",
            known=DOMAINS, what="average over domains",
        ),
        Years(
            "longitudinal", "gain over the years: best_old=A,best_new=B,current_old=C,"
            "current_new=D; in a request also several such objects by name",
        ),
        Whole(
            "categories", "how many classes scores are sorted into, to measure agreement",
            low=2, high=MAX_CATEGORIES,
        ),
        Whole(
            "resamples", "how many draws approximate randomization and gains take",
            low=1, high=MAX_RESAMPLES,
        ),
        Whole("seed", "number from which every draw follows", high=MAX_SEED),
        Flag("show_annotators", "name annotators in the report"),
    ),
    Choices(),
)  # fmt: skip
EVALUATION = {"type": "string", "description": "Id of a finished human evaluation, for all else."}
# Fields that say what becomes of judgements: other kinds ask them, too, beside fields of their own.
JUDGING = (
    "input", "languages", "scale", "standardise", "quality", "criteria", "aggregate", "aliases",
)  # fmt: skip
JUDGING_FIELDS = tuple(field for field in FIELDS if field.name in JUDGING)


def people_schema(description: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of the field of another kind's request that says what people judge.

    Args:
        description: What it says.
        own: Schemas of the fields that human evaluations do not have, by name.
    """
    fields = {field.name: field.schema for field in FIELDS}
    return {
        "type": "object",
        "description": description,
        "properties": {**own, "judgements": JUDGEMENTS, "evaluation": EVALUATION, **fields},
        "additionalProperties": False,
        "minProperties": 1,
    }
