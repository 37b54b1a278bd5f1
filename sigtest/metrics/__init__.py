"""The metrics by name, and how they are asked for."""

from sigtest.metrics.base import Fraction, Metric
from sigtest.metrics.bleu import Bleu
from sigtest.metrics.chrf import Chrf, ChrfPlusPlus
from sigtest.metrics.meteor.metric import Meteor
from sigtest.metrics.nist import Nist
from sigtest.metrics.scores import Fscore, Ratio, Scores
from sigtest.metrics.ter import Ter

METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (Bleu, Chrf, ChrfPlusPlus, Ter, Nist, Meteor, Scores, Ratio, Fscore)
}

__all__ = ["METRICS", "Fraction", "Metric"]
