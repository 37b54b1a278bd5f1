import ast
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sentences import sentences

from sigtest import cli
from sigtest.cli.files import write
from sigtest.cli.options import COMMANDS, Parser
from sigtest.cli.shell import bar
from sigtest.metrics import METRICS
from sigtest.render.formats import FORMATS
from sigtest.significance import CORRECTIONS, TESTS

FAST = ["--resamples", "99"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A folder with ref.txt, good.txt and bad.txt of 12 lines, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    lines = [f"the {i} th line of a text with word{i}" for i in range(12)]
    Path("ref.txt").write_text("".join(f"{line}\n" for line in lines))
    Path("good.txt").write_text("".join(f"{line[: 30 - i % 3]}\n" for i, line in enumerate(lines)))
    Path("bad.txt").write_text("".join(f"{line[4 + i % 2 :]}\n" for i, line in enumerate(lines)))
    Path("folder").mkdir()
    return tmp_path


@pytest.fixture
def report(answer):
    """A comparison with --format json; the report."""
    return lambda *arguments: answer("compare", *arguments, *FAST)


BOTH = ("compare", "-r", "ref.txt", "good.txt", "bad.txt")


def test_options_may_stand_between_files(report):
    found = report("good.txt", "-r", "ref.txt", "--metric", "chrf", "bad.txt", "--metric", "ter")
    assert list(found["metrics"]) == ["chrf", "ter"]
    assert len(found["systems"]) == 2


def test_recipe_options_reach_the_recipe(report):
    found = report(
        *BOTH[1:], "--metric", "bleu:tokenize=char", "--test", "bootstrap", "--seed", "0",
        "--alpha", "0.1", "--correction", "none", "--alternative", "greater", "--exact", "never",
        "--baseline", "bad",
    )  # fmt: skip
    for part in ("tokenize:char", "tests:bootstrap", "seed:0", "alpha:0.1", "correction:none",
                 "alternative:greater", "exact:never", "pairs:baseline=bad"):  # fmt: skip
        assert part in found["signature"]
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("good", "bad")]


def test_documents_may_be_the_unit(report):
    Path("docs.txt").write_text("".join(f"d{i // 3}\n" for i in range(12)))
    found = report(*BOTH[1:], "--documents", "docs.txt", "--unit", "document")
    assert found["testset"]["documents"] == 4


