"""Requests with very many flaws cost little: some are told, and each entry is looked at once."""

import pytest
from pydantic import ValidationError

from app.models import WebhookRequest
from sigtest.errors import RecipeError
from sigtest.requests.comparisons import ComparedOnSeveralRequest, EntryRequest
from sigtest.requests.model import MOST_FLAWS, Distinct
from sigtest.requests.notes import Notes
from sigtest.requests.people import (
    AccuracyRequest,
    HumanRequest,
    MetricEvaluationRequest,
    MetricRequest,
)


class Compared:
    """A value that counts comparisons."""

    count = 0

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return isinstance(other, Compared) and other.name == self.name


def test_repetition_is_looked_for_once():
    Distinct()._check(tuple(map(Compared, range(2000))))
    assert Compared.count < 2000


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Notes, "tags", [1]),
        (WebhookRequest, "events", ["x"]),
        (HumanRequest, "criteria", [1]),
        (AccuracyRequest, "alphas", [7]),
        (MetricEvaluationRequest, "statistics", ["x"]),
        (MetricEvaluationRequest, "tests", ["x"]),
        (EntryRequest, "systems", [1]),
        (EntryRequest, "runs", [1]),
        (MetricRequest, "pairs", [1]),
        (ComparedOnSeveralRequest, "testsets", [1]),
    ],
)
def test_a_list_is_left_at_its_first_wrong_entry(model, field, value):
    with pytest.raises(ValidationError) as raised:
        model.model_validate({field: 1000 * value})
    flaws = [own for own in raised.value.errors() if own["loc"] == (field, 0)]
    assert len(flaws) == 1
    assert len(raised.value.errors()) < 5


def test_some_of_very_many_flaws_are_told():
    with pytest.raises(RecipeError, match="Unknown field 'a0'") as raised:
        HumanRequest.of({f"a{i}": 1 for i in range(1000)})
    assert len(raised.value.others) == MOST_FLAWS - 1
