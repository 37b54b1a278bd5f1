"""A small answer of each kind of question but comparisons."""

import random
from pathlib import Path

from sigtest.kinds import KINDS, FormFile
from sigtest.plans import compute as plans
from sigtest.race import compute as race

EXAMPLES = Path(__file__).parents[3] / "examples"
CAMPAIGN = EXAMPLES / "campaign" / "judgements.tsv"


def judged(**choices):
    people = KINDS["human-evaluations"]
    file = FormFile("judgements", CAMPAIGN.name, CAMPAIGN.read_bytes())
    return people.compute(people.parse(choices, [file]))


def evaluated(**choices):
    people = {"system": {"aspen": 0.9, "birch": 0.7, "cedar": 0.4, "elm": 0.1}}
    metrics = {
        "bleu": {"system": {"aspen": 30, "birch": 29, "cedar": 20, "elm": 24}},
        "ter": {"system": {"aspen": 40, "birch": 42, "cedar": 60, "elm": 71},
                "higher": False},
    }  # fmt: skip
    meta = KINDS["metric-evaluations"]
    return meta.compute(meta.parse({"human": {"scores": people}, "metrics": metrics, **choices}))


def studied():
    pairs = [
        {"a": a, "b": b, "metric": "bleu", "test": test, "p_greater": 0.01, "p_less": 0.995}
        for a, b in (("aspen", "birch"), ("aspen", "cedar"), ("birch", "cedar"))
        for test in ("bootstrap", "my_own")
    ]
    judged = [
        {"a": own["a"], "b": own["b"], "criterion": criterion, "p_greater": 0.2, "p_less": 0.8}
        for own in pairs[::2]
        for criterion in ("adequacy", "fluency")
    ]
    accuracy = KINDS["test-accuracy"]
    return accuracy.compute(
        accuracy.parse({"comparison": {"pairs": pairs}, "human": {"pairs": judged}})
    )


def planned():
    rng = random.Random(7)
    systems = {
        name: {"scores": {"comet": [rng.random() for _ in range(60)]}} for name in ("a", "b", "c")
    }
    return plans.compute(plans.parse({"comparison": {"systems": systems, "metrics": ["scores"]},
                                      "corrected": True}))  # fmt: skip


def raced():
    rng = random.Random(7)
    shares = {"a": 0.9, "b": 0.5, "c": 0.4}
    scores = {name: [int(rng.random() < p) for _ in range(90)] for name, p in shares.items()}
    return race.compute(race.parse({"scores": scores, "scale": [0, 1]}))


REPORTS = {
    "human-evaluations": lambda: judged(quality={"test": "welch"}, correction="holm"),
    "metric-evaluations": evaluated,
    "test-accuracy": studied,
    "plans": planned,
    "sequential-comparisons": raced,
}
