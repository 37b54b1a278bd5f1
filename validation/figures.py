"""Plain SVG pictures that no report has: curves, and many one-sided heatmaps side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from sigtest.arrays import Array

COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d5a97", "#b08900", "#444444")
FONT = 'font-family="sans-serif" font-size="11"'


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    x_title: str,
    y_title: str,
    levels: Mapping[str, float],
    logarithmic: bool = False,
) -> str:
    """Curves through points, with horizontal levels.

    Args:
        series: Points by name.
        x_title: Of the horizontal axis.
        y_title: Of the vertical axis.
        levels: Heights of dashed lines by name.
        logarithmic: Whether x is.
    """
    width, height, left, top, bottom = 640, 340, 60, 16, 46
    xs = sorted({x for points in series.values() for x, _ in points})
    high = max([*levels.values(), *(y for points in series.values() for _, y in points)]) * 1.1
    place = math.log10 if logarithmic else float
    span = (place(xs[-1]) - place(xs[0])) or 1.0

    def x_at(x: float) -> float:
        return left + (place(x) - place(xs[0])) / span * (width - left - 210)

    def y_at(y: float) -> float:
        return height - bottom - y / high * (height - bottom - top)

    body = []
    for x in xs:
        body.append(_text(x_at(x), height - bottom + 16, f"{x:g}", "middle"))
    for tick in _ticks(high):
        body.append(_text(left - 6, y_at(tick) + 4, f"{tick:g}", "end"))
        body.append(_line(left, y_at(tick), width - 205, y_at(tick), "#e4e4e4"))
    for name, level in levels.items():
        body.append(_line(left, y_at(level), width - 205, y_at(level), "#222", "4 3"))
        body.append(_text(width - 200, y_at(level) + 4, name))
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body += [
            f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="3" fill="{colour}"/>'
            for x, y in points
        ]
        body.append(_text(width - 200, 30 + 16 * i, name, colour=colour))
    body.append(_text((left + width - 205) / 2, height - 8, x_title, "middle"))
    body.append(
        f'<text x="14" y="{(height - bottom) / 2:.0f}" {FONT} text-anchor="middle" '
        f'transform="rotate(-90 14 {(height - bottom) / 2:.0f})">{escape(y_title)}</text>'
    )
    return _svg(width, height, body)


def heatmaps(panels: Mapping[str, Array], columns: int, names: Sequence[str], legend: str) -> str:
    """Square tables of p-values, dark where small; nan is left white.

    Args:
        panels: (S, S) p-values by title: is the row's system better than the column's?
        columns: Panels in a row.
        names: Of the systems, best first.
        legend: What is written underneath.
    """
    cell, gap, head, side = 13, 26, 22, 0
    size = cell * len(names)
    rows = math.ceil(len(panels) / columns)
    label = 8 + 6 * max(len(name) for name in names)
    width = side + label + columns * (size + gap)
    height = rows * (size + gap + head) + 40
    body = []
    for i, (title, p) in enumerate(panels.items()):
        left = label + (i % columns) * (size + gap)
        top = head + (i // columns) * (size + gap + head)
        body.append(_text(left + size / 2, top - 6, title, "middle"))
        for r in range(len(names)):
            if i % columns == 0:
                body.append(_text(left - 4, top + r * cell + 10, names[r], "end"))
            for c in range(len(names)):
                body.append(
                    f'<rect x="{left + c * cell}" y="{top + r * cell}" width="{cell}" '
                    f'height="{cell}" fill="{_shade(float(p[r, c]))}" stroke="#fff"/>'
                )
    for s, (text, value) in enumerate(
        (("<= .001", 0.0005), ("<= .01", 0.005), ("<= .05", 0.03), ("<= .1", 0.08), ("above", 0.5))
    ):
        body.append(
            f'<rect x="{label + 90 * s}" y="{height - 34}" width="{cell}" height="{cell}" '
            f'fill="{_shade(value)}" stroke="#999"/>'
        )
        body.append(_text(label + 90 * s + 18, height - 24, text))
    body.append(_text(label, height - 6, legend))
    return _svg(width, height, body)


def _shade(p: float) -> str:
    if math.isnan(p):
        return "#ffffff"
    for bound, colour in (
        (0.001, "#08306b"),
        (0.01, "#2171b5"),
        (0.05, "#6baed6"),
        (0.1, "#c6dbef"),
    ):
        if p <= bound:
            return colour
    return "#f0f0f0"


def _ticks(high: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(high))
    while high / step < 4:
        step /= 2
    return [round(i * step, 9) for i in range(int(high / step) + 1)]


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" {FONT} text-anchor="{anchor}" fill="{colour}">'
        f"{escape(text)}</text>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'
    )


def _svg(width: float, height: float, body: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )
