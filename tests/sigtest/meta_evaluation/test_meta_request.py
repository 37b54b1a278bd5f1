"""What a request of metric evaluations may say, and every refusal."""

import copy
import json
import math
from typing import Any

import pytest
from scored import SYSTEMS, request

from sigtest.errors import InputError, LengthError, RecipeError, SigtestError
from sigtest.meta_evaluation.question import MetricQuestion, parse
from sigtest.meta_evaluation.scored import scored_set
from sigtest.report import decode, encode
from sigtest.requests.people import MetricSet

REFUSED = [
    ("metrix", {}, RecipeError, "Did you mean 'metrics'"),
    ("human", {"evaluation": "abc"}, InputError, "only a service can look up"),
    ("human/scores/system/Aspen", math.nan, InputError, "system 'Aspen': NaN is not a finite"),
    ("human/scores/system/Aspen", math.inf, InputError, "not a finite number"),
    ("metrics/BLEU", 3, InputError, "metrics.BLEU must be an object"),
    ("metrics/BLEU", {}, InputError, "metric BLEU: neither system nor segment scores"),
    ("metrics/BLEU/sytem", {}, RecipeError, "Did you mean 'system'"),
    ("metrics/BLEU/higher", 1, InputError, "higher must be true or false"),
    ("metrics/BLEU/segment/Cedar/4", "x", InputError, "segment 5: 'x' is not a finite"),
    ("metrics/BLEU/segment/Cedar", "no list", InputError, "must be a list"),
    ("metrics/a<b", {"system": {}}, InputError, "contains '<'"),
    ("group", "item", RecipeError, "needs the scores of segments"),
    ("statistics", ["pearson", "pearson"], RecipeError, "names 'pearson' 2 times"),
    ("statistics", [], RecipeError, "at least one"),
    ("exclude_systems", ["Aspin"], RecipeError, "Did you mean 'Aspen'"),
    ("exclude_systems", list(SYSTEMS[:4]), InputError, "only 2 of the systems"),
    ("correction", "tukey", RecipeError, "Unknown correction"),
    ("baseline", "BLUE", RecipeError, "Did you mean 'BLEU'"),
    ("sets", {"x": {}}, InputError, "human and metrics, or sets of them"),
]


@pytest.mark.parametrize(("path", "value", "kind", "said"), REFUSED)
def test_refused(path, value, kind, said):
    body = request()
    *parents, last = path.split("/")
    place: Any = body
    for name in parents:
        place = place[name]
    place[int(last) if isinstance(place, list) else last] = value
    with pytest.raises(SigtestError) as caught:
        parse(body)
    assert isinstance(caught.value, kind)
    assert said in caught.value.message
    assert caught.value.field


def test_ragged_lists_are_refused_with_the_system():
    body = request()
    body["metrics"]["BLEU"]["segment"]["Daisy"].pop()
    with pytest.raises(LengthError, match=r"metric BLEU, system 'Daisy': 29 .* has 30") as caught:
        parse(body)
    assert caught.value.system == "Daisy"


def test_disjoint_systems_are_listed_from_both_sides():
    body = request()
    body["metrics"]["BLEU"] = {"system": {"Gorse": 1.0, "Holly": 2.0, "Ivy": 3.0}}
    with pytest.raises(InputError) as caught:
        parse(body)
    assert "share no system" in caught.value.message
    assert all(name in caught.value.message for name in (*SYSTEMS, "Gorse", "Holly", "Ivy"))
    assert caught.value.field == "metrics.BLEU"


def test_systems_whose_scores_are_missing_do_not_count_as_shared():
    body = request()
    for name in SYSTEMS[:4]:
        body["metrics"]["TER"]["system"][name] = None
    with pytest.raises(InputError, match="Metric TER and the human scores share the scores of 2"):
        parse(body)


def test_williams_needs_four_systems_and_pearson_without_groups():
    few = request(exclude_systems=list(SYSTEMS[:3]))
    assert parse(few).choices.tests == ("perm_both",)
    for body, said in (
        ({**few, "tests": ["williams"]}, "at least 4 systems"),
        (request(statistics=["kendall"], tests=["williams"]), "ask for the statistic pearson"),
        (request(level="segment", group="item", tests=["williams"]), "not means of many"),
    ):
        with pytest.raises(RecipeError, match=said):
            parse(body)


def test_what_segments_are_needed_for_is_refused_without_them():
    body = request()
    for own in (body["human"]["scores"], *body["metrics"].values()):
        del own["segment"]
    assert "soft_accuracy" not in parse(body).choices.statistics
    with pytest.raises(RecipeError, match="soft_accuracy needs segment scores"):
        parse({**body, "statistics": ["soft_accuracy"]})
    with pytest.raises(InputError, match=r"no segment scores.*level segment"):
        parse({**body, "level": "segment"})
    with pytest.raises(RecipeError, match="accuracy_ties calibrates ties"):
        parse(request(level="segment", group="system", statistics=["accuracy_ties"]))


