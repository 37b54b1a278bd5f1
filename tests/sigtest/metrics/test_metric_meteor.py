"""METEOR: equal to its own program, however its processes fare."""

import csv
import html
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sigtest.comparison.comparison import parse_comparison
from sigtest.data.testset import System, TestSet
from sigtest.data.text import parse_lines
from sigtest.engine import measure_all
from sigtest.errors import InputError, RecipeError, UnavailableError
from sigtest.metrics import jvm
from sigtest.metrics import meteor as meteor_module
from sigtest.metrics.jvm import find
from sigtest.metrics.meteor import CHUNKS, Meteor, _meteor
from sigtest.progress import silent
from sigtest.requests.recipe import parse_metric

try:
    find()
except UnavailableError as missing:
    pytest.skip(missing.message, allow_module_level=True)


HOSTILE = [
    "",
    " ",
    "a ||| b",
    "a|||b||||c |",
    "||| |||",
    "tab\tseparated\fwords",
    "next line\x85 and\u2028 separators\u2029 inside",
    "SCORE ||| EVAL ||| x",
    "EVAL ||| 1 2 3",
    "\ufeffmark zero\u200bwidth no\u00a0break",
    "emoji \U0001f600\U0001f469\u200d\U0001f680 e\u0301 \u0130I\u0131",
    "\\u0041 \\n $1 \\1 %s DOTMULTI. DOTDOTMULTI... U.S. 1,000.5 it's 1990's -- - \u2013",
    "the " * 120,
    "中文 текст नमस्ते مرحبا",
]


BRIEF = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # for a run of less than a second


def corpus(data: Path, system: str, segments: int = 3003) -> tuple[TestSet, System]:
    folder = data / "wmt12.es-en"
    reference = parse_lines((folder / "reference.en").read_bytes(), "reference")
    lines = parse_lines((folder / "systems" / f"{system}.en").read_bytes(), system)
    return TestSet.of([reference[:segments]]), System.of(system, lines[:segments])


def oracle(oracles: Path, file: str, metric: str) -> dict[str, float]:
    rows = csv.reader((oracles / file).read_text("utf-8").splitlines(), delimiter="\t")
    return {row[1]: float(row[4]) for row in rows if len(row) > 4 and row[3] == metric}


