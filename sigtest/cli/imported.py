"""`--from` and `--testset`: what the options bring besides single files."""

from __future__ import annotations

import argparse
import os
from typing import Any

from sigtest.data.imports import Material, read_builtin, read_path
from sigtest.data.imports.builtin import SETTING
from sigtest.errors import InputError


def read_material(options: argparse.Namespace) -> Material | None:
    """What `--from` or `--testset` names; nothing where there is neither.

    Raises:
        SigtestError: It cannot be used.
        OSError: It cannot be read.
    """
    given = {"--from": options.source, "--testset": options.testset, "-r": options.reference}
    named = [option for option, value in given.items() if value]
    if len(named) > 1:
        raise InputError(f"{named[0]} brings the references; leave out {named[1]}.")
    if options.source is not None:
        return read_path(options.source)
    if options.testset is not None:
        return read_builtin(options.testset, os.environ.get(SETTING) == "1")
    return None


def merge(body: dict[str, Any], material: Material) -> dict[str, Any]:
    """A request with what was imported; its own systems come after the imported ones.

    Args:
        body: The request that the other options make.
        material: The import.
    """
    imported = material.as_json()
    own = {system["name"]: system for system in body["systems"]}
    for system in imported["systems"]:
        name = system["name"]
        if name in own and own[name]["hypotheses"] is None and not own[name]["replicas"]:
            system["scores"] = own.pop(name)["scores"]
    systems = [*imported["systems"], *own.values()]
    return {**imported, **body, "references": imported["references"], "systems": systems}
