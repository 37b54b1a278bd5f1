"""What a notebook shows looks the same under the notebook's own style sheet."""

import json
import re
from pathlib import Path

from browser import dumped, with_browser
from written import report

from sigtest.render import html
from sigtest.render.comparison import document

# What JupyterLab 4 and Notebook 6 say of tables in outputs (rendermime and notebook style sheets).
JUPYTER = """
.jp-RenderedHTMLCommon { font-size: 10px; line-height: 1.7; color: #00f; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; border: none; table-layout: fixed;
  font-size: 12px; margin-left: auto; margin-right: auto; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr {
  vertical-align: middle; padding: .5em; line-height: normal; white-space: normal; max-width: none;
  border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th { text-align: right; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: #eee; }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: #ddd; }
.rendered_html table { table-layout: fixed; color: black; font-size: 12px; margin: 0 auto; }
.rendered_html tr, .rendered_html th, .rendered_html td { text-align: right; max-width: none;
  vertical-align: middle; padding: .5em; white-space: normal; line-height: normal; }
.rendered_html tbody tr:nth-child(odd) { background: #f5f5f5; }
.rendered_html * + p { margin-top: 1em; }
"""
ASKED = (
    "backgroundColor", "textAlign", "verticalAlign", "paddingLeft", "paddingTop", "lineHeight",
    "whiteSpace", "fontSize", "tableLayout", "color", "borderBottomWidth", "marginTop",
)  # fmt: skip
SCRIPT = """
<script>
const told = [...document.querySelectorAll(".sigtest :is(table, tr, th, td, caption, p, h1, h2)")]
  .map(e => [e.tagName, ...%s.map(name => getComputedStyle(e)[name])]);
document.body.textContent = JSON.stringify(told);
</script>
"""


def computed(folder: Path, shown: str, style: str) -> list[list[str]]:
    """Styles that a real browser computes for everything in a table, and its words."""
    page = folder / "page.html"
    page.write_text(
        f'<!DOCTYPE html><style>{style}</style><div class="jp-RenderedHTMLCommon rendered_html">'
        f"{shown}</div>{SCRIPT % json.dumps(ASKED)}",
        encoding="utf-8",
    )
    words = dumped(page, folder / "profile")
    found: list[list[str]] = json.loads(re.search(r"<body>(.*)</body>", words, re.S)[1])
    return found


@with_browser
def test_jupyter_changes_nothing(tmp_path):
    shown = html.fragment(document(report()))
    alone = computed(tmp_path, shown, "")
    assert len(alone) > 50
    assert computed(tmp_path, shown, JUPYTER) == alone
