"""What `sigtest metrics` tells can be asked for as it stands."""

import contextlib
import re
from dataclasses import fields

import pytest

from sigtest.cli.compare import listing
from sigtest.errors import UnavailableError
from sigtest.metrics import METRICS
from sigtest.significance import TESTS


@pytest.mark.parametrize("name", METRICS)
def test_every_option_is_listed_with_its_meaning(name):
    part = re.search(rf"^  {re.escape(name)}\n(.*?)(?=^  \S|^$)", listing(), re.M | re.S)[1]
    for field in fields(METRICS[name]):
        assert re.search(rf"^      {field.name}=.*\n        \S", part, re.M), field.name


@pytest.mark.parametrize("name", TESTS)
def test_every_test_is_listed_with_its_null_hypothesis(name):
    part = re.search(rf"^  {name}\n(.*?)(?=^  \S|^$)", listing(), re.M | re.S)[1]
    assert f"\n    Null hypothesis: {TESTS[name].null}.\n" in part


@pytest.mark.parametrize("metric", ["bleu", "nist"])
def test_every_tokenizer_that_is_listed_can_be_asked_for(metric):
    for tokenizer in METRICS[metric].choices()["tokenize"]:
        assert tokenizer in listing()
        with contextlib.suppress(UnavailableError):  # its packages are not here; its name is known
            METRICS[metric](tokenize=tokenizer)


def test_pictures_say_what_they_are_of():
    assert "(of sigtest )" not in listing()