def test_bom_and_crlf_are_stripped_and_odd_separators_split_nothing(report):
    text = Path("good.txt").read_text().replace("\n", "\r\n")
    Path("dos.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    odd = Path("good.txt").read_text().replace(" ", "\u2028\x85\x0c", 3)
    Path("odd.txt").write_text(odd)
    found = report("-r", "ref.txt", "good.txt", "dos.txt", "odd.txt")
    scores = [system["scores"]["bleu"]["score"] for system in found["systems"]]
    assert scores[0] == scores[1]
    assert found["testset"]["segments"] == 12
    # metrics may overlook a carriage return; the hash that tells identical systems does not
    assert any("good, dos" in warning for warning in sentences(found))


def test_standard_input_is_one_of_the_files(files):
    command = [sys.executable, "-c", "import sys; from sigtest.cli import main; sys.exit(main())"]
    ran = subprocess.run(
        [*command, "compare", "-r", "ref.txt", "good.txt", "piped=-", *FAST, "--format", "csv"],
        input=Path("bad.txt").read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"good,piped,bleu" in ran.stdout


def test_scores_may_take_the_place_of_text(report):
    Path("a.tsv").write_text("0.5\n0.75\n1\n")
    Path("b.tsv").write_text("0.25\n5e-1\n[0.75]\n")
    found = report("--scores", "A=a.tsv", "--scores", "B=b.tsv")
    assert found["systems"][0]["scores"]["scores"]["score"] == 0.75
    assert found["pairs"][0]["difference"] == 0.25


def test_scores_with_labels_stand_beside_text(report):
    for name in ("good", "bad"):
        Path(f"{name}.num").write_text("1\n" * 12)
        Path(f"{name}.tuples").write_text("3 4 5\n" * 12)
    scores = [f"--scores={kind}:{name}={name}.{kind}" for kind in ("num", "tuples")
              for name in ("good", "bad")]  # fmt: skip
    found = report(*BOTH[1:], *scores, "--metric=bleu", "--metric=scores:of=num",
                   "--metric=fscore:of=tuples")  # fmt: skip
    assert list(found["metrics"]) == ["bleu", "num", "tuples"]
    assert found["systems"][1]["scores"]["tuples"]["score"] == pytest.approx(2 * 3 / (4 + 5))


def test_output_is_written_whole_and_nothing_is_left_beside_it(run, files):
    Path("report.json").write_text("old")
    status, out, err = run(*BOTH, *FAST, "--format", "json", "--output", "report.json")
    assert (status, out, err) == (0, "", "")
    assert json.loads(Path("report.json").read_text())["pairs"]
    assert not list(files.glob(".*"))


@pytest.mark.parametrize(
    "asked",
    [
        ["-r", "ref.txt", "good.txt", "bad.txt", "--output", "ref.txt"],
        ["-r", "ref.txt", "good.txt", "b=./bad.txt", "--output", "bad.txt"],
        [
            "-r",
            "ref.txt",
            "good.txt",
            "--replicas=b=good.txt,bad.txt",
            "--output=folder/../bad.txt",
        ],
        ["--scores=a:x=good.txt", "--scores=a:y=bad.txt", "--output", "bad.txt"],
    ],
)
def test_output_never_overwrites_what_is_read(complaint, files, asked):
    before = {path: path.read_bytes() for path in files.glob("*.txt")}
    assert "would overwrite" in complaint("compare", *asked)
    assert {path: path.read_bytes() for path in files.glob("*.txt")} == before


def test_a_write_that_fails_leaves_the_old_file(files, monkeypatch):
    Path("report.txt").write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write(b"new", "report.txt")
    assert Path("report.txt").read_text() == "old"
    assert not list(files.glob(".*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full here")
def test_a_full_disk_is_told_with_the_name_of_the_file(run):
    status, out, err = run(*BOTH, *FAST, "--output", "/dev/full")
    assert (status, out, err) == (2, "", "sigtest: /dev/full: No space left on device\n")


@pytest.mark.parametrize("form", ["json", "bibtex"])
def test_a_layout_of_what_has_no_tables_is_refused(run, form):
    status, out, err = run(*BOTH, *FAST, "--format", form, "--table", "pairs")
    assert (status, out) == (2, "")
    assert err == (
        f"sigtest: {form} has no tables; leave table out, or take text, csv, markdown, latex, "
        "html.\n"
    )


def test_many_pairs_are_listed_on_demand(run):
    for i in range(9):
        Path(f"s{i}.txt").write_text("x y z\n" * (12 - i) + Path("ref.txt").read_text())
        Path(f"s{i}.txt").write_text(
            "\n".join(Path(f"s{i}.txt").read_text().split("\n")[:12]) + "\n"
        )
    systems = [f"s{i}.txt" for i in range(9)]
    every = run("compare", "-r", "ref.txt", *systems, "--every-pair")[1]
    assert sum(" better" in line or "not separated" in line for line in every.splitlines()) == 36


def bad_files():
    good = "a b c\n" * 12
    return {
        "short": (good[:-6].encode(), ["broken.file has 11 lines", "ref.txt has 12"]),
        "empty": (b"", ["broken.file is empty"]),
        "nul": (b"a\0b\n" * 12, ["broken.file, line 1", "NUL byte at byte offset 1"]),
        "latin-1": (b"abc\ncaf\xe9\n", ["broken.file, line 2", "byte offset 7", "0xe9"]),
        "utf-16": (good.encode("utf-16"), ["broken.file is UTF-16"]),
        "cut gzip": (gzip.compress(good.encode())[:-9], ["broken.file is not a whole gzip file"]),
        "long line": (b"x" * 200_000, ["broken.file, line 1", "200,000 characters", "100,000"]),
    }


@pytest.mark.parametrize("kind", bad_files())
@pytest.mark.parametrize("place", ["system", "reference", "documents"])
def test_bad_files_are_named_with_what_is_wrong(complaint, kind, place):
    content, parts = bad_files()[kind]
    Path("broken.file").write_bytes(content)
    where = {"system": ["broken.file"], "reference": ["-r", "broken.file"],
             "documents": ["--documents", "broken.file"]}  # fmt: skip
    said = complaint(*BOTH, *where[place])
    assert all(part in said for part in parts), said


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([], ["No references"]),
        (["-r", "ref.txt"], ["at least one system", "0 given"]),
        (
            ["-r", "ref.txt", "good.txt", "good.txt"],
            ["both named 'good'", "the system in it", "NAME=FILE"],
        ),
        (
            ["-r", "ref.txt", "good.txt", "missing.txt"],
            ["missing.txt: No such file", "This folder has"],
        ),
        (["-r", "ref.txt", "God.txt"], ["God.txt: No such file", "Did you mean 'good.txt'?"]),
        (["-r", "ref.txt", "foldr/x.txt"], ["foldr/x.txt: No such file", "mean 'folder'?"]),
        (["-r", "ref.txt", "folder/x.txt"], ["folder/x.txt: No such", "folder has no files."]),
        (["-r", "ref.txt", "good.txt", "folder"], ["folder is a folder", "without any file"]),
        (["-r", "-", "good.txt", "-"], ["Standard input", "only one"]),
        (["-r", "ref.txt", "good.txt", "../x=bad.txt"], ["bad.txt", "'../x'", "'/'"]),
        (["-r", "ref.txt", "good.txt", "..=bad.txt"], ["bad.txt", "dots"]),
        (["-r", "ref.txt", "good.txt", "a\nb=bad.txt"], ["bad.txt", r"\n"]),
        (["-r", "ref.txt", "good.txt", "a\x1b[1m=bad.txt"], ["bad.txt", r"\x1b"]),
        (["-r", "ref.txt", "good.txt", 'a"b=bad.txt'], ["bad.txt", '"']),
        (["-r", "ref.txt", "good.txt", "<b>=bad.txt"], ["bad.txt", "'<'"]),
        (["-r", "ref.txt", "good.txt", "=bad.txt"], ["bad.txt", "1 to 200 characters"]),
        (["-r", "ref.txt", "good.txt", "name="], ["names no file"]),
        (["-r", "", "good.txt", "bad.txt"], ["-r or --reference needs the name of a file"]),
        (["-r", "ref.txt", "good.txt", ""], ["[NAME=]SYSTEM needs the name of a file"]),
        ([*BOTH[1:], "--documents", ""], ["--documents or --clusters needs the name of a file"]),
        ([*BOTH[1:], "--output", ""], ["--output needs the name of a file"]),
        ([*BOTH[1:], "--plots", ""], ["--plots needs the name of a file"]),
        ([*BOTH[1:], "--metric", "blue"], ["Unknown metric 'blue'", "mean 'bleu'"]),
        ([*BOTH[1:], "--metric", "acc_norm"], ["'acc_norm'", "scores:of=LABEL"]),
        ([*BOTH[1:], "--metric", "bleu:tokenise=zh"], ["option of bleu", "mean 'tokenize'"]),
        ([*BOTH[1:], "--metric", "bleu:tokenize"], ["needs a value"]),
        ([*BOTH[1:], "--metric", "bleu", "--metric", "bleu"], ["2 times"]),
        ([*BOTH[1:], "--test", "bootstrp"], ["significance test", "mean 'bootstrap'"]),
        ([*BOTH[1:], "--unit", "documents"], ["mean 'document'"]),
        ([*BOTH[1:], "--unit", "document"], ["document of every segment"]),
        ([*BOTH[1:], "--width", "16cm"], ["--width is about pictures; it needs --plots DIR"]),
        ([*BOTH[1:], "--plots", "ref.txt"], ["ref.txt: File exists. Name a folder."]),
        ([*BOTH[1:], "--format", "jsn"], ["format", "mean 'json'"]),
        ([*BOTH[1:], "--baseline", "nobody"], ["'nobody'", "good, bad"]),
        ([*BOTH[1:], "--baseline", "BAD"], ["baseline", "mean 'bad'"]),
        ([*BOTH[1:], "--resamples", "many"], ['"auto"', "'many'"]),
        ([*BOTH[1:], "--jobs", "0"], ["--jobs must be 1 or more, not 0"]),
        ([*BOTH[1:], "--seed", "x"], ["seed must be a whole number"]),
        ([*BOTH[1:], "--alpha", "1e-300"], ["alpha must be at least 1e-100"]),
        ([*BOTH[1:], "--alpha", "nan"], ["alpha", "between 0 and 1"]),
        ([*BOTH[1:], "--metri", "bleu"], ["unknown option '--metri'", "--metric"]),
        ([*BOTH[1:], "-Q", "x"], ["unknown option '-Q' (see sigtest compare --help)"]),
        ([*BOTH[1:], "--alpha"], ["--alpha", "expected one argument"]),
        ([*BOTH[1:], "--output", "nowhere/x"], ["nowhere", "No such file or directory"]),
        ([*BOTH[1:], "--output", "."], ["Is a directory"]),
        ([*BOTH[1:], "--server", "localhost:8000"], ["http://"]),
        (["--scores", "a.txt", "--scores", "b.txt"], ["[LABEL:]NAME=FILE"]),
    ],
)
def test_bad_usage_is_one_clear_message(complaint, arguments, parts):
    said = complaint("compare", *arguments)
    assert all(part in said for part in parts), said


@pytest.mark.parametrize(
    ("metric", "content", "said"),
    [
        ("scores", "1 2\n1 -2\n", "the weight of scores must not be negative, but it is -2"),
        ("ratio", "-1 2\n1 -0.5\n", "the denominator of ratio must not be negative, but it is -0"),
        ("fscore", "1 2 2\n-1 2 2\n", "the match of fscore must not be negative, but it is -1"),
        ("fscore", "1 2 2\n1 -2 2\n", "the system of fscore must not be negative, but it is -2"),
        ("fscore", "1 2 2\n1 2 -3\n", "the reference of fscore must not be negative"),
    ],
)
def test_amounts_must_not_be_negative(complaint, metric, content, said):
    Path("s.tsv").write_text(content)
    Path("t.tsv").write_text(content.replace("-", ""))
    told = complaint(
        "compare", "--scores", "A=t.tsv", "--scores", "B=s.tsv", "--metric", metric
    )  # fmt: skip
    assert f"System 'B', segment 2: {said}" in told


def test_unknown_commands_have_a_nearest(complaint):
    assert "Did you mean 'compare'?" in complaint("compere")


def test_a_picture_of_no_kind_asks_for_one(complaint):
    assert "plot which KIND of picture" in complaint("plot")


def test_the_package_runs_as_the_command():
    started = [sys.executable, "-m", "sigtest", "nonsense"]
    done = subprocess.run(started, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sigtest: unknown command 'nonsense'; choose one of compare,")


def test_help_and_version_need_no_command(run):
    assert run("--version")[1].startswith("sigtest ")
    assert run()[1] == run("--help")[1]
    assert "--every-pair" in run("compare", "--help")[1]


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("compare", "-r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]"),
        ("plot", "KIND [REPORT] [options]"),
        ("suite", "[NAME=]FOLDER [NAME=]FOLDER ... [options]"),
        ("testset", "create --name NAME -r FILE --server URL [options]"),
        ("submit", "ID [NAME=]FILE ... --server URL [options]"),
        ("leaderboard", "ID --server URL [options]"),
    ],
)
def test_help_says_first_what_is_needed_and_without_it_there_is_a_message(
    run, complaint, command, needed
):
    assert run(command, "--help")[1].startswith(f"usage: sigtest {command} {needed}\n")
    complaint(command)


