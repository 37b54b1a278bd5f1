"""BLEU's tokenizers that need packages or models: offered, and run, where these are there."""

import io
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers import tokenizer_spm

from app.pages import forms
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import UnavailableError
from sigtest.metrics import bleu, jvm, sacre

TEXT = [
    "これ は 試験 です 。",
    "猫 が 庭 で 眠る 。",
    "今日 は 雨 が 降る 。",
    "鳥 が 空 を 飛ぶ 。",
]
LINES = ["".join(line.split()) for line in TEXT]


def asked(tokenizer: str) -> dict:
    systems = [{"name": "a", "hypotheses": LINES}, {"name": "b", "hypotheses": LINES[::-1]}]
    return {
        "references": [[*LINES[:2], *LINES[:2]]],
        "systems": systems,
        "metrics": [f"bleu:tokenize={tokenizer}"],
        "resamples": 99,
    }


def agrees(tokenizer: str) -> bool:
    found = compare(parse_comparison(asked(tokenizer)))
    references = asked(tokenizer)["references"]
    program = BLEU(tokenize=tokenizer, force=True)
    expected = [program.corpus_score(own, references).score for own in (LINES, LINES[::-1])]
    (label,) = found.metrics
    return [own.scores[label].score for own in found.systems] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("tokenizer", "advice"),
    [("ja-mecab", r"sacrebleu\[ja\]"), ("ko-mecab", r"sacrebleu\[ko\]"),
     ("flores200", "sentencepiece")],
)  # fmt: skip
def test_what_is_not_installed_is_not_offered_and_says_how_to_get_it(
    tokenizer, advice, monkeypatch
):
    monkeypatch.setattr(sacre, "find_spec", lambda name: None)
    assert tokenizer not in bleu.Bleu.choices()["tokenize"]
    with pytest.raises(UnavailableError, match=f"pip install '{advice}'"):
        compare(parse_comparison(asked(tokenizer)))


def test_a_model_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(sacre, "find_spec", lambda name: name)
    with pytest.raises(UnavailableError, match=rf"{tmp_path}.*-tok flores200"):
        compare(parse_comparison(asked("flores200")))
    assert sacre.lacking("flores200")
    model = tmp_path / "models" / Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name
    model.parent.mkdir()
    model.touch()
    assert not sacre.lacking("flores200")


def test_spbleu_is_sacrebleus(monkeypatch, tmp_path):
    pieces = pytest.importorskip("sentencepiece")
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    model = tmp_path / "models" / Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name
    model.parent.mkdir()
    trained = io.BytesIO()
    pieces.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_writer=trained, vocab_size=26, minloglevel=2
    )
    model.write_bytes(trained.getvalue())
    assert agrees("flores200")


def test_bleu_of_japanese_is_sacrebleus():
    pytest.importorskip("MeCab")
    assert agrees("ja-mecab")


def test_meteor_is_offered_where_it_is_installed(monkeypatch):
    assert "meteor" in forms.measurable()
    monkeypatch.setattr(jvm, "_inside", lambda name, file: None)
    assert "meteor" not in forms.measurable()
