"""Report to text: one module a format, by the name that `--format` and `?format=` take."""

from collections.abc import Callable

from sigtest.render import csv, html, json, latex, markdown, text
from sigtest.report import Report

RENDERERS: dict[str, Callable[[Report], str]] = {
    "text": text.render,
    "json": json.render,
    "csv": csv.render,
    "markdown": markdown.render,
    "latex": latex.render,
    "html": html.render,
}

__all__ = ["RENDERERS"]
