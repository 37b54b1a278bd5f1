"""The metrics by name, and how they are asked for."""

from sigtest.metrics.base import Fraction, Metric
from sigtest.metrics.bleu import Bleu
from sigtest.metrics.chrf import Chrf, ChrfPlusPlus
from sigtest.metrics.labels import F1, Accuracy, MacroF1, Precision, Recall
from sigtest.metrics.meteor.metric import Meteor
from sigtest.metrics.nist import Nist
from sigtest.metrics.scores import Fscore, Perplexity, Ratio, Scores
from sigtest.metrics.ter import Ter

METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        Bleu, Chrf, ChrfPlusPlus, Ter, Nist, Meteor, Scores, Ratio, Fscore, Perplexity,
        Accuracy, Precision, Recall, F1, MacroF1,
    )
}  # fmt: skip

__all__ = ["METRICS", "Fraction", "Metric"]