def test_the_document_names_every_option_of_a_comparison(run):
    text = (Path(__file__).parents[3] / "docs" / "GUIDE.md").read_text()
    options = set(re.findall(r"(?<![\w-])--[a-z-]+", run("compare", "--help")[1])) - {"--help"}
    assert {option for option in options if not re.search(rf"{option}\b", text)} == set()


def test_help_of_gates_says_which_options_are_refused(run):
    shown = run("gate", "--help")[1]
    (told,) = re.findall(r"\. ([^.]*) are decided already", shown)
    named = set(re.findall(r"--\w+", told))
    given = {
        "--test": "bootstrap",
        "--interval": "percentile",
        "--alternative": "less",
        "--exact": "never",
    }
    assert named == set(given)
    assert not re.findall(r"(?m)^  (--test|--interval|--alternative|--exact) ", shown)
    assert "intervals have level 1 - 2 alpha" in " ".join(shown.split())
    for choice in given.items():
        assert run("gate", *BOTH[1:], *FAST, "--baseline", "bad", "--margin", "9", *choice)[0] == 2


def test_a_service_computes_for_the_commands_that_the_documentation_names(run):
    own = {name for name in COMMANDS if "--server" not in run(name, "--help")[1]}
    text = (Path(__file__).parents[3] / "docs" / "GUIDE.md").read_text()
    (without,) = re.findall(r"every command that computes has it but ([^.]*)\.", text)
    assert own - {"look", "metrics", "plot"} == set(re.findall(r"`(\w+)`", without))


