"""Names that readers may take for one another: warned of; names that are equal: refused."""

import pytest
from sentences import sentences

import sigtest
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.names import check_name, is_error, look_alikes, summaries
from sigtest.engine import compare
from sigtest.errors import InputError


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("aspen", "Aspen"),
        ("my aspen", "myaspen"),
        ("aspen", "\uff41spen"),  # full width
        ("aspen", "\u0430spen"),  # Cyrillic
        ("\u0391spen", "Aspen"),  # Greek
        ("run-0", "run-O"),
        ("run-1", "run-l"),
        ("ONLINE-I", "ONLINE-l"),
        ("caf\u00e9", "Cafe\u0301"),
        ("2", "\u00b2"),
    ],
)
def test_names_that_look_alike_are_told(a, b):
    ((alike, said),) = look_alikes(["cedar", a, "dogwood", b]).items()
    assert alike == (a, b)
    assert said.endswith("look alike.")
    assert repr(a) in said
    assert repr(b) in said
    assert all(f"U+{ord(c):04X}" in said for c in a + b if not c.isascii())


def test_names_that_can_be_told_apart_are_passed_over():
    names = ["v1", "v10", "v01", "run-1", "run-2", "online-a", "online-b", "A", "B", "i", "l"]
    words = ["\u0441\u043e\u0441\u043d\u0430", "\u043a\u043b\u0435\u043d", "sosna", "\u677e", "o"]
    assert look_alikes([*names, *words]) == {}


def test_reports_warn_of_them():
    texts = {"aspen": "a b c d", "\u0430spen": "a b c e", "birch": "a x c d"}
    body = {
        "references": [["a b c d"] * 4],
        "systems": [{"name": name, "hypotheses": [line] * 4} for name, line in texts.items()],
        "metrics": ["bleu"],
        "resamples": 99,
    }
    said = "The names 'aspen' and '\u0430spen' (with U+0430) differ, and look alike."
    assert said in sentences(compare(parse_comparison(body)))


@pytest.mark.parametrize(
    "name",
    ["Average", "mean", "n", "length", "src_tokens", "num_words", "Word Count", "lines", "index"],
)
def test_systems_that_are_called_as_means_or_counts_are_told(name):
    ((named, said),) = summaries(["aspen", name]).items()
    assert named == name
    assert said.startswith(f"{name!r} is taken for a system; if it is a mean, a sum or a count")
    assert summaries(["n-best", "meaning", "tokenfree", "lineA", "total-v2", "N2"]) == {}


def test_every_kind_of_report_tells_them(tmp_path):
    wide = "data,n,aspen,birch\n" + "".join(f"d{i},{i}0,0.{i},0.3\n" for i in range(1, 7))
    table = tmp_path / "wide.csv"
    table.write_text(wide)
    scores = {name: [0.1 * i, 0.2, 0.3] for i, name in enumerate(["aspen", "birch", "n"])}
    means = {name: sum(own) for name, own in scores.items()}
    judged = [{"system": s, "segment": i, "score": i} for s in scores for i in range(3)]
    compared = {"systems": [{"name": s, "scores": {"x": own}} for s, own in scores.items()]}
    reports = [
        compare(parse_comparison({**compared, "metrics": ["scores:of=x"], "resamples": 99})),
        sigtest.compare(from_=[str(table)], columns="systems"),
        sigtest.meta(means, {"m": {"system": means}}),
        sigtest.human(judged),
    ]
    for report in reports:
        assert any("'n' is taken for a system" in said for said in sentences(report))


def test_a_slash_is_refused_with_the_name_that_would_do():
    with pytest.raises(InputError, match=r"contains '/'; .*, such as 'org__big'\.$"):
        check_name("org/big")
    with pytest.raises(InputError, match=r"control characters\.$"):
        check_name("<org>/big")


# as jiwer, sacreBLEU, the WMT metrics tasks, scikit-learn, MLflow and lm-eval call them
ERRORS = """
wer mWER PER MER WIL cer TER sentenceTER hter MetricX metricx-23-xl MetricX_QE GEMBA-MQM MQM
MetricX-23-c-refA MetricX-23-b kl_divergence
mqm_score word_error_rate errors errorRate major_errors edit_distance brier brier_score nll val_loss
log_loss cross_entropy perplexity bits_per_byte mae RMSE mean_squared_error penalty latency
latency_ms deletions
"""
QUALITIES = """
comet COMET-22 bleu chrF accuracy terrace mercy f1_PER tokens_per_second error_detection_f1 costume
Matter lossless quality # 23 esa f1 recall score correct
"""


def test_names_that_say_error_or_penalty():
    assert [name for name in ERRORS.split() if not is_error(name)] == []
    assert [name for name in QUALITIES.split() if is_error(name)] == []
