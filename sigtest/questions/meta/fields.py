"""What a request of a metric evaluation says besides scores: each field once, for all uses."""

from __future__ import annotations

from typing import Any, get_args

from sigtest.comparison.recipe import DEFAULT_SEED, MAX_RESAMPLES, MAX_SEED
from sigtest.data.compound import Some, Texts, object_schema
from sigtest.data.fields import Choice, Field, Flag, Number, Text, Whole
from sigtest.questions.human.request.choices import people_schema
from sigtest.questions.meta.asked import Group, Level
from sigtest.significance import ALTERNATIVES
from sigtest.significance.corrections import ALONE

STATISTICS = ("pearson", "spearman", "kendall", "accuracy", "soft_accuracy", "accuracy_ties")
TESTS = ("williams", "perm_both")
LEVELS: tuple[Level, ...] = get_args(Level)
GROUPS: tuple[Group, ...] = get_args(Group)

LEVEL = Choice("level", "what has the scores that are compared with people's", default="system",
               known=LEVELS, what="level")  # fmt: skip
GROUP = Choice(
    "group", "segment level: over all cells at once, or the mean over segments (item) or systems",
    default="none", known=GROUPS, what="grouping",
)  # fmt: skip
EXCLUDE = Texts("exclude_systems", "systems to leave out", option="exclude", what="system")
ALTERNATIVE = Choice("alternative", "the claim about the first metric of a pair", default="greater",
                     known=ALTERNATIVES, what="alternative")  # fmt: skip
ABSOLUTE = Flag("absolute", "correlations count without their sign", default=False)
CORRECTION = Choice("correction", "for all pairs of one statistic and test, over all sets",
                    default="holm", known=ALONE, what="correction")  # fmt: skip
FIELDS: tuple[Field, ...] = (
    LEVEL,
    GROUP,
    Some("statistics", "what is reported of every metric; by default all that the scores allow",
         option="statistic", known=STATISTICS, what="statistic"),
    Some("tests", "what compares two metrics; by default all that apply", option="test",
         known=TESTS, what="significance test"),
    ALTERNATIVE,
    ABSOLUTE,
    EXCLUDE,
    Number("alpha", "how often a claim may be false where nothing differs; intervals have "
           "level 1 - alpha", default=0.05),
    CORRECTION,
    Whole("resamples", "how many exchanges are drawn where not all are counted; by default as "
          "many as the correction needs", low=1, high=MAX_RESAMPLES),
    Whole("seed", "number from which every draw follows", default=DEFAULT_SEED, high=MAX_SEED),
    Text("baseline", "the metric that others are asked to beat; by default BLEU where it is there"),
)  # fmt: skip

NUMBER = {"type": ["number", "null"]}
SYSTEM = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": NUMBER,
    "description": "A score by name of the system.",
}
SEGMENT = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "anyOf": [
            {"type": "array", "items": NUMBER},
            {"type": "object", "additionalProperties": NUMBER},
        ]
    },
    "description": "Scores of segments by name of the system: a list, or an object by the number "
    "of the segment, from 1; null is a missing score.",
}
PAIR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "string"},
        "p_greater": {"type": "number", "minimum": 0, "maximum": 1},
        "p_less": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["a", "b", "p_greater"],
    "additionalProperties": False,
}
METRIC: dict[str, Any] = {
    "type": "object",
    "properties": {
        "system": SYSTEM,
        "segment": SEGMENT,
        "higher": {
            "type": "boolean",
            "default": True,
            "description": "False for error rates.",
        },
        "pairs": {
            "type": "array",
            "items": PAIR,
            "description": "One-sided p-values of a significance test of corpus scores, for "
            "soft_accuracy; otherwise they come from means of segment scores.",
        },
    },
    "additionalProperties": False,
}
LEVELLED: dict[str, Any] = {
    "type": "object",
    "properties": {"system": SYSTEM, "segment": SEGMENT},
    "additionalProperties": False,
    "minProperties": 1,
}
HUMAN = people_schema(
    "`scores` of systems, of segments, or both; or `judgements` and whatever else a request of "
    "/v1/human-evaluations has; or the id of one, as `evaluation`.",
    {"scores": {"anyOf": [LEVELLED, SYSTEM, SEGMENT]}},
)
METRICS = {
    "type": "object",
    "properties": {"comparison": {"anyOf": [{"type": "string"}, METRIC]}},
    "additionalProperties": METRIC,
    "minProperties": 1,
    "description": "Scores by label of the metric; or the id of a finished comparison, as "
    "`comparison`, for those of its metrics.",
}


def schema() -> dict[str, Any]:
    """JSON schema of a request."""
    content = {"human": HUMAN, "metrics": METRICS}
    own = {**content, "exclude_systems": EXCLUDE.schema}
    whole = object_schema(FIELDS)
    sets = {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": own,
            "required": list(content),
            "additionalProperties": False,
        },
        "minProperties": 1,
        "description": "Instead of human and metrics: both by name of the set, such as en-de.",
    }
    whole["properties"] = {**content, "sets": sets, **whole["properties"]}
    return whole