def test_help_does_not_wait_for_numpy():
    code = "import sys; from sigtest.cli import main; main(['--help']); " \
           "sys.exit('numpy' in sys.modules)"  # fmt: skip
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_metrics_lists_every_registry(run):
    listed = run("metrics")[1]
    for name in (*METRICS, *TESTS, *CORRECTIONS):
        assert f"\n  {name}\n" in listed
    assert "tokenize=13a" in listed


def test_interruption_is_quiet(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sigtest.cli.compare.compare_here", interrupted)
    assert run(*BOTH) == (130, "", "")


def test_a_reader_that_goes_away_is_no_error(files):
    command = [sys.executable, "-c", "import sys; from sigtest.cli import main; sys.exit(main())"]
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*command, *BOTH, *FAST], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_progress_is_silent_unless_on_a_terminal(capsys, monkeypatch):
    with bar() as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with bar() as progress:
        progress("resampling", 50, 100)
    shown = capsys.readouterr().err
    assert "resampling" in shown
    assert " 50%" in shown
    assert shown.endswith("\x1b[K")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-r", "ref.txt", "refB.txt", "good.txt", "bad.txt"],
        ["-r", "good.txt", "refB.txt", "bad.txt"],
        ["-r", "ref.txt", "newstest-ende-ref.de", "good.txt"],
    ],
)
def test_a_reference_is_no_system_unless_it_has_the_name_of_one(run, report, arguments):
    name = next(own for own in arguments[2:] if "ref" in own)
    Path(name).write_text(Path("ref.txt").read_text().replace("word", "words"))
    said = run("compare", *arguments)[2]
    assert f"-r {name}" in said
    assert f"NAME={name}" in said
    named = [f"human={own}" if own == name else own for own in arguments]
    assert "human" in {own["name"] for own in report(*named)["systems"]}


