import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from browser import dumped, with_browser
from written import HOSTILE, hostile, renamed, rendered, report

from sigtest.kinds.comparisons import ComparisonReport
from sigtest.render import html, text
from sigtest.render.comparison import document
from sigtest.render.words import printable
from sigtest.report import WarningReport

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Every element, attribute and text of a page; complains about ends that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_html_is_well_formed_and_loads_nothing():
    page = Page(rendered("html", report()))
    assert not page.open
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    outside = [v for k, v in page.attributes if k in {"href", "src", "action", "style"}]
    assert not outside
    assert not [k for k, _ in page.attributes if k.startswith("on")]


def test_html_shows_hostile_names_as_text():
    page = Page(rendered("html", hostile()))
    assert not page.open
    assert "script" not in page.tags
    for name in HOSTILE:
        assert printable(name) in page.words


def test_names_from_right_to_left_turn_nothing_round_in_html():
    """U+05D0: 31 of 60 would be read as 31 :U+05D0 of 60; in text nothing can be done about it."""
    names = ("\u05d0", "\u05d0 2", "\u05d0\u05d1")
    warnings = tuple(
        WarningReport("equals-system", f"{name}: 31 of 60 lines are {names[0]}.", (name,))
        for name in names
    )
    made = replace(renamed(report(), names), warnings=warnings)
    shown = rendered("html", made)
    for name in names:
        assert f"<li><bdi>{name}</bdi>: 31 of 60 lines are <bdi>{names[0]}</bdi>.</li>" in shown
        assert f'<th scope="row"><bdi>{name}</bdi></th>' in shown
    assert "bdi" not in rendered("markdown", made)
    assert "bdi" not in rendered("html", report())


@with_browser
def test_html_captions_fit_a_narrow_screen(tmp_path):
    """Tables scroll at 400 pixels; what they are called is seen whole, before and after."""
    page = tmp_path / "page.html"
    page.write_text(f"""<body style="width: 400px">{html.fragment(document(report()))}<script>
        const captions = [...document.querySelectorAll("caption")], ends = [];
        for (const caption of captions) {{
            const scrolled = caption.closest(".scroll");
            for (const place of [0, 100]) {{
                scrolled.scrollLeft = place;
                const words = document.createRange();
                words.selectNodeContents(caption);
                const box = words.getBoundingClientRect();
                ends.push(box.left >= 0 && box.right <= scrolled.getBoundingClientRect().right);
            }}
        }}
        document.body.textContent = ends;
        </script>""", encoding="utf-8")  # fmt: skip
    words = dumped(page, tmp_path)
    assert f">{','.join(['true'] * 10)}<" in words


def test_html_names_every_dark_colour_that_pictures_use():
    text = html.fragment(document(report()))
    used = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', text.partition("</style>")[2]))
    replaced = set(re.findall(r'\[fill="(#[0-9a-f]{6})"\]', text.partition("</style>")[0]))
    assert used <= replaced


def test_notebook_shows_html_and_print_shows_tables():
    made = ComparisonReport(**vars(report()))
    assert made._repr_html_() == html.fragment(document(made))
    assert str(made).endswith(made.signature + "\n")


def test_markdown_tables_keep_their_cells():
    for line in rendered("markdown", hostile()).splitlines():
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1
            assert cells in {2, 5, 7}


@pytest.mark.parametrize("name", ["*b*", "`c`", "[l](u)", "<b>", "a|b", "www.x.org", "http://x"])
def test_markdown_escapes_what_it_would_format(name):
    escaped = text.escape(name)
    assert name not in escaped
    assert re.sub(r"\\([^\w\s])", r"\1", escaped) == name