def printed(arguments: tuple[str, ...], *options: str) -> list[str]:
    """What METEOR prints about files."""
    found = find()
    command = [str(found.java), "-Xmx1G", *BRIEF, "-jar", str(found.jar), *options, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("modules", ["exact+stem", "exact"])
def test_scores_with_some_modules_equal_meteors_own(data, oracles, modules):
    metric = f"METEOR_1.5_norm modules={modules}"
    wanted = oracle(oracles, "metrics.meteor-example.tsv", metric)["GTH-UPM"]
    meteor = Meteor(modules=modules)
    rows = meteor.statistics(*corpus(data, "GTH-UPM"))
    assert float(meteor.score(rows.sum(axis=0))) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_scores_of_a_system_equal_meteors_own(data, oracles):
    wanted = oracle(oracles, "metrics.wmt12.es-en.tsv", "METEOR_1.5_norm")["uedin-wmt12"]
    rows = Meteor().statistics(*corpus(data, "uedin-wmt12"))
    assert float(Meteor().score(rows.sum(axis=0))) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_meteors_example_has_the_scores_it_came_with(data):
    folder = data / "meteor-example"
    texts = [sgml(folder / name) for name in ("ref.sgm", "test.sgm")]
    keys = list(texts[0])
    testset = TestSet.of([[texts[0][key] for key in keys]])
    rows = Meteor().statistics(testset, System.of("test", [texts[1][key] for key in keys]))
    shipped = [line.split("\t") for line in (folder / "meteor-seg.scr").read_text().splitlines()]
    segments = {(row[2], row[3]): float(row[4]) for row in shipped}
    assert float(Meteor().score(rows.sum(axis=0))) == pytest.approx(0.299148440516935, abs=1e-12)
    assert Meteor().score(rows) == pytest.approx([segments[key] for key in keys], abs=1e-12)


def sgml(path: Path) -> dict[tuple[str, str], str]:
    texts = {}
    document = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        document = found[1] if (found := re.search(r'docid="([^"]*)"', line)) else document
        if segment := re.search(r'<seg id="?(\d+)"?>(.*)</seg>', line):
            texts[document, segment[1]] = html.unescape(segment[2]).strip()
    return texts


@pytest.mark.slow  # as all that loads the tables of paraphrases
@pytest.mark.parametrize(
    ("hypothesis", "wanted"),
    [
        ("the cat sat on the mat", 1.0),
        ("on the mat sat the cat", 0.4776696620223255),
        ("the cat was sat on the mat", 0.5119556177223324),
        ("", 0.0),
        ("completely different", 0.0),
    ],
)
def test_toy_sentences(hypothesis, wanted):
    testset = TestSet.of([["the cat sat on the mat"]])
    row = Meteor().statistics(testset, System.of("a", [hypothesis]))[0]
    assert float(Meteor().score(row)) == pytest.approx(wanted, abs=1e-12)


def test_rows_add_up_to_what_meteor_says_of_files(tmp_path):
    hypotheses = ["the cat sat", "a dog ran past me", "", "cats were sitting", "it is so"]
    reference = ["the cat sat", "past me ran a dog", "nothing", "a cat sits", "so it was"]
    files = write(tmp_path, hypotheses, reference)
    meteor = Meteor(modules="exact+stem")
    rows = meteor.statistics(TestSet.of([reference]), System.of("a", hypotheses))
    wanted = float(printed(meteor.arguments, *files)[-1].split(":")[1])
    assert float(meteor.score(rows.sum(axis=0))) == pytest.approx(wanted, abs=1e-12)
    assert rows[0, CHUNKS] == 0.0  # identical: not fragmented


def write(folder: Path, *texts: list[str]) -> list[str]:
    for i, lines in enumerate(texts):
        (folder / str(i)).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [str(folder / str(i)) for i in range(len(texts))]


@pytest.mark.parametrize("options", [
    {"norm": True},
    pytest.param({"norm": False}, marks=pytest.mark.slow),
    pytest.param({"no_punct": True}, marks=pytest.mark.slow),
])  # fmt: skip
def test_hostile_lines_are_read_as_in_files(tmp_path, options):
    meteor = Meteor(modules="exact+stem", **options)
    hypotheses = HOSTILE + HOSTILE
    reference = HOSTILE + HOSTILE[1:] + HOSTILE[:1]
    rows = meteor.statistics(TestSet.of([reference]), System.of("a", hypotheses))
    files = write(tmp_path, hypotheses, reference)
    lines = printed(meteor.arguments, *files, "-ssOut")
    wanted = np.array([line.split() for line in lines], dtype=np.float64)
    whole = rows[:, CHUNKS] != wanted[:, CHUNKS]
    assert (wanted[whole, CHUNKS] == 1).all()
    assert (np.delete(rows, CHUNKS, axis=1) == np.delete(wanted, CHUNKS, axis=1)).all()
    final = float(printed(meteor.arguments, *files)[-1].split(":")[1])
    assert float(meteor.score(rows.sum(axis=0))) == pytest.approx(final, abs=1e-12)


def test_processes_of_a_comparison_measure_the_same():
    comparison = parse_comparison(
        {
            "references": [["the cat sat", "a dog ran", "so it was"]],
            "systems": [
                {"name": "a", "hypotheses": ["the cat sat", "a dog", "it was"]},
                {"name": "b", "hypotheses": ["cat the sat", "dog a ran", "so"]},
            ],
            "metrics": [{"name": "meteor", "modules": "exact"}],
            "resamples": 9,
        }
    )
    ((alone,),) = measure_all(comparison, silent)
    ((shared,),) = measure_all(comparison, silent, jobs=2)
    assert shared.tobytes() == alone.tobytes()


def test_carriage_returns_do_not_shift_answers():
    meteor = Meteor(modules="exact")
    hypotheses = ["a\rSCORE ||| b", "c\r\rd", "e"]
    rows = meteor.statistics(TestSet.of([["a score b", "c d", "e"]]), System.of("x", hypotheses))
    assert rows[:, :2].tolist() == [[6, 3], [2, 2], [1, 1]]
    assert float(meteor.score(rows[2])) == 1.0


def test_the_best_reference_counts_and_missing_ones_do_not(tmp_path):
    hypotheses = ["the cat sat on the mat", "a dog", "so it goes"]
    first = ["a mat", "a dog", "so"]
    second = ["the cat sat", "the dog barks", "so it goes on"]
    lines = [line for pair in zip(first, second, strict=True) for line in pair]
    meteor = Meteor(modules="exact")
    files = write(tmp_path, hypotheses, lines)
    wanted = float(printed(meteor.arguments, *files, "-r", "2")[-1].split(":")[1])
    system = System.of("a", hypotheses)
    rows = meteor.statistics(TestSet.of([first, second]), system)
    assert float(meteor.score(rows.sum(axis=0))) == pytest.approx(wanted, abs=1e-12)
    some = meteor.statistics(TestSet.of([[None, "a dog", None], second]), system)
    assert (some[0] == meteor.statistics(TestSet.of([second]), system)[0]).all()
    assert (some[1] == rows[1]).all()


def test_scores_depend_on_no_neighbour(data):
    meteor = Meteor(modules="exact")
    rows = meteor.statistics(*corpus(data, "onlineB", 200))
    together = meteor.score(rows)
    assert together.tolist() == [float(meteor.score(row)) for row in rows]
    plain = getattr(_meteor, "py_func", _meteor)
    numbers = (0.85, 0.2, 0.6, 0.75)
    assert (plain(np.ascontiguousarray(rows.T), np.ones(1), *numbers) == together).all()


def test_a_segment_without_an_answer_is_named(monkeypatch):
    monkeypatch.setattr(jvm, "BATCH_SECONDS", 0.2)
    monkeypatch.setattr(jvm, "BATCH", 2)
    monstrous = " ".join(f"a{i % 7}" for i in range(20_000))
    testset = TestSet.of([["a", "b", "c", monstrous]])
    with pytest.raises(InputError, match=r"segment 4 of system 'x': it took longer") as caught:
        Meteor(modules="exact").statistics(testset, System.of("x", ["a", "b", "c", monstrous]))
    assert (caught.value.system, caught.value.line) == ("x", 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "klingon"}, "language of meteor 'klingon'"),
        ({"language": "de", "task": "adq"}, "task of meteor for language de, 'adq'"),
        ({"task": "x"}, "task of meteor for language en, 'x'"),
        ({"language": "de", "modules": "exact+paraphrase"}, "some of exact[+]stem"),
        ({"modules": "stem+exact"}, "no modules 'stem[+]exact'"),
        ({"language": "fi"}, "norm=false"),
        ({"norm": False, "no_punct": True}, "no_punct needs norm"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(RecipeError, match=message):
        parse_metric({"name": "meteor", **options})


@pytest.mark.parametrize("language", ["cs", "de", "sv"])
def test_constants_are_meteors_own(tmp_path, language):
    meteor = Meteor(language=language, norm=language != "sv", lower=True)
    numbers = meteor_module.tuning(language, "default")
    files = write(tmp_path, ["a"], ["a"])
    text = "\n".join(printed(meteor.arguments, *files))
    own = {
        name: re.findall(r"\S+", re.search(f"{name}:(.*)", text)[1])
        for name in ("Modules", "Weights", "Parameters")
    }
    assert own["Modules"] == list(meteor_module.modules(language))
    assert [float(x) for x in own["Weights"]] == list(numbers.weights[: len(own["Modules"])])
    assert [float(x) for x in own["Parameters"]] == [
        numbers.alpha,
        numbers.beta,
        numbers.gamma,
        numbers.delta,
    ]


def test_the_cache_key_names_the_jar():
    assert re.fullmatch(r"meteor:1\.5-[0-9a-f]{12}", Meteor().implementation)