@pytest.mark.parametrize("name", [own for own in FORMATS if own != "text"])
def test_the_suffix_of_the_output_is_its_format(run, name):
    asked = ["compare", "-r", "ref.txt", "good.txt", "bad.txt", *FAST]
    suffix = FORMATS[name].suffix
    assert run(*asked, "--output", f"by.{suffix}")[0] == 0
    assert run(*asked, "--format", suffix, "--output", "named.out")[0] == 0
    assert run(*asked, "--format", name, "--output", "named.txt")[0] == 0
    written = Path(f"by.{suffix}").read_bytes()
    assert written == Path("named.out").read_bytes() == Path("named.txt").read_bytes()
    other = "csv" if name == "json" else "json"
    status, _, said = run(*asked, "--output", f"other.{suffix}", "--format", other)
    assert (status, Path(f"other.{suffix}").exists()) == (2, False)
    assert f"other.{suffix}" in said
    assert other in said


@pytest.mark.parametrize("suffix", ["pdf", "xlsx", "svg", "tsv"])
def test_a_suffix_of_no_format_is_refused(run, suffix):
    asked = ["compare", "-r", "ref.txt", "good.txt", "bad.txt", *FAST]
    status, _, said = run(*asked, "--output", f"report.{suffix}")
    assert status == 2
    assert "json, csv, md, tex, bib, html" in said