def test_segments_may_be_named():
    body = request(segments=4, level="segment")
    listed = parse(body)
    named = copy.deepcopy(body)
    for part in (named["human"]["scores"], named["metrics"]["BLEU"]):
        part["segment"] = {
            name: {str(i + 1): row[i] for i in (2, 0, 3, 1)}
            for name, row in part["segment"].items()
        }
    assert parse(named).key == listed.key
    named["human"]["scores"]["segment"]["Aspen"]["9"] = 1.0
    with pytest.raises(InputError, match=r"'Aspen': segment '9' is not in the test set"):
        parse(named)


def test_ids_from_0_are_read_as_segments_from_1_with_a_warning():
    body = request(segments=4, level="segment")
    listed = parse(body)
    body["human"]["scores"]["segment"] = {
        name: {str(i): value for i, value in enumerate(row)}
        for name, row in body["human"]["scores"]["segment"].items()
    }
    found = parse(body).sets[0]
    assert (found.human_segment == listed.sets[0].human_segment).all()
    assert "id 0 is read as segment 1" in found.notes[0].message


def test_plain_tables_of_people_are_systems_or_segments():
    body = request()
    scores = body["human"]["scores"]
    systems = parse({**body, "human": {"scores": scores["system"]}})
    assert systems.sets[0].human_segment is None
    segments = parse({**body, "human": {"scores": scores["segment"]}})
    expected = parse(body).sets[0].human_system
    assert segments.sets[0].human_system == pytest.approx(expected, rel=1e-12)


def test_null_is_a_missing_score_and_nan_is_not():
    body = request()
    body["metrics"]["BLEU"]["segment"]["Aspen"][3] = None
    scores = parse(body).sets[0].metrics[1].segment
    assert math.isnan(scores[0, 3])
    body["metrics"]["BLEU"]["segment"]["Aspen"][3] = math.nan
    with pytest.raises(InputError, match="metric BLEU, system 'Aspen', segment 4"):
        parse(body)


def test_systems_without_judgements_are_left_out_and_named():
    body = request()
    body["metrics"]["BLEU"]["system"]["Gorse"] = 1.0
    assert parse(body).sets[0].ignored == ("Gorse",)


def test_key_is_of_content_and_choices():
    first = parse(request())
    assert parse(request()).key == first.key
    keys = {
        first.key,
        parse(request(seed=2)).key,
        parse(request(alpha=0.01)).key,
        parse(request(baseline="TER")).key,
        parse(request(exclude_systems=["Fir"])).key,
        parse({"sets": {"x": {k: request()[k] for k in ("human", "metrics")}}}).key,
    }
    assert len(keys) == 6
    body = request()
    body["metrics"]["BLEU"]["segment"]["Aspen"][0] += 1e-12
    assert parse(body).key != first.key


def test_what_is_stored_is_loaded_as_it_was():
    body = request(level="segment", group="item", tests=["perm_both"])
    body["metrics"]["BLEU"]["segment"]["Aspen"][3] = None
    body["metrics"]["BLEU"]["pairs"] = [{"a": "Aspen", "b": "Birch", "p_greater": 0.25}]
    asked = parse(body)
    stored = json.loads(json.dumps(encode(asked), allow_nan=False))
    loaded = decode(MetricQuestion, stored)
    assert loaded.key == asked.key
    assert loaded.choices == asked.choices
    assert encode(loaded) == encode(asked)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ({"a": "Aspen", "b": "Birch", "p_greater": 1.5}, "number from 0 to 1"),
        ({"a": "Aspen", "b": "Birch"}, "number from 0 to 1"),
        ({"a": "Aspen", "b": "Birch", "p": 0.5}, "Unknown field of metrics.BLEU.pairs"),
        ({"b": "Birch", "p_greater": 0.5}, "a is missing; it must be the name of a system"),
        ({"a": "<", "b": "Birch", "p_greater": 0.5}, "must be the name of a system"),
        ("Aspen", "must be an object"),
    ],
)
def test_p_values_of_metrics_are_checked(pair, said):
    body = request()
    body["metrics"]["BLEU"]["pairs"] = [pair]
    with pytest.raises(SigtestError, match=said):
        parse(body)


def test_baseline_is_bleu_where_there_is_one():
    assert parse(request()).choices.baseline == "BLEU"
    body = request()
    body["metrics"]["BLEURT-20"] = body["metrics"].pop("BLEU")
    assert parse(body).choices.baseline is None


class Counting(str):
    """A name that counts how often it is looked up or compared."""

    steps = 0

    def __hash__(self) -> int:
        Counting.steps += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Counting.steps += 1
        return super().__eq__(other)


@pytest.mark.parametrize("excluded", [0.0, 0.4])
@pytest.mark.parametrize("shared", [0.05, 0.5, 1.0])
def test_steps_to_match_systems_grow_as_their_number(shared, excluded):
    def steps(size: int) -> int:
        people = [Counting(f"s{i}") for i in range(size)]
        first = round(size * (1 - shared))
        metric = [Counting(f"s{i}") for i in range(first, first + size)]
        body = {
            "human": {"scores": {"system": dict.fromkeys(people, 0.5)}},
            "metrics": {"BLEU": {"system": {name: float(i) for i, name in enumerate(metric)}}},
        }
        wanted = MetricSet.of(body)
        Counting.steps = 0
        scored_set(wanted, "", "", people[: round(size * excluded * (1 - shared))])
        return Counting.steps

    assert steps(800) < 3 * steps(400)
