"""sacreBLEU, loaded without what a comparison has no use for.

sacreBLEU loads portalocker, to lock downloads, and portalocker loads redis where it is there, with
all that redis brings along: a tenth of the time that a small comparison takes.
"""

from __future__ import annotations

import sys

_HIDDEN = "redis" not in sys.modules
if _HIDDEN:
    sys.modules["redis"] = None  # type: ignore[assignment]  # so that it is not found

try:
    import sacrebleu
    from sacrebleu.metrics.base import Metric as SacreMetric
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER
    from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
finally:
    if _HIDDEN:
        del sys.modules["redis"]

VERSION: str = sacrebleu.__version__

__all__ = ["BLEU", "CHRF", "TER", "VERSION", "SacreMetric", "TokenizerV14International"]