def test_a_picture_has_its_suffix_and_the_name_of_a_metric_in_any_case(run):
    asked = ["compare", "-r", "ref.txt", "good.txt", "bad.txt", *FAST]
    assert run(*asked, "--output", "report.json")[0] == 0
    status, _, said = run("plot", "intervals", "report.json", "--output", "x.gif")
    assert (status, "x.gif: name a file .svg or .pdf or .png" in said) == (2, True)
    chosen = run("plot", "intervals", "report.json", "--metric", "bleu", "--output", "x.svg")
    assert chosen[0] == 0
    assert (
        run("plot", "intervals", "report.json", "--metric", "BLEU")[1] == Path("x.svg").read_text()
    )


def test_an_option_that_keeps_one_value_refuses_a_second(run):
    asked = ["compare", "-r", "ref.txt", "good.txt", "bad.txt", *FAST]
    assert run(*asked, "--seed", "1", "--seed", "1")[0] == 0
    status, _, said = run(*asked, "--seed", "1", "--seed", "2")
    assert (status, "--seed is given twice: 1 and 2" in said) == (2, True)
    said = run("human", "x.csv", "--alpha", ".05", "--alpha", ".01")[2]
    assert "--alpha is given twice: .05 and .01" in said
    parsers = [Parser(COMMANDS[command]) for command in COMMANDS]
    single = [
        own for parser in parsers for own in parser.actions if type(own).__name__ == "_StoreAction"
    ]
    assert {own.dest for own in single if own.option_strings} == set()


def test_one_system_with_its_reference_has_scores_and_intervals(report):
    """The score is sacreBLEU's."""
    found = report("-r", "ref.txt", "good.txt")
    ours, reference = (Path(name).read_text().splitlines() for name in ("good.txt", "ref.txt"))
    (system,) = found["systems"]
    score = system["scores"]["bleu"]
    assert score["score"] == pytest.approx(BLEU().corpus_score(ours, [reference]).score)
    assert score["ci"][0] <= score["score"] <= score["ci"][1]
    assert found["pairs"] == []


def test_every_option_that_a_command_looks_at_is_one_of_some_command():
    """An option that a command does not have is none there, and so is one that is misspelt."""
    known = {action.dest for name in COMMANDS for action in Parser(COMMANDS[name]).actions}
    known |= {default for name in COMMANDS for default in Parser(COMMANDS[name])._defaults}
    looked_at = set[str]()
    for path in Path(cli.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "options":
                (looked_at if isinstance(node.ctx, ast.Load) else known).add(node.attr)
    # a method, what every command has, and what is read off a signature
    assert looked_at - known - {"some", "command", "decided", "__name__", "__doc__"} == set()
