"""Methods and bibliographies in every look."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from written import hostile, rendered, report

PAPER = r"""\documentclass{article}
\usepackage{natbib}
\begin{document}
%s
\bibliographystyle{plainnat}\bibliography{refs}
\end{document}
"""


def test_a_bibliography_has_each_paper_once():
    shown = rendered("bibtex", report())
    keys = re.findall(r"^@\w+\{(.+),$", shown, re.M)
    assert keys == [own.key for own in report().methods.references]
    assert rendered("bibtex", replace(report(), methods=None)).startswith("%")


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="needs LaTeX and bibtex")
@pytest.mark.parametrize("made", [report(), report(tests=("bootstrap",), correction="sidak")])
def test_latex_and_bibtex_set_the_methods(tmp_path, made):
    (comment,) = [r for r in rendered("latex", made).splitlines() if r.startswith("% Methods")]
    (tmp_path / "paper.tex").write_text(PAPER % comment.partition(": ")[2], encoding="utf-8")
    (tmp_path / "refs.bib").write_text(rendered("bibtex", made), encoding="utf-8")
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for command in (latex, ["bibtex", "paper"], latex, latex):
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout[-2000:]
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "undefined" not in log
    assert (tmp_path / "paper.bbl").read_text().count(r"\bibitem") == len(made.methods.references)


def test_methods_are_escaped():
    made = hostile()
    text = "a & b_c 5 % <script> @misc{x, $x$ \\input{y} #"
    made = replace(made, methods=replace(report().methods, text=text))
    assert "<script>" not in rendered("html", made)
    assert rendered("bibtex", made).count("@misc") == 1  # sigtest's own
    (comment,) = [r for r in rendered("latex", made).splitlines() if r.startswith("% Methods")]
    assert r"a \& b\_c 5~\% " in comment
    assert r"\input{" not in comment
