import doctest

import pytest

import sigtest
from sigtest import notebook

REFERENCES = ["a b c d e", "f g h i j", "k l m n o"]
SYSTEMS = {"A": ["a b c d e", "f g h i j", "k l m n"], "B": ["a b c d", "x g h i", "k l"]}


def test_the_example_in_the_documentation_runs():
    tried = doctest.testmod(notebook, extraglobs={"sigtest": sigtest})
    assert tried.attempted > 2
    assert tried.failed == 0


def test_public_names_are_sorted_and_exist():
    assert sigtest.__all__ == sorted(sigtest.__all__)
    assert all(getattr(sigtest, name) is not None for name in sigtest.__all__)


def test_one_reference_set_may_be_given_bare():
    bare = sigtest.compare(REFERENCES, SYSTEMS)
    assert isinstance(bare, sigtest.Report)
    assert bare == sigtest.compare([REFERENCES], SYSTEMS)


def test_missing_references_and_several_sets_are_kept():
    report = sigtest.compare([[None, *REFERENCES[1:]], REFERENCES], SYSTEMS)
    assert report.testset.references == 2


def test_scores_may_be_compared_alone():
    scores = {"A": {"comet": [0.9, 0.8, 0.7]}, "B": {"comet": [0.6, 0.7, 0.5]}}
    report = sigtest.compare([], {}, scores=scores, metrics=["scores:of=comet"])
    assert report.pairs[0].difference == pytest.approx(0.2)


def test_a_string_for_references_is_refused():
    with pytest.raises(sigtest.InputError, match="list"):
        sigtest.compare("abc", SYSTEMS)


def test_unknown_choices_are_named():
    with pytest.raises(sigtest.RecipeError, match="Did you mean 'metrics'"):
        sigtest.compare(REFERENCES, SYSTEMS, metric=["bleu"])


def test_progress_is_told():
    told = []
    sigtest.compare(REFERENCES, SYSTEMS, progress=lambda *step: told.append(step))
    assert {phase for phase, _, _ in told} == {"statistics", "resampling", "report"}
