"""The examples in docstrings of the significance modules, run."""

import doctest
import importlib
import pkgutil

import pytest

from sigtest import significance
from sigtest.significance import CORRECTIONS, corrections

MODULES = [module.name for module in pkgutil.iter_modules(significance.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_the_code_does(name):
    module = importlib.import_module(f"{significance.__name__}.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("correction", CORRECTIONS.values(), ids=list(CORRECTIONS))
def test_every_correction_has_theory_and_an_example(correction):
    theory, _, example = (correction.adjust.__doc__ or "").partition("Examples:")
    assert len(theory.split()) >= 30
    run, names = doctest.DocTestRunner(), vars(corrections).copy()
    run.run(doctest.DocTestParser().get_doctest(example, names, correction.name, None, None))
    assert run.tries >= 1
    assert run.failures == 0
