"""A material as the content of a request: what systems bring, in which order, and its metrics."""

from __future__ import annotations

from typing import Any

from sigtest.data.imports.material import Material, examples
from sigtest.data.inferred import inferred_metrics
from sigtest.errors import InputError


def in_order(material: Material) -> Material:
    """Segments in the order of a test set whose lines are known by their place alone.

    Raises:
        InputError: They are in any order, with ids that do not count them.
    """
    if material.ordered or material.ids is None:
        return material
    numbers = {name: i for i, name in enumerate(material.ids) if name.isdecimal()}
    places = sorted(numbers, key=int)
    size = len(material)
    if [*map(int, places)] not in ([*range(size)], [*range(1, size + 1)]):
        raise InputError(
            f"{material.name} is a table whose rows are known by their ids "
            f"({examples(map(repr, material.ids))}), which do not count segments; give lines, or "
            "a column id that counts them from 1.",
            field=material.name,
        )
    return material.rows([numbers[name] for name in places])


def outputs_of(material: Material) -> dict[str, dict[str, Any]]:
    """What each system brings, by its name, as a request has it.

    Raises:
        InputError: Something is missing.
    """
    return {body.pop("name"): body for body in in_order(material).as_json()["systems"]}


def metrics_of(material: Material, referenced: bool = False) -> list[str | dict[str, object]]:
    """What to compare on where it is not said; see `inferred_metrics`.

    Args:
        material: All that is compared.
        referenced: Whether references are elsewhere.
    """
    brought: dict[str, list[str]] = {name: [] for name in material.system_names}
    for table in material.scores:
        brought[table.system].append(table.label)
    texts = bool(material.references or referenced) and len(material.systems) == len(brought)
    return inferred_metrics(brought, texts, told_of(material))


def told_of(material: Material) -> dict[str, dict[str, object]]:
    """What files say of the metrics that score their labels, beyond that it is a mean."""
    found: dict[str, dict[str, object]] = {}
    for table in material.scores:
        own = found.setdefault(
            table.label, {} if table.metric == "scores" else {"name": table.metric}
        )
        if table.higher_is_better is False:
            own["higher"] = False
    return found
