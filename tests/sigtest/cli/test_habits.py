"""People who know sacreBLEU get what they mean, or are told what to type."""

import json

import pytest

from sigtest.cli import habits
from sigtest.cli.options import COMMANDS, Parser, UsageError, parse

FILES = ("compare", "-r", "reference.en", "systems/aspen.en", "systems/birch.en")


@pytest.fixture(autouse=True)
def place(example, monkeypatch):
    monkeypatch.chdir(example)


@pytest.mark.parametrize(
    ("spelled", "label"), [("BLEU", "bleu"), ("chrF", "chrf"), ("chrF++", "chrf++"), ("TER", "ter")]
)
def test_metrics_may_be_spelled_as_in_papers(run, spelled, label):
    status, out, _ = run(*FILES, "-m", spelled, "--resamples", "99", "--format", "json")
    assert status == 0
    assert list(json.loads(out)["metrics"]) == [label]


@pytest.mark.parametrize("metrics", [("bleu", "chrf"), ("bleu,chrf",)])
def test_several_metrics_after_one_option_are_explained(run, metrics):
    status, out, err = run(*FILES, "-m", *metrics)
    assert (status, out) == (2, "")
    assert len(metrics) == 1 or "'chrf' is a metric" in err
    assert "-m bleu -m chrf" in err


@pytest.mark.parametrize("first", ["-r", "reference.en", "systems"])
def test_files_without_a_command_say_what_to_type(run, first):
    status, out, err = run(first, *FILES[2:])
    assert (status, out) == (2, "")
    assert "sigtest compare -r REF SYSTEM SYSTEM" in err


@pytest.mark.parametrize("name", ["comet", "COMET", "bleurt", "xcomet-xl", "MetricX"])
def test_metrics_of_models_are_brought_as_scores(run, name):
    status, _, err = run(*FILES, "-m", name)
    assert status == 2
    assert f"--scores {name.lower()}:NAME=FILE" in err


@pytest.mark.parametrize("option", habits.OPTIONS)
def test_options_of_sacrebleu_say_what_to_type(option):
    with pytest.raises(UsageError) as raised:
        parse([*FILES, option])
    assert habits.OPTIONS[option] in str(raised.value)


@pytest.mark.parametrize("command", habits.COMMANDS)
def test_commands_of_others_say_what_to_type(command):
    with pytest.raises(UsageError) as raised:
        parse([command])
    assert habits.COMMANDS[command] in str(raised.value)


def test_what_is_to_be_typed_exists():
    known = {name for action in parse_help() for name in action}
    for hint in habits.OPTIONS.values():
        named = [word.strip(":;.,") for word in hint.split() if word.startswith("-")]
        assert set(named) - {"-r", "-"} <= known, hint


def parse_help():
    return [action.option_strings for action in Parser(COMMANDS["compare"]).actions]
