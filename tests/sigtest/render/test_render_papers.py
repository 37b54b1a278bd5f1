"""Tables for papers: what they mark, and that LaTeX sets them without a warning."""

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from written import hostile, rendered, report, reported_on_several, with_pair

from sigtest.cli import main
from sigtest.errors import RecipeError
from sigtest.render.pictures import PICTURES
from sigtest.report import Report, renamed

NAMES = tuple(f"Team-{chr(65 + i)}{'-two' * (i % 2)}" for i in range(19))
SYMBOLS = {"text": "", "markdown": r"\*\*", "latex": r"\\mathbf{", "html": 'class="number best">'}


def nineteen() -> Report:
    return report(NAMES, metrics=["bleu", "chrf"], exact="never")


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_systems_that_none_is_better_than_are_bold(form):
    made = report(tuple("ABCDEF"), metrics=["bleu"])
    first = {
        f"{system.scores['bleu'].score:.1f}"
        for system in made.systems
        if system.ranks["bleu"]["approximate_randomization"].range[0] == 1
    }
    assert 1 < len(first) < 6
    shown = rendered(form, made, table="systems")
    assert set(re.findall(SYMBOLS[form] + r"(\d+\.\d)\b", shown)) == first
    assert "no system is significantly better" in shown


@pytest.mark.parametrize(
    ("form", "dagger"),
    [("text", "†"), ("markdown", "†"), ("latex", r"\^{\\dagger}"), ("html", "<sup>†")],
)
def test_daggers_stand_at_what_is_not_like_the_baseline(form, dagger):
    asked = {"metrics": ["bleu"], "pairs": {"baseline": "system-0"}, "exact": "never"}
    made = with_pair(report(("base", "B", "C", "D"), **asked), significant=False)
    apart = {f"{pair.score_a:.1f}" for pair in made.pairs if pair.significant}
    assert len(apart) == 2
    shown = rendered(form, made, table="systems")
    assert set(re.findall(rf"(\d+\.\d)[*$]*{dagger}", shown)) == apart
    assert "significantly different from base" in shown


def test_names_that_fill_a_page_leave_room_for_a_table():
    """LaTeX scales it down; each number stands there once."""
    made = report(("W" * 131, "V" * 200), metrics=["bleu", "chrf"], exact="never")
    shown = rendered("latex", made)
    for system in made.systems:
        for metric in ("bleu", "chrf"):
            assert f"{system.scores[metric].score:.2f}" in shown


def only_first_undecided(made: Report) -> Report:
    """The same, with its first pair as the only one that more resamples could turn round."""
    pairs = tuple(replace(pair, undecided=pair is made.pairs[0]) for pair in made.pairs)
    return replace(made, pairs=pairs)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
@pytest.mark.parametrize("pairs", ["all", {"baseline": "system-0"}])
def test_what_rests_on_an_undecided_decision_is_marked(form, pairs):
    """In a table that says nothing else of pairs: both systems, or the one beside a baseline."""
    made = report(("Xa", "Xb", "Xc", "Xd"), metrics=["bleu"], pairs=pairs, exact="never")
    made = only_first_undecided(made)
    rows = re.findall(r"^.*\bX[a-d]\b.*\d.*$", rendered(form, made, table="systems"), re.M)
    marked = {re.findall(r"\bX[a-d]\b", row)[0] for row in rows if "?" in row and "%" not in row}
    first = made.pairs[0]
    assert marked == ({first.a, first.b} if pairs == "all" else {first.a} - {"Xa"})
    assert "could change the decision or the rank" in rendered(form, made, table="systems")
    settled = with_pair(made, undecided=False)
    assert "could change" not in rendered(form, settled, table="systems")


@pytest.mark.parametrize("name", ["matrix", "intervals", "grid"])
def test_pictures_mark_what_is_undecided(name):
    made = only_first_undecided(report(tuple("ABCD"), exact="never"))
    draw = PICTURES[name].draw
    assert "? undecided<" in draw(made, {})
    assert "undecided" not in draw(with_pair(made, undecided=False), {})


def test_a_table_that_goes_on_below_draws_no_other_metrics_clusters():
    metrics = ["bleu", "chrf", "ter", "chrf:word_order=2"]
    shown = rendered("text", report(tuple("ABCD"), metrics=metrics, exact="never"), table="systems")
    first, second = re.findall(r"^system.*?(?=\n\n)", shown, re.M | re.S)
    assert "╌" in first
    assert "╌" not in second


