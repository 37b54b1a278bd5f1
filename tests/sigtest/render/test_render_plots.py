from dataclasses import replace
from itertools import pairwise, permutations
from xml.etree import ElementTree

import numpy as np
import pytest
from written import HOSTILE, REFERENCES, hostile, renamed, report

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare, distribute
from sigtest.errors import RecipeError
from sigtest.render.distribution import bin_edges, counted_tail
from sigtest.render.drawing import COLOURS, COLUMN, Style, short_names, text_width
from sigtest.render.pictures import PICTURES
from sigtest.render.words import printable


def matrix_plot(made, **chosen):
    return PICTURES["matrix"].draw(made, chosen)


def intervals_plot(made, **chosen):
    return PICTURES["intervals"].draw(made, chosen)


def distribution_plot(drawing, made):
    return PICTURES["distribution"].draw(made, {}, drawing)


SVG = "{http://www.w3.org/2000/svg}"
TAGS = ("title", "desc", "rect", "text", "line", "circle", "path")
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap", "riezler_maxwell_bootstrap")


def shown(svg: str) -> set[str]:
    """What stands in the picture; names of pairs one by one."""
    return {part for text in words(svg) for part in text.split(" − ")}


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def drawn(a: str, b: str, metric: str, test: str, alternative: str, exact: str = "never"):
    request = {
        "references": [REFERENCES],
        "systems": [
            {"name": "A", "hypotheses": [line[: 40 - i % 3] for i, line in enumerate(REFERENCES)]},
            {"name": "B", "hypotheses": [line[i % 4 :] for i, line in enumerate(REFERENCES)]},
        ],
        "metrics": ["chrf", "ter"],
        "tests": TESTS,
        "alternative": alternative,
        "resamples": 499,
        "exact": exact,
    }
    comparison = parse_comparison(request)
    return distribute(comparison, a, b, metric, test), compare(comparison)


@pytest.mark.parametrize("plot", [matrix_plot, intervals_plot])
def test_plots_are_accessible_xml_with_text_as_text(plot):
    root = ElementTree.fromstring(plot(report()))
    assert root.get("role") == "img"
    labels = root.get("aria-labelledby").split()
    assert [root[0].get("id"), root[1].get("id")] == labels
    assert root[0].tag == f"{SVG}title"
    assert root[1].tag == f"{SVG}desc"
    assert {"A", "B", "C"} <= set(words(plot(report())))
    assert root.get("width") == f"{COLUMN:g}pt"


@pytest.mark.parametrize("plot", [matrix_plot, intervals_plot])
def test_plots_show_hostile_names_as_text(plot):
    svg = plot(hostile())
    root = ElementTree.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert shown(svg) >= {printable(name) for name in HOSTILE if len(name) < 30}
    long = {printable(name) for name in HOSTILE if len(name) >= 30}
    assert all(any(text.startswith(name[:10]) for text in shown(svg)) for name in long)
    said = root[1].text + "".join(e.text for e in root.iter(f"{SVG}title"))
    assert all(name in said for name in long)


def test_distribution_shows_hostile_names_as_text():
    drawing, made = drawn("A", "B", "chrf", "bootstrap", "two-sided")
    for a, b in pairwise(HOSTILE):
        named = replace(drawing, a=a, b=b)
        svg = distribution_plot(named, renamed(made, (a, b)))
        root = ElementTree.fromstring(svg)
        assert {e.tag for e in root} <= {SVG + t for t in TAGS}
        assert root[0].text == f"{printable(a)} − {printable(b)}, chrf"


@pytest.mark.parametrize("plot", [matrix_plot, intervals_plot])
def test_long_names_are_cut_in_the_middle_and_stay_apart(plot):
    names = tuple(f"University-of-{c * 60}.constrained.primary-{c}" for c in "abc")
    svg = plot(report(names, metrics=["bleu"]))
    root = ElementTree.fromstring(svg)
    assert root.get("width") == f"{COLUMN:g}pt"
    assert len({text for text in words(svg) if "…" in text}) >= 3
    assert all(name in root[1].text for name in names)


def test_names_that_would_look_alike_are_not_cut():
    names = [f"{'x' * 60}{i}{'y' * 60}" for i in range(3)]
    assert list(short_names(names, 100).values()) == names
    short = short_names([*names[:1], "other"], 100)
    assert short["other"] == "other"
    assert text_width(short[names[0]]) <= 100


def test_bars_of_the_tail_are_whole():
    drawing, made = drawn("A", "B", "chrf", "approximate_randomization", "two-sided")
    pair = next(p for p in made.pairs if (p.metric, p.test) == ("chrf", drawing.test))
    tail = counted_tail(drawing, pair, True)
    inside, _ = np.histogram(drawing.values[tail], bins=bin_edges(drawing))
    total, _ = np.histogram(drawing.values, bins=bin_edges(drawing))
    assert total.sum() == 499
    assert np.count_nonzero((inside > 0) & (inside < total)) <= 1  # ties on an edge


