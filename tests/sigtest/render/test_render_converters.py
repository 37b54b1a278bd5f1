"""Pictures as PDF and PNG: of the size they are drawn in, with their fonts, taken by LaTeX."""

import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from written import rendered, report

from sigtest.cli import main
from sigtest.errors import RecipeError, UnavailableError
from sigtest.kinds import KINDS
from sigtest.render.drawing import converted
from sigtest.render.pictures import PICTURES

typst = pytest.importorskip("typst", reason="PDF and PNG need the extra `pictures`")
NAMES = {"zh": "北京大学", "ar": "جامعة القاهرة"}


def has_font(language: str) -> bool:
    """Whether a font of this machine has a language's letters."""
    if shutil.which("fc-list") is None:
        return False
    listed = subprocess.run(["fc-list", f":lang={language}"], capture_output=True, text=True)
    return bool(listed.stdout.strip())


def read(folder: Path, pdf: bytes, *command: str) -> str:
    path = folder / "picture.pdf"
    path.write_bytes(pdf)
    return subprocess.run([*command, str(path), "-"][: len(command) + 1 + (
        command[0] == "pdftotext")], capture_output=True, text=True, check=True).stdout  # fmt: skip


@pytest.fixture(scope="module")
def svg() -> str:
    return PICTURES["intervals"].draw(report(), {"width": "12cm"})


def test_a_pdf_is_the_same_bytes_each_time_and_of_the_width_asked_for(svg):
    made = converted(svg, "pdf")
    assert made.startswith(b"%PDF-1.5")
    assert made == converted(svg, "pdf")
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+)", made)
    assert float(box[1]) == pytest.approx(12 * 72 / 2.54, abs=0.01)


def test_a_png_has_300_dots_an_inch(svg):
    made = converted(svg, "png")
    assert made.startswith(b"\x89PNG")
    wide, _ = struct.unpack(">II", made[16:24])
    assert wide == pytest.approx(12 / 2.54 * 300, abs=2)


@pytest.mark.skipif(shutil.which("pdffonts") is None, reason="needs pdffonts")
@pytest.mark.parametrize("language", NAMES)
def test_names_have_their_letters_and_fonts_are_embedded(tmp_path, language):
    if not has_font(language):
        pytest.skip(f"no font here has the letters of {language}")
    name = NAMES[language]
    made = converted(PICTURES["intervals"].draw(report((name, "B")), {}), "pdf")
    fonts = read(tmp_path, made, "pdffonts").splitlines()[2:]
    assert len(fonts) >= 2  # one for Latin letters, one for others
    assert all(re.search(r"\byes yes\b", line) for line in fonts)
    text = read(tmp_path, made, "pdftotext")
    assert all(word in text for word in name.split())
    assert "\N{REPLACEMENT CHARACTER}" not in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_takes_a_pdf_without_a_warning(tmp_path, svg):
    (tmp_path / "picture.pdf").write_bytes(converted(svg, "pdf"))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{graphicx}\begin{document}\noindent"
        r"\includegraphics{picture.pdf}\end{document}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "picture.pdf" in ran.stdout
    assert "Warning" not in ran.stdout.replace("No file paper.aux", "")
    assert "Overfull" not in ran.stdout


def test_without_typst_one_error_says_so_before_anything_is_computed(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UnavailableError, match="PDF need typst: pip install typst"):
        converted("<svg/>", "pdf")
    assert converted("<svg/>", "svg") == b"<svg/>"
    asked = ["compare", "-r", "nowhere.txt", "a.txt", "b.txt", "--plots", str(tmp_path)]
    assert main([*asked, "--plots-as", "pdf"]) == 2
    assert "pip install typst" in capsys.readouterr().err
    assert main(["plot", "matrix", "nowhere.json", "--output", "x.png"]) == 2
    assert "PNG need typst" in capsys.readouterr().err


def test_the_suffix_says_what_the_shell_writes(tmp_path):
    stored = tmp_path / "report.json"
    stored.write_text(rendered("json", report()), encoding="utf-8")
    for suffix, start in (("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        target = tmp_path / f"matrix.{suffix}"
        assert main(["plot", "matrix", str(stored), "--output", str(target)]) == 0
        assert target.read_bytes().startswith(start)


def test_all_pictures_of_a_folder_are_of_one_format(example, tmp_path, capsys):
    texts = [str(example / "systems" / name) for name in ("aspen.en", "birch.en")]
    asked = ["compare", "-r", str(example / "reference.en"), *texts, "-m", "ter"]
    asked += ["--resamples", "99", "--exact", "never", "--distribution", "aspen", "birch"]
    assert main([*asked, "--plots", str(tmp_path), "--plots-as", "pdf"]) == 0
    written = sorted(tmp_path.iterdir())
    assert [path.suffix for path in written] == [".pdf"] * 3
    assert all(path.read_bytes().startswith(b"%PDF") for path in written)
    assert main([*asked[:-3], "--plots-as", "pdf"]) == 2
    assert "needs --plots DIR" in capsys.readouterr().err
    assert main([*asked, "--plots", str(tmp_path), "--plots-as", "gif"]) == 2
    assert "svg, pdf, png" in capsys.readouterr().err


def test_a_report_saves_its_pictures(tmp_path):
    kind = KINDS["comparisons"]
    own = kind.read(report().as_json())
    own.save(tmp_path / "first.pdf")
    assert (tmp_path / "first.pdf").read_bytes().startswith(b"%PDF")
    own.save(tmp_path / "ter.svg", picture="matrix", metric="ter")
    assert (tmp_path / "ter.svg").read_text() == own.to_svg("matrix", metric="ter")
    with pytest.raises(RecipeError, match="is a picture, which has no table"):
        own.save(tmp_path / "x.png", table="systems")
    with pytest.raises(RecipeError, match="is no picture"):
        own.save(tmp_path / "x.html", picture="matrix")