def test_a_matrix_needs_all_pairs(example, monkeypatch, capsys):
    with pytest.raises(RecipeError, match="all pairs"):
        rendered("text", report(pairs={"baseline": "system-0"}), table="matrix")
    with pytest.raises(RecipeError, match="Did you mean 'matrix'"):
        rendered("text", report(), table="matrx")
    monkeypatch.chdir(example)
    files = ["-r", "reference.en", "systems/aspen.en", "systems/birch.en", "--baseline", "birch"]
    assert main(["compare", *files, "--table", "matrix"]) == 2
    assert "all pairs" in capsys.readouterr().err


def test_nineteen_systems_in_two_metrics_are_one_float_of_one_column():
    shown = rendered("latex", nineteen(), table="systems")
    assert shown.count(r"\begin{table") == shown.count(r"\begin{table}") == 1
    assert r"\fontsize{8}" in shown
    rows = [line for line in shown.splitlines() if line.startswith("Team")]
    assert len(rows) == 19
    assert {row.count("&") for row in rows} == {6}


PAPER = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs,graphicx}
\setlength\columnsep{17pt}\setlength\textwidth{455.2pt}\setlength\hoffset{-1in}
\begin{document}
%s
Text.\clearpage
\end{document}
"""


SLIDES = r"""\documentclass{beamer}
\usepackage{booktabs}
\begin{document}
\begin{frame}[allowframebreaks]
%s
\end{frame}
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("table", [None, "systems", "pairs", "matrix"])
def test_latex_sets_tables_without_a_warning(tmp_path, table):
    """In two columns of 7.7 cm; also names with every character that LaTeX knows."""
    tests = ("approximate_randomization", "riezler_maxwell_bootstrap")
    baseline = report(("A", "B", "C"), pairs={"baseline": "system-0"})
    made = [nineteen(), reported_on_several(), report(("A", "B", "C"), tests=tests)]
    if table != "matrix":
        made.append(baseline)
    texts = [rendered("latex", one, table=table) for one in made]
    (tmp_path / "paper.tex").write_text(PAPER % "\n".join(texts), encoding="utf-8")
    assert not complaints(tmp_path)
    (tmp_path / "paper.tex").write_text(PAPER % rendered("latex", hostile(), table=table))
    assert not [line for line in complaints(tmp_path) if not line.startswith("Overfull")]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_a_full_matrix_and_a_methods_paragraph_stay_within_their_columns(tmp_path):
    clear = {"p_adjusted": 1e-4, "significant": True, "undecided": False}
    made = nineteen()
    made = replace(made, pairs=tuple(replace(pair, **clear) for pair in made.pairs))
    methods = re.search(r"% Methods.*?: (.*)", rendered("latex", report(metrics=["bleu", "chrf"])))
    text = f"{methods[1]}\n\n{rendered('latex', made, table='matrix')}"
    paper = PAPER.replace("\n", "\n\\newcommand\\citep[1]{[#1]}", 1) % text
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    assert not complaints(tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_wide_tables_are_set_in_classes_of_one_column(tmp_path):
    if not subprocess.run(["kpsewhich", "beamer.cls"], stdout=subprocess.PIPE, check=False).stdout:
        pytest.skip("needs beamer")
    shown = rendered("latex", nineteen(), table="pairs")
    assert r"\begin{table*}" in shown
    (tmp_path / "paper.tex").write_text(SLIDES % shown, encoding="utf-8")
    assert not [line for line in complaints(tmp_path) if line.startswith("!")]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_sets_any_number_of_tables(tmp_path):
    """LaTeX holds back floats until a page has room for them, and not many."""
    names = tuple(f"system {i}" for i in range(60))
    text = rendered("latex", report(names, metrics=["bleu", "chrf"], exact="never"))
    assert text.count(r"\begin{table") > 60
    (tmp_path / "paper.tex").write_text(PAPER % text, encoding="utf-8")
    assert not complaints(tmp_path)


def complaints(folder: Path) -> list[str]:
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert "/etc/passwd" not in ran.stdout
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    return re.findall(r"^(?:Overfull|.*Warning|!).*", log, re.M)


def named(letters: str) -> str:
    """A table whose systems are called by letters, one each."""
    return rendered("latex", report(tuple(f"x{c}x" for c in f"{letters}A")), table="systems")


LATIN = "àÄçéłŁőřßžąĐðþęĮŋŲ"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(("letters", "encoding"), [("", ""), (LATIN, "[T1]{fontenc}")])
def test_latin_letters_need_what_the_first_line_says(tmp_path, letters, encoding):
    shown = named(letters)
    first = shown.splitlines()[0]
    assert first.startswith(r"% Needs \usepackage{booktabs}, \usepackage{graphicx}")
    assert first.removesuffix(".").endswith(encoding or "{graphicx}")
    asked = "".join(re.findall(r"\\usepackage(?:\[\w+\])?\{\w+\}", first))
    paper = PAPER.replace(r"\usepackage{booktabs,graphicx}", asked) % shown
    (tmp_path / "paper.tex").write_text(paper, encoding="utf-8")
    assert not complaints(tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    "letter", [*"Ж机", *(pytest.param(own, marks=pytest.mark.slow) for own in "Ωạħか가ก")]
)
def test_other_letters_stop_pdflatex_and_the_first_lines_say_what_to_take(tmp_path, letter):
    shown = named(letter)
    needed = " ".join(shown.splitlines()[:4])
    assert "XeLaTeX or LuaLaTeX" in needed
    assert r"\setmainfont{Noto Serif}" in needed
    assert r"\setmainfont{Noto Serif CJK SC}" in needed
    (tmp_path / "paper.tex").write_text(PAPER % shown, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "Unicode character" in ran.stdout


THAI = r"\newfontfamily\inThai[Script=Thai]{Noto Sans Thai}"


def sets(*fonts: str) -> bool:
    """Whether XeLaTeX is here, and fonts."""
    if shutil.which("xelatex") is None or shutil.which("fc-list") is None:
        return False
    listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True)
    return all(font in listed.stdout for font in fonts)


def set_by_xelatex(folder: Path, fonts: str, shown: str) -> None:
    """The paper, with no letter that its fonts lack."""
    paper = PAPER.replace(r"{booktabs,graphicx}", rf"{{booktabs,graphicx,fontspec}}{fonts}")
    (folder / "paper.tex").write_text(paper % shown, encoding="utf-8")
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert "Missing character" not in (folder / "paper.log").read_text(errors="replace")


@pytest.mark.skipif(
    not sets("Noto Serif", "Noto Serif CJK SC"), reason="needs xelatex, Noto Serif and its CJK"
)
@pytest.mark.parametrize(
    ("letters", "font"), [("ЖΩạħ", "Noto Serif"), ("机か가", "Noto Serif CJK SC")]
)
def test_the_named_fonts_have_the_letters(tmp_path, letters, font):
    set_by_xelatex(tmp_path, rf"\setmainfont{{{font}}}", named(letters))


@pytest.mark.skipif(not sets("Noto Sans Thai"), reason="needs xelatex and Noto Sans Thai")
def test_names_in_a_font_of_their_own_lack_no_letter(tmp_path):
    shown = rendered("latex", report(("กรุงเทพ", "B")), names=(r"กรุงเทพ={\inThai กรุงเทพ}",))
    set_by_xelatex(tmp_path, THAI, shown)


UP = r"bleu=BLEU $\uparrow$"
DOWN = r"ter=TER $\downarrow$"


def test_names_and_captions_that_are_latex_stay_as_they_are():
    names = (UP, DOWN, r"A_1=\textsc{Ours}$_\text{big}$", "B=Plain & simple")
    made = report(("A_1", "B", "C"))
    shown = rendered(
        "latex", made, table="systems", caption=r"What $\alpha$ says.", label="tab:all", names=names
    )
    assert r"{BLEU $\uparrow$}" in shown
    assert r"{TER $\downarrow$}" in shown
    assert "lower is better" not in shown
    assert re.search(r"^\\textsc\{Ours\}\$_\\text\{big\}\$ &", shown, re.M)
    assert re.search(r"^Plain \\& simple &", shown, re.M)
    assert r"\caption{What $\alpha$ says; ranks and cluster lines" in shown
    assert r"\label{tab:all}" in shown


def test_a_percent_sign_stays_with_its_number():
    shown = rendered("latex", report(("A", "B")), table="systems")
    assert r"95~\% bootstrap intervals" in shown


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_names_are_escaped_in_all_other_looks(form):
    shown = rendered(form, report(), names=("bleu=<b>BLEU</b>", "A=Ours"))
    assert "Ours" in shown
    assert ("<b>BLEU</b>" in shown) == (form == "text")


def test_names_reach_every_table_of_several_test_sets():
    shown = rendered("text", reported_on_several(), names=("bleu=BLEU", "A=Ours"))
    assert "Pairs: BLEU" in shown
    assert "Test sets won by a: BLEU" in shown
    assert not re.search(r"^A ", shown, re.M)
    assert re.search(r"^Ours ", shown, re.M)


def test_a_test_set_called_as_a_system_keeps_its_name():
    made = reported_on_several(testsets=("A", "talks"))
    shown = renamed(made, {"A": "Ours", "bleu": "BLEU"})
    assert made.several is not None
    assert shown.several is not None
    assert [own.name for own in shown.several.testsets] == ["A", "talks"]
    for own in (shown, *(own.report for own in shown.several.testsets)):
        assert [system.name for system in own.systems] == ["Ours", "B", "C"]
        assert list(own.metrics) == list(own.systems[0].scores) == ["BLEU", "ter"]
        assert (own.pairs[0].a, own.pairs[0].b, own.pairs[0].metric) == ("Ours", "B", "BLEU")
    assert (shown.several.wins[0].a, shown.several.wins[0].metric) == ("Ours", "BLEU")
    assert renamed(shown, {"Ours": "A", "BLEU": "bleu"}) == made


def test_names_reach_the_table_of_discriminative_power():
    shown = rendered("markdown", report(), names=("bleu=Own BLEU", "ter=Own TER"))
    table = shown[shown.index("Discriminative power") :]
    assert "| Own BLEU |" in table
    assert "| Own TER |" in table


def test_a_metric_with_options_can_be_named():
    metrics = ["bleu:tokenize=char", "bleu:tokenize=none"]
    made = report(metrics=metrics)
    names = ("bleu:tokenize=char=BLEU = char", "bleu:tokenize=none=BLEU")
    shown = rendered("text", made, table="systems", names=names)
    assert "BLEU = char" in shown


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ({"names": ("blue=BLEU",)}, "Did you mean 'bleu'"),
        ({"names": ("bleu",)}, "NAME=SHOWN"),
        ({"names": ("bleu= ",)}, "nothing for 'bleu'"),
        ({"names": ("bleu=A", "bleu=B")}, "twice"),
        ({"names": ("A=X", "B=X")}, "two systems 'X'"),
        ({"names": ("bleu=X", "ter=X")}, "two metrics 'X'"),
        ({"caption": "x"}, "for one table"),
        ({"label": "x"}, "for one table"),
        ({"table": "systems", "label": "tab:{x}"}, "letters, digits"),
    ],
)
def test_layouts_that_mean_nothing_are_refused(layout, words):
    with pytest.raises(RecipeError, match=words):
        rendered("latex", report(), **layout)