def test_greyscale_keeps_the_order_of_levels():
    def luminance(colour):
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    shades = [luminance(COLOURS[c]) for c in ("paper", "none", "one", "two", "three")]
    assert shades == sorted(shades, reverse=True)
    assert luminance(COLOURS["light"]) - luminance(COLOURS["strong"]) > 100


def test_a_legend_has_only_the_levels_that_occur():
    few = matrix_plot(report(tuple("ABCDEF"), metrics=["bleu"], exact="never"))
    assert not {"p ≤ .001", "p ≤ .01", "p ≤ .05"} & set(words(few))
    assert "larger" in words(few)
    exact = matrix_plot(report(("A", "B"), metrics=["ter"]))
    assert "p ≤ .001" in words(exact)
    assert "larger" not in words(exact)


def test_matrix_needs_all_pairs():
    with pytest.raises(RecipeError, match="all pairs"):
        matrix_plot(report(pairs={"baseline": "system-0"}))


def test_unknown_metric_is_named():
    with pytest.raises(RecipeError, match="Did you mean 'bleu'"):
        intervals_plot(report(), metric="blue")


def test_many_systems_make_the_matrix_wider_rather_than_illegible():
    names = tuple(f"a-rather-long-name-{i}" for i in range(30))
    svg = matrix_plot(report(names, metrics=["bleu"], exact="never"))
    root = ElementTree.fromstring(svg)
    assert float(root.get("width").removesuffix("pt")) > COLUMN
    sizes = [float(e.get("font-size")) for e in root.iter(f"{SVG}text")]
    assert min(sizes) >= 6


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("metric", ["chrf", "ter"])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_shaded_tail_is_what_the_test_counted(test, metric, alternative):
    drawing, made = drawn("A", "B", metric, test, alternative)
    pair = next(p for p in made.pairs if (p.metric, p.test) == (metric, test))
    tail = counted_tail(drawing, pair, made.metrics[metric].higher_is_better)
    assert np.count_nonzero(tail) == pair.count
    assert any(
        f"{pair.count:,} of 499 counted" in text for text in words(distribution_plot(drawing, made))
    )


def test_a_pair_turned_round_has_the_same_tail():
    drawing, made = drawn("B", "A", "chrf", "bootstrap", "greater")
    both = {p.a: p for p in made.pairs if (p.metric, p.test) == ("chrf", "bootstrap")}
    pair = both["A"]
    made = replace(made, pairs=(pair,))  # as against a baseline, where the other claim is not made
    texts = words(distribution_plot(drawing, made))
    assert "bootstrap, less" in texts
    assert any(text.startswith(f"{pair.count:,} of 499") for text in texts)


def test_a_sample_beside_an_exact_p_is_called_so():
    drawing, made = drawn("A", "B", "ter", "approximate_randomization", "two-sided", exact="auto")
    pair = next(pair for pair in made.pairs if pair.metric == "ter")
    assert pair.exact
    svg = distribution_plot(drawing, made)
    said = f"p = {pair.p_value:#.2g} is exact; the histogram shows 499 sampled exchanges"
    assert said in words(svg)
    assert said in ElementTree.fromstring(svg).findtext(f"{SVG}desc")
    assert "counted" not in svg


def size(svg: str) -> tuple[float, float]:
    root = ElementTree.fromstring(svg)
    return tuple(float(root.get(side).removesuffix("pt")) for side in ("width", "height"))


@pytest.mark.parametrize("name", ["matrix", "intervals"])
def test_a_width_is_kept_whatever_the_labels_need(name):
    made = report(("A" * 60, "B" * 60, "C"))
    for width, points in (("4cm", 113.39), ("16cm", 453.54), ("300pt", 300.0)):
        drawn = PICTURES[name].draw(made, {"width": width})
        assert size(drawn)[0] == pytest.approx(points, abs=0.01)
    assert size(PICTURES[name].draw(made, {}))[0] >= COLUMN - 0.01


def test_a_wider_picture_has_more_room_and_letters_of_the_same_size():
    made = report(("A", "B", "C"))
    wide = intervals_plot(made, width="16cm")
    box = [float(n) for n in ElementTree.fromstring(wide).get("viewBox").split()]
    assert box[2] == pytest.approx(size(wide)[0], abs=0.01)


@pytest.mark.parametrize("name", ["matrix", "intervals"])
def test_parts_are_left_out(name):
    made = report(("A", "B", "C"), exact="never")
    whole = PICTURES[name].draw(made, {})
    title = words(whole)[0]
    bare = PICTURES[name].draw(made, {"omit": "title, legend,numbers"})
    assert title not in words(bare)
    assert size(bare)[1] < size(whole)[1] - 20
    assert not [text for text in words(bare) if "significant" in text or "≤" in text]
    assert len(words(bare)) < len(words(whole)) - 4


