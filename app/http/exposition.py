"""Numbers in the text format that Prometheus reads (version 0.0.4).

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate

from workers.store.tallies import BOUNDS, Durations

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


def gauge(name: str, told: str, samples: Iterable[tuple[Labels, float]]) -> list[str]:
    """Lines of what goes up and down."""
    return [*_head(name, told, "gauge"), *(_sample(name, *sample) for sample in samples)]


def counter(name: str, told: str, samples: Iterable[tuple[Labels, float]]) -> list[str]:
    """Lines of what only grows; its name ends in `_total`."""
    return [*_head(name, told, "counter"), *(_sample(name, *sample) for sample in samples)]


def histogram(name: str, told: str, samples: Iterable[tuple[Labels, Durations]]) -> list[str]:
    """Lines of durations; each range counts what is below it, too."""
    lines = _head(name, told, "histogram")
    for labels, durations in samples:
        counts = list(accumulate(durations.counts))
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            lines.append(_sample(f"{name}_bucket", {**labels, "le": bound}, count))
        lines.append(_sample(f"{name}_sum", labels, durations.seconds))
        lines.append(_sample(f"{name}_count", labels, counts[-1]))
    return lines


def _head(name: str, told: str, kind: str) -> list[str]:
    return [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]


def _sample(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{told}}} {value}" if told else f"{name} {value}"


def _escaped(text: str) -> str:
    r"""As the format wants it: a backslash, a quote and a line end as \\, \" and \n."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
