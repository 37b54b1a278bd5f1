"""A material as the content of a request: what systems bring, in which order, and its metrics."""

from __future__ import annotations

from typing import Any

from sigtest.data.imports.material import Material, examples
from sigtest.data.testset import LABEL
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
    """What to compare on where it is not said: BLEU of texts, the mean of every kind of scores.

    Scores that some systems lack are left out, unless nothing else is there.

    Args:
        material: All that is compared.
        referenced: Whether references are elsewhere.
    """
    names = {*material.system_names}
    texts = (material.references or referenced) and {n for n, _ in material.systems} >= names
    owners: dict[str, set[str]] = {}
    for table in material.scores:
        owners.setdefault(table.label, set()).add(table.system)
    shared = [label for label, systems in owners.items() if systems >= names]
    chosen = shared or ([] if texts else [*owners])
    found: list[str | dict[str, object]] = ["bleu"] if texts or not chosen else []
    for label in chosen:
        metric = metric_of(material, label)
        if [label] == chosen == [LABEL]:
            del metric["of"]
        found.append(metric if len(metric) > 1 else "scores")
    return found


def metric_of(material: Material, label: str) -> dict[str, object]:
    """What makes a score of the values of one label, as a recipe has it."""
    tables = [table for table in material.scores if table.label == label]
    lower = any(table.higher_is_better is False for table in tables)
    return {"name": tables[0].metric, "of": label, **({"higher": False} if lower else {})}