@pytest.mark.parametrize("name", ["matrix", "intervals"])
def test_a_title_takes_the_place_of_its_own(name):
    made = report(("A", "B"))
    drawn = PICTURES[name].draw(made, {"title": "News <2026>"})
    assert words(drawn)[0] == "News <2026>"


def test_distributions_have_styles_too():
    values, made = drawn("A", "B", "chrf", "bootstrap", "two-sided")
    chosen = {"width": "12cm", "omit": "title"}
    bare = PICTURES["distribution"].draw(made, chosen, values)
    assert size(bare)[0] == pytest.approx(12 * 72 / 2.54, abs=0.01)
    assert not [text for text in words(bare) if "counted" in text]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"width": "wide"}, "8.5cm"),
        ({"width": "1pt"}, "8.5cm"),
        ({"width": "9in9"}, "8.5cm"),
        ({"omit": "legends"}, "Did you mean 'legend'"),
    ],
)
def test_styles_that_cannot_be_are_refused(asked, words):
    with pytest.raises(RecipeError, match=words):
        Style.of(asked)


@pytest.mark.parametrize(("alternative", "asks"), [("greater", "better"), ("less", "worse")])
def test_both_claims_of_a_pair_are_shown_of_the_rows(alternative, asks):
    made = report(tuple("ABC"), metrics=["bleu"], alternative=alternative, exact="never")
    svg = matrix_plot(made)
    hints = [h.text for h in ElementTree.fromstring(svg).iter(f"{SVG}title") if "p =" in h.text]
    by_pair = {(pair.a, pair.b): pair.p_adjusted for pair in made.pairs}
    told = {tuple(hint.split(":")[0].split(" and ")): hint for hint in hints}
    assert told.keys() == by_pair.keys() == set(permutations("ABC", 2))
    for pair, hint in told.items():
        p = float(hint.partition("= ")[2].removesuffix(", undecided"))
        assert p == pytest.approx(by_pair[pair], rel=0.05)
    assert f"is a row's system {asks} than a column's?" in words(svg)[0]
    assert [text for text in words(svg) if text in {"A", "B", "C"}] == ["C", "B", "A"]


@pytest.mark.parametrize(("alternative", "claimed"), [("greater", "A"), ("less", "B")])
def test_a_difference_of_intervals_is_that_of_the_claim(alternative, claimed):
    """A is worse than B, and each is compared with B, whichever is claimed to be better."""
    choices = {"pairs": {"baseline": "system-1"}, "exact": "never", "resamples": 999}
    made = report(("A", "B"), metrics=["bleu"], alternative=alternative, **choices)
    shown = words(intervals_plot(made))
    assert f"{claimed} \N{MINUS SIGN} {'B' if claimed == 'A' else 'A'}" in shown
    assert any("one-sided" in text for text in shown)
    assert any("not significant" in text for text in shown) == (claimed == "A")


def test_a_matrix_of_alpha_has_its_levels():
    made = report(tuple("ABCD"), metrics=["bleu"], alpha=0.2, exact="never")
    legend = [text for text in words(matrix_plot(made)) if "≤" in text or text == "larger"]
    assert set(legend) <= {"p ≤ .01", "p ≤ .05", "p ≤ .2", "larger"}
    strict = report(tuple("ABCD"), metrics=["bleu"], alpha=0.001, exact="never")
    assert [text for text in words(matrix_plot(strict)) if "≤" in text] in ([], ["p ≤ .001"])


def test_intervals_explain_only_the_marks_that_occur():
    apart = report(("A", "C"), metrics=["bleu"], exact="never")
    made = [replace(apart, pairs=(replace(apart.pairs[0], significant=s),)) for s in (True, False)]
    said = [[t for t in words(intervals_plot(one)) if "significant" in t] for one in made]
    assert [text[0].split(" (")[0] for text in said] == ["significant", "not significant"]
    assert [len(text) for text in said] == [1, 1]


@pytest.mark.parametrize(
    ("a", "b", "mark"),
    [
        ("\u05d0\u05e1", "\u0646\u0638 12", "\u200e"),
        ("sosna", "\u0441\u043e\u0441\u043d\u0430", ""),
    ],
)
def test_names_from_right_to_left_keep_their_side_of_the_minus_sign(a, b, mark):
    """Without a mark, U+05D0 U+05E1 - U+0646 U+0638 would be one run, read as b - a."""
    rows = {a: [1.0, 2.0, 3.0, 2.5], b: [1.5, 1.0, 2.0, 2.5]}
    systems = [{"name": name, "scores": {"x": own}} for name, own in rows.items()]
    asked = {"systems": systems, "metrics": ["scores"], "resamples": 99}
    made = compare(parse_comparison(asked))
    shown = intervals_plot(made, metric="scores", test="approximate_randomization")
    assert f">{a}{mark} \N{MINUS SIGN} {mark}{b}<" in shown
