"""The bibliography: whole, cited, and read by BibTeX without a warning."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sigtest
from sigtest.metrics import METRICS
from sigtest.metrics.scores import ScoreMetric
from sigtest.papers import papers
from sigtest.significance import CORRECTIONS, TESTS

OWN = [kind for kind in METRICS.values() if not issubclass(kind, ScoreMetric)]
CORRECTED = [entry for name, entry in CORRECTIONS.items() if name != "none"]


@pytest.mark.parametrize("entry", [*OWN, *TESTS.values(), *CORRECTED], ids=lambda own: own.name)
def test_what_can_be_asked_for_has_its_paper(entry):
    assert entry.papers
    assert set(entry.papers) <= papers().keys()


def test_no_paper_is_there_for_nothing():
    package = Path(sigtest.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert [key for key in papers() if f'"{key}"' not in code and f"'{key}'" not in code] == []


@pytest.mark.parametrize(
    ("key", "cited"),
    [
        ("holm-1979-simple", "Holm, 1979"),
        ("riezler-maxwell-2005-pitfalls", "Riezler and Maxwell, 2005"),
        ("graham-etal-2014-randomized", "Graham et al., 2014"),
        ("sidak-1967-rectangular", "Šidák, 1967"),
        ("popovic-2015-chrf", "Popović, 2015"),
        ("student-1908-probable", "Student, 1908"),
        ("sigtest", "sigtest developers, 2026"),
    ],
)
def test_authors_and_year_stand_as_a_text_has_them(key, cited):
    assert papers()[key].cited == cited


def test_a_key_names_author_and_year():
    for key, paper in papers().items():
        if key != "sigtest":
            year = re.search(r"-(\d{4})-", key)[1]
            assert paper.cited.endswith(year)
            assert f"year = {{{year}}}" in paper.bibtex


PAPER = r"""\documentclass{article}\usepackage{natbib}\begin{document}\nocite{*}
\bibliographystyle{plainnat}\bibliography{all}\end{document}"""


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="needs LaTeX and bibtex")
def test_latex_sets_the_whole_bibliography_without_further_packages(tmp_path):
    bibliography = "\n\n".join(paper.bibtex for paper in papers().values())
    (tmp_path / "all.bib").write_text(bibliography, encoding="utf-8")
    (tmp_path / "paper.tex").write_text(PAPER)
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for command in (latex, ["bibtex", "paper"], latex):
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stdout[-2000:]


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="needs bibtex")
def test_bibtex_reads_the_whole_bibliography_without_a_warning(tmp_path):
    bibliography = "\n\n".join(paper.bibtex for paper in papers().values())
    (tmp_path / "all.bib").write_text(bibliography, encoding="utf-8")
    aux = r"\citation{*}" "\n" r"\bibstyle{plain}" "\n" r"\bibdata{all}" "\n"
    (tmp_path / "paper.aux").write_text(aux)
    ran = subprocess.run(
        ["bibtex", "paper"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert [line for line in ran.stdout.splitlines() if "arning" in line] == []
    assert (tmp_path / "paper.bbl").read_text(encoding="utf-8").count(r"\bibitem") == len(papers())
