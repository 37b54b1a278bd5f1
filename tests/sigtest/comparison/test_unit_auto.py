"""Documents are the unit where they are given, and say so."""

from typing import Any

import numpy as np
import pytest
from sentences import sentences

import sigtest
from sigtest.cli import main

NAMES = ("a", "b")


def clustered(documents: int = 30, each: int = 5) -> tuple[dict[str, list[float]], list[str]]:
    """Scores of two systems whose difference depends on the document alone, and documents."""
    rng = np.random.default_rng(3)
    shift = np.repeat(rng.normal(size=documents), each)
    common = rng.normal(size=documents * each)
    own = {"a": (common + shift).tolist(), "b": common.tolist()}
    return own, [f"d{i // each}" for i in range(documents * each)]


def p_of(**request: Any) -> tuple[str, float]:
    scores, documents = clustered()
    chosen = {"documents": documents, "tests": ["bootstrap"], **request}
    report = sigtest.compare(scores=scores, **chosen)
    return report.unit, report.pairs[0].p_value


def test_documents_are_the_unit_where_they_are_given():
    assert p_of() == p_of(unit="document") == p_of(unit="auto")
    assert p_of()[0] == "document"
    assert p_of(unit="segment")[0] == p_of(documents=None)[0] == "segment"
    assert p_of(unit="segment")[1] == p_of(documents=None)[1]
    # one document has nothing to resample
    assert p_of(documents=["d"] * 150) == p_of(documents=None)


def test_the_report_says_which_and_why():
    scores, documents = clustered()
    report = sigtest.compare(scores=scores, documents=documents)
    text = " ".join(str(report).split())
    assert "unit: document" in text
    assert "is the document, as segments of one document are not independent" in text
    assert "not independent" not in " ".join(sentences(report))
    plain = sigtest.compare(scores=scores, documents=documents, unit="segment")
    assert "unit: segment" in str(plain)
    assert any("not independent" in warning for warning in sentences(plain))


def test_few_documents_stay_the_unit_and_what_they_can_give_is_said():
    scores, _ = clustered(4, 30)
    report = sigtest.compare(scores=scores, documents=[f"d{i // 30}" for i in range(120)])
    assert report.unit == "document"
    assert report.pairs[0].exact
    assert report.pairs[0].p_value >= 2 / 2**4
    assert any("The smallest p-value that 4 documents can give" in own for own in sentences(report))


def test_a_test_of_segments_keeps_segments_and_warns():
    scores, documents = clustered()
    right = {name: [float(own > 0) for own in column] for name, column in scores.items()}
    report = sigtest.compare(scores=right, documents=documents, tests=["mcnemar"])
    assert report.unit == "segment"
    assert any("not independent" in warning for warning in sentences(report))


def test_several_test_sets_have_one_unit():
    scores, documents = clustered()
    both = {name: {"scores": scores, "documents": documents} for name in ("x", "y")}
    for unit in ("document", "segment"):
        assert sigtest.suite(both, resamples=99).unit == unit
        both["y"].pop("documents", None)  # so that the second time one test set has none


@pytest.mark.parametrize("chosen", [[], ["--unit", "auto"]])
def test_the_shell_does_as_the_library(chosen, tmp_path, capsys):
    scores, documents = clustered()
    for name, column in {**scores, "documents": documents}.items():
        (tmp_path / name).write_text("".join(f"{cell}\n" for cell in column))
    files = [word for n in NAMES for word in ("--scores", f"{n}={tmp_path / n}")]
    given = ["compare", *files, "--documents", str(tmp_path / "documents"), "--test", "bootstrap"]
    assert main([*given, *chosen, "--format", "json"]) == 0
    assert "|unit:document|" in capsys.readouterr().out