def test_several_tables_keep_their_captions_and_have_labels_of_their_own():
    shown = rendered("latex", report(), table="matrix", caption="On news", label="tab:m")
    assert re.findall(r"\\label\{(.*)\}", shown) == ["tab:m", "tab:m-2"]
    captions = re.findall(r"\\caption\{(.*?),", shown)
    assert captions == [
        "On news. Who is better than whom: bleu",
        "On news. Who is better than whom: ter (lower is better)",
    ]


def test_a_table_of_systems_has_records_of_systems():
    made = report(("A", "B", "C"))
    rows = list(csv.DictReader(io.StringIO(rendered("csv", made, table="systems"))))
    assert [(row["system"], row["metric"]) for row in rows] == [
        (name, metric) for name in "ABC" for metric in ("bleu", "ter")
    ]
    first, known = rows[0], made.systems[0]
    assert float(first["score"]) == known.scores["bleu"].score
    assert (float(first["ci_low"]), float(first["ci_high"])) == known.scores["bleu"].ci
    place = known.ranks["bleu"][first["test"]]
    assert (int(first["rank_low"]), int(first["rank_high"])) == place.range
    assert int(first["cluster"]) == place.cluster
    on_several = rendered("csv", reported_on_several(), table="row").splitlines()
    assert on_several[0].startswith("testset,system,metric,score")
    assert len(on_several) == 1 + 3 * 3 * 2
    against = report(pairs={"baseline": "system-0"})
    unranked = csv.DictReader(io.StringIO(rendered("csv", against, table="systems")))
    assert {(row["test"], row["cluster"]) for row in unranked} == {("", "")}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_named_and_labelled_tables_are_set_without_a_warning(tmp_path):
    names = (UP, r"chrf=chrF $\uparrow$", r"Team-A=\textsc{Ours}$_2$")
    layout = {"caption": "Results of the shared task.", "label": "tab:results", "names": names}
    shown = rendered("latex", nineteen(), table="systems", **layout)
    assert shown.count(r"\begin{table") == shown.count(r"\begin{table}") == 1
    text = "See Table~\\ref{tab:results}.\n" + shown
    (tmp_path / "paper.tex").write_text(PAPER % text, encoding="utf-8")
    complaints(tmp_path)
    assert not complaints(tmp_path)  # the first run writes what the second refers to


def test_corrections_are_called_by_their_names_in_words():
    asked = {"metrics": ["bleu"], "correction": "benjamini_hochberg"}
    made = with_pair(report(("A", "B", "C"), **asked), significant=True)
    for form in ("text", "latex", "markdown", "html"):
        assert "two-sided, benjamini hochberg over 3 pairs" in rendered(form, made)
    by = "p adjusted by benjamini hochberg"
    assert f"* {by} is at most 0.05" in rendered("text", made)
    assert f"{by} is at most 0.05" in rendered("latex", made, table="matrix")
    assert by in PICTURES["matrix"].draw(made, {})
