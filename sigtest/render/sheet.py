"""The style sheet of reports as HTML."""

from sigtest.render.drawing import darkening

STRONG = ".sigtest.sigtest.sigtest.sigtest"  # as specific as four classes
_STYLE = """
.sigtest { --ink: #161616; --muted: #555; --rule: #c4c4c4; --paper: #fff; --mark: #1d4f91;
  --note: #fff6dd; color: var(--ink); background: var(--paper); color-scheme: light dark;
  font: 16px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; margin: 0 auto;
  max-width: 72rem; padding: 1rem 1.25rem; }
.sigtest :is(h1, h2, p, li) { overflow-wrap: anywhere; }
.sigtest h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
.sigtest h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
.sigtest p { margin: .25rem 0 .75rem; }
.sigtest .answer { font-size: 1.15rem; margin: 1rem 0; }
.sigtest .facts, .sigtest caption, .sigtest figcaption { color: var(--muted); }
.sigtest .warnings { background: var(--note); border-left: 4px solid #c98a00; list-style: none;
  margin: 1rem 0; padding: .5rem 1rem; }
.sigtest .scroll { container-type: inline-size; overflow-x: auto; }
.sigtest table { border: 0; border-bottom: 2px solid var(--ink); border-collapse: collapse;
  border-top: 2px solid var(--ink); color: inherit; font-size: 1rem;
  font-variant-numeric: tabular-nums; margin: .5rem 0 1.5rem; table-layout: auto; }
.sigtest caption { caption-side: top; left: 0; max-width: 100cqi; padding: .25rem 0;
  position: sticky; text-align: left; width: max-content; }
.sigtest thead th[scope=colgroup] { text-align: center; }
.sigtest tr, .sigtest thead { background: none; border: 0; line-height: 1.5; padding: 0;
  text-align: left; vertical-align: baseline; white-space: nowrap; }
.sigtest th, .sigtest td { background: none; border: 0; color: inherit; line-height: 1.5;
  max-width: none; padding: .2rem .7rem; text-align: left; vertical-align: baseline;
  white-space: nowrap; }
.sigtest thead th { border-bottom: 1px solid var(--ink); font-weight: 600; }
.sigtest tbody th { font-weight: 400; }
.sigtest tbody tr:hover { background: color-mix(in srgb, var(--mark) 9%, transparent); }
.sigtest tbody + tbody { border-top: 1px solid var(--muted); }
.sigtest .number { text-align: right; }
.sigtest .best { font-weight: 600; }
.sigtest .significant { color: var(--mark); font-weight: 600; }
.sigtest .figures { align-items: flex-start; display: flex; flex-wrap: wrap; gap: 1.5rem; }
.sigtest .abreast { column-gap: 2rem; display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 32rem), 1fr)); }
.sigtest figure { margin: 0; max-width: 100%; }
.sigtest figure svg { height: auto; max-width: 100%; width: 30rem; }
.sigtest .wide { flex-basis: 100%; overflow-x: auto; }
.sigtest .wide svg { max-width: none; width: max(100%, 56rem); }
.sigtest sup { line-height: 0; }
.sigtest summary { cursor: pointer; }
.sigtest code { font-size: .85em; overflow-wrap: anywhere; }
.sigtest details { margin: .25rem 0 .75rem; }
.sigtest pre { font-size: .8rem; overflow-x: auto; }
@media screen and (prefers-color-scheme: dark) {
.sigtest { --ink: #ececec; --muted: #b4b4b4; --rule: #4a4f57; --paper: #16191d; --mark: #7fb2f0;
  --note: #33290f; }
@DARK@
}
@media print {
.sigtest { padding: 0; }
.sigtest .scroll { container-type: normal; overflow: visible; }
.sigtest .abreast { display: block; }
.sigtest table { font-size: 8pt; }
.sigtest caption { max-width: none; }
.sigtest th, .sigtest td { padding: .15rem .4rem; white-space: normal; }
.sigtest tbody th { overflow-wrap: anywhere; }
.sigtest :is(h2, caption, thead) { break-after: avoid; }
.sigtest figure, .sigtest tr { break-inside: avoid; }
.sigtest figure svg { max-height: 23cm; }
.sigtest .wide svg { width: 100%; }
}
"""


def style_sheet() -> str:
    """The style sheet, each rule stronger than any that a notebook has for its outputs."""
    style = _STYLE.replace("@DARK@", darkening(".sigtest svg "))
    return style.replace(".sigtest", STRONG)
