"""Metrics whose numbers are sacreBLEU's."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from sigtest.cached import cached_property
from sigtest.metrics import sacre
from sigtest.metrics.base import Metric


@dataclass(frozen=True)
class SacreBleuMetric(Metric):
    """A metric that has the options of one of sacreBLEU's, by the same names.

    Attributes:
        program: What sacreBLEU calls it.
    """

    local = True
    program: ClassVar[str]

    @property
    def arguments(self) -> dict[str, object]:
        """What sacreBLEU is given for these options."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def reference_program(self) -> sacre.SacreMetric:
        """SacreBLEU's own metric with these options."""
        made: sacre.SacreMetric = getattr(sacre, self.program)(**self.arguments)
        return made

    @property
    def implementation(self) -> str:
        return f"sacrebleu:{sacre.VERSION}"
