"""What an import finds: the texts of a comparison, with nothing said about how to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Material:
    """Texts that belong together. They are checked when a comparison is made of them.

    Attributes:
        references: Reference sets; `None` is a missing line.
        systems: Name and outputs of each system: its hypotheses, or those of several training
            runs.
        documents: Document of each segment, where known.
        labels: Label of each segment, where known.
    """

    references: tuple[tuple[str | None, ...], ...]
    systems: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = ()
    documents: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """The same fields of a JSON request, which `Comparison.of` understands."""
        body: dict[str, Any] = {
            "references": [list(lines) for lines in self.references],
            "systems": [_system(name, runs) for name, runs in self.systems],
        }
        for field, lines in (("documents", self.documents), ("labels", self.labels)):
            if lines is not None:
                body[field] = list(lines)
        return body


def _system(name: str, runs: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    if len(runs) == 1:
        return {"name": name, "hypotheses": list(runs[0])}
    return {"name": name, "replicas": [list(lines) for lines in runs]}
