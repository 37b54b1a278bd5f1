"""Reports of twelve recipes on one test set and on two, byte for byte what they were.

Together the recipes have every metric that needs no Java, every test, alternative and correction,
and every other choice that a report depends on.
"""

from typing import Any

import pytest
from computed import report_of
from corpus import content
from hashes import require_unchanged

RANDOMIZATION, BOOTSTRAP = "approximate_randomization", "bootstrap"
PAIRED, PRINTED = "paired_bootstrap", "riezler_maxwell_bootstrap"
RECIPES: dict[str, dict[str, Any]] = {
    "defaults": {"metrics": ["bleu", "chrf", "ter"], "tests": [RANDOMIZATION, BOOTSTRAP]},
    "options": {
        "metrics": [
            {"name": "bleu", "tokenize": "intl", "lowercase": True},
            {"name": "bleu", "smooth_method": "add-k", "smooth_value": 1.5, "max_ngram_order": 3},
            "chrf++",
            "nist",
        ],
        "tests": [RANDOMIZATION, PAIRED],
        "correction": "bonferroni",
        "resamples": 999,
        "exact": "never",
        "seed": 0,
    },
    "max_t": {
        "metrics": ["bleu:tokenize=char", "scores:of=quality"],
        "tests": [BOOTSTRAP],
        "correction": "max_t",
        "resamples": 1999,
    },
    "tukey": {
        "metrics": ["ter:normalized=true,asian_support=true", "chrf:whitespace=true"],
        "correction": "tukey",
        "resamples": 1499,
    },
    "baseline": {
        "metrics": [
            "bleu:smooth_method=floor,effective_order=true,max_ngram_order=9",
            "scores:of=gain",
        ],
        "tests": [RANDOMIZATION, BOOTSTRAP, PAIRED, PRINTED],
        "alternative": "greater",
        "correction": "sidak",
        "pairs": {"baseline": "gamma"},
        "resamples": 4097,
    },
    "documents": {
        "metrics": [
            "nist:tokenize=intl,lowercase=true,max_ngram_order=4",
            "scores:of=smooth",
            "chrf:eps_smoothing=true,char_order=10,word_order=5",
        ],
        "tests": [RANDOMIZATION, BOOTSTRAP, PRINTED],
        "alternative": "less",
        "correction": "benjamini_hochberg",
        "unit": "document",
        "resamples": 2500,
    },
    "strata": {
        "metrics": [
            "ratio:of=edits,higher=false",
            "fscore:of=relations",
            "ter:no_punct=true,case_sensitive=true",
        ],
        "tests": [BOOTSTRAP, PAIRED],
        "alternative": "greater",
        "correction": "benjamini_yekutieli",
        "stratified": True,
        "resamples": 1001,
    },
    "exact": {
        "metrics": ["scores:of=accuracy", "ter", "scores:of=gain", "bleu:max_ngram_order=9"],
        "correction": "none",
        "resamples": 1234,
    },
    "replicas": {
        "metrics": ["bleu", "ter"],
        "tests": [RANDOMIZATION, BOOTSTRAP],
        "correction": "hochberg",
        "resamples": 1500,
    },
    "replicas in documents": {
        "metrics": ["nist", "chrf:char_order=4,word_order=1,beta=1,lowercase=true"],
        "tests": [RANDOMIZATION, PAIRED],
        "alternative": "less",
        "unit": "document",
        "stratified": True,
        "alpha": 0.01,
        "resamples": 1777,
    },
    "max_t against a baseline": {
        "metrics": ["bleu:max_ngram_order=2,smooth_method=none", "fscore:of=relations"],
        "tests": [BOOTSTRAP],
        "alternative": "less",
        "correction": "max_t",
        "pairs": {"baseline": "beta"},
        "unit": "document",
        "alpha": 0.2,
        "resamples": 3001,
    },
    "weights": {
        "metrics": ["scores:of=weighted", "ratio:of=edits", "bleu:tokenize=zh"],
        "tests": [PRINTED, RANDOMIZATION],
        "correction": "hochberg",
        "exact": "never",
        "stratified": True,
        "seed": 2**64 - 1,
        "resamples": 2048,
    },
}
REPLICAS = {"replicas": 2, "replicas in documents": 3}
POOLED = {
    "max_t",
    "baseline",
    "strata",
    "exact",
    "replicas in documents",
    "max_t against a baseline",
}
OF_SEVERAL = {"max_t": "benjamini_hochberg", "tukey": "holm"}  # max_t and tukey: of one set only


def of_one(name: str) -> dict[str, Any]:
    """The request for a recipe on test set 1."""
    return {"unit": "segment", **content(1, REPLICAS.get(name, 0)), **RECIPES[name]}


def of_two(name: str) -> dict[str, Any]:
    """The request for a recipe on both test sets."""
    recipe = dict(RECIPES[name])
    if recipe.get("correction") in OF_SEVERAL:
        recipe["correction"] = OF_SEVERAL[recipe["correction"]]
    testsets = [{"name": f"set {i}", **content(i, REPLICAS.get(name, 0))} for i in (1, 2)]
    return {"testsets": testsets, "pooled": name in POOLED, "unit": "segment", **recipe}


@pytest.mark.parametrize("name", RECIPES)
def test_report_on_one_test_set_is_what_it_was(name, tmp_path):
    require_unchanged(f"{name}, one test set", report_of(of_one(name)), tmp_path)


@pytest.mark.parametrize("name", RECIPES)
def test_report_on_two_test_sets_is_what_it_was(name, tmp_path):
    require_unchanged(f"{name}, two test sets", report_of(of_two(name)), tmp_path)
