import collections
import inspect
import json
import pkgutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas
import pytest

import sigtest
from sigtest import notebook
from sigtest.cli import main

REFERENCES = ["a b c d e", "f g h i j", "k l m n o"]
SYSTEMS = {"A": ["a b c d e", "f g h i j", "k l m n"], "B": ["a b c d", "x g h i", "k l"]}


def test_the_documentation_names_every_choice():
    named = sigtest.compare.__doc__.partition("**options")[2]
    assert [
        name for name in notebook.RecipeOptions.__annotations__ if f"`{name}`" not in named
    ] == []


def test_signatures_name_every_option():
    for door in (sigtest.compare, sigtest.gate, sigtest.suite, sigtest.plan, sigtest.accuracy):
        named = inspect.signature(door).parameters
        assert {*notebook.RecipeOptions.__annotations__, "missing"} <= named.keys()
        assert named["missing"].default == "error"


SCORES = {"A": 1, "B": 2, "C": 3}
ODD = {
    "no path of an EvalSet": (lambda: sigtest.meta(evalset=5, lp="a", gold="b"), "evalset must be"),
    "no list of labels": (lambda: sigtest.meta(SCORES, {"x": SCORES}, lower=5), "lower must be a"),
    "no list of metrics": (lambda: sigtest.meta(evalset="x", metrics=5), "metrics must be a list"),
    "a number of NumPy for systems": (
        lambda: sigtest.compare(REFERENCES, np.array(3)), "systems must be an object",
    ),
    "a matrix for systems": (
        lambda: sigtest.compare(REFERENCES, np.zeros((2, 2))), r"systems\[0\] must be an object",
    ),
    "a number of NumPy for judgements": (
        lambda: sigtest.human(np.array(3)), "judgements must be paths",
    ),
    "a matrix for a choice": (
        lambda: sigtest.compare(from_=["x.csv"], missing=np.zeros((2, 2))), "Unknown way with",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ask", "said"), ODD.values(), ids=ODD)
def test_odd_values_of_python_are_one_clear_problem(ask, said):
    with pytest.raises(sigtest.SigtestError, match=said):
        ask()


def test_public_names_are_sorted_and_exist():
    assert sigtest.__all__ == sorted(sigtest.__all__)
    assert all(getattr(sigtest, name) is not None for name in sigtest.__all__)


def test_no_package_hides_a_public_name():
    inside = {module.name for module in pkgutil.iter_modules(sigtest.__path__)}
    assert inside.isdisjoint(sigtest.__all__)


def test_one_reference_set_may_be_given_bare():
    bare = sigtest.compare(REFERENCES, SYSTEMS)
    assert isinstance(bare, sigtest.Report)
    assert bare == sigtest.compare([REFERENCES], SYSTEMS)


def test_missing_references_and_several_sets_are_kept():
    report = sigtest.compare([[None, *REFERENCES[1:]], REFERENCES], SYSTEMS)
    assert report.testset.references == 2


def test_scores_may_be_compared_alone():
    scores = {"A": {"comet": [0.9, 0.8, 0.7]}, "B": {"comet": [0.6, 0.7, 0.5]}}
    report = sigtest.compare([], {}, scores=scores, metrics=["scores:of=comet"])
    assert report.pairs[0].difference == pytest.approx(0.2)


def test_progress_is_told():
    told = []
    sigtest.compare(REFERENCES, SYSTEMS, progress=lambda *step: told.append(step))
    assert {phase for phase, _, _ in told} == {"statistics", "resampling", "report"}


PLAIN = sigtest.compare(REFERENCES, SYSTEMS)


@pytest.mark.parametrize(
    "column",
    [tuple, iter, np.array, pandas.Series, lambda lines: pandas.Series(lines, dtype="string"),
     lambda lines: (line for line in lines), collections.deque],
    ids=["tuple", "iterator", "array", "series", "string series", "generator", "deque"],
)  # fmt: skip
def test_any_column_of_lines_will_do(column):
    systems = {name: column(lines) for name, lines in SYSTEMS.items()}
    assert sigtest.compare(column(REFERENCES), systems) == PLAIN


def test_numbers_of_numpy_are_numbers():
    asked = {"resamples": np.int64(99), "seed": np.uint8(3), "alpha": np.float32(0.25)}
    found = sigtest.compare(REFERENCES, SYSTEMS, **asked)
    assert found == sigtest.compare(REFERENCES, SYSTEMS, resamples=99, seed=3, alpha=0.25)


def test_what_there_is_can_be_completed():
    assert set(dir(sigtest)) == set(sigtest.__all__)
    assert all(hasattr(sigtest, name) for name in dir(sigtest))


def test_a_data_frame_has_a_column_for_each_system():
    assert sigtest.compare(pandas.Series(REFERENCES), pandas.DataFrame(SYSTEMS)) == PLAIN
    two = pandas.DataFrame({"first": [*REFERENCES[:2], None], "second": REFERENCES})
    assert sigtest.compare(two, SYSTEMS).testset.references == 2


class Polars:
    """What polars shares with nothing else here: columns by name, and `to_list`."""

    def __init__(self, frame):
        self.columns, self._frame = [*frame], frame

    def __getitem__(self, name):
        return PolarsSeries(self._frame[name])


class PolarsSeries:
    def __init__(self, lines):
        self._lines = lines

    def __iter__(self):
        raise AssertionError("to_list is faster")

    def to_list(self):
        return list(self._lines)


def test_frames_are_known_by_what_they_can_do():
    assert sigtest.compare(PolarsSeries(REFERENCES), Polars(SYSTEMS)) == PLAIN


class Wrapped:
    """A column whose entries are objects of its library."""

    def __init__(self, lines):
        self._lines = lines

    def __iter__(self):
        return (object() for _ in self._lines)


class ChunkedArray(Wrapped):
    """What pyarrow has for a column of a table."""

    def to_pylist(self):
        return list(self._lines)


class DataArray(Wrapped):
    """What xarray has for a variable of a data set."""

    def to_numpy(self):
        return np.array(self._lines)


@pytest.mark.parametrize("column", [ChunkedArray, DataArray])
def test_columns_are_known_by_what_they_can_do(column):
    systems = {name: column(lines) for name, lines in SYSTEMS.items()}
    assert sigtest.compare(column(REFERENCES), systems) == PLAIN
    numbers = {"A": [0.9, 0.8, 0.7], "B": [0.6, 0.7, 0.5]}
    scores = {name: column(own) for name, own in numbers.items()}
    assert sigtest.compare(scores=scores) == sigtest.compare(scores=numbers)


def test_type_checkers_take_frames_whatever_they_call_their_keys():
    # pyright holds names of parameters against each other, and pandas and polars have `key`
    name = inspect.signature(notebook.Frame.__getitem__).parameters["name"]
    assert name.kind is inspect.Parameter.POSITIONAL_ONLY


class LazyFrame(Polars):
    """What polars has for frames that are not computed yet."""

    def __getitem__(self, name):
        raise TypeError("LazyFrame is not subscriptable")

    def collect(self):
        raise AssertionError("nothing is computed unasked")

    collect_schema = collect


class Table:
    """What pyarrow has, and data sets that stand on it."""

    columns = ((0.5, 0.7), (0.6, 0.8))
    column_names = ("A", "B")

    def __getitem__(self, name):
        raise TypeError("Index must either be string or integer")

    def to_pandas(self):
        raise AssertionError("nothing is converted unasked")


@pytest.mark.parametrize("where", ["references", "systems", "scores", "from_"])
def test_tables_that_are_no_frames_are_refused(where):
    with pytest.raises(sigtest.InputError, match=r"Table is no data frame .* to_pandas\(\)"):
        sigtest.compare(**{where: Table()})


@pytest.mark.parametrize(
    "content",
    [{"references": REFERENCES, "systems": LazyFrame(SYSTEMS)}, {"scores": LazyFrame(SYSTEMS)},
     {"scores": {"comet": LazyFrame(SYSTEMS)}}, {"from_": LazyFrame(SYSTEMS)}],
    ids=["systems", "scores", "label", "from_"],
)  # fmt: skip
def test_lazy_frames_are_refused(content):
    with pytest.raises(sigtest.InputError, match=r"collect\(\)"):
        sigtest.compare(**content)


def test_polars_frames_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(SYSTEMS)
    assert sigtest.compare(polars.Series(REFERENCES), frame) == PLAIN
    scores = polars.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.6, 0.7, 0.5]})
    assert sigtest.compare(scores={"comet": scores}).metrics.keys() == {"comet"}


ROWS = {
    "qid": ["a", "b", "c", "c", "a", "b"], "system": ["A"] * 3 + ["B"] * 3,
    "comet": [0.9, 0.8, 0.7, 0.5, 0.6, 0.7],
}  # fmt: skip


class PolarsRows:
    """What polars has for its rows."""

    columns = tuple(ROWS)

    def to_dicts(self):
        return [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]


@pytest.mark.parametrize(
    "frame",
    [pandas.DataFrame(ROWS), pandas.DataFrame(ROWS).set_index("qid"), PolarsRows(),
     [pandas.DataFrame(ROWS)[:3], pandas.DataFrame(ROWS)[3:]]],
    ids=["pandas", "named index", "polars", "one a system"],
)  # fmt: skip
def test_a_frame_of_rows_is_a_table(frame):
    expected = sigtest.compare(
        scores={"A": {"comet": [0.9, 0.8, 0.7]}, "B": {"comet": [0.6, 0.7, 0.5]}}
    )
    found = sigtest.compare(from_=frame)
    assert found.pairs == expected.pairs


def test_a_cell_without_a_score_is_missing_in_a_frame():
    frame = pandas.DataFrame(ROWS)
    frame.loc[1, "comet"] = float("nan")
    with pytest.raises(sigtest.SigtestError, match="no 'comet' score for 1 of 3"):
        sigtest.compare(from_=frame)
    assert sigtest.compare(from_=frame, missing="drop").testset.segments == 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [(pandas.DataFrame(ROWS)[:0], "without rows"),
     (pandas.DataFrame({**ROWS, "comet": [object()] * 6}), "Row 1 of a data frame"),
     ([1], "a path, a data frame")],
)  # fmt: skip
def test_a_frame_that_is_no_table_is_refused(frame, message):
    with pytest.raises(sigtest.SigtestError, match=message):
        sigtest.compare(from_=frame)


@pytest.mark.parametrize("suffix", [".txt", ".jsonl"])
def test_paths_are_read(tmp_path, suffix):
    for name, lines in {"ref": REFERENCES, **SYSTEMS}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    where = {name: tmp_path / f"{name}.txt" for name in ("ref", *SYSTEMS)}
    systems = {name: where[name] for name in SYSTEMS}
    assert sigtest.compare(where["ref"], systems) == PLAIN
    assert sigtest.compare([where["ref"]], systems) == PLAIN
    assert sigtest.compare(where["ref"], {**SYSTEMS, "A": where["A"]}) == PLAIN
    assert sigtest.compare(REFERENCES, systems) == PLAIN
    runs = sigtest.compare(REFERENCES, {name: [where[name]] * 2 for name in SYSTEMS})
    assert runs.systems[0].scores["bleu"].replicas


def test_a_missing_file_is_named(tmp_path):
    missing = tmp_path / "nothing.txt"
    (tmp_path / "nothings.txt").write_text("a\n")
    said = r"nothing\.txt: No such file or directory\. Did you mean '.*nothings\.txt'\?"
    for ask in (
        lambda: sigtest.compare(missing, SYSTEMS),
        lambda: sigtest.compare(REFERENCES, {**SYSTEMS, "A": missing}),
        lambda: sigtest.compare(REFERENCES, SYSTEMS, source=missing),
        lambda: sigtest.compare(from_=str(missing)),
        lambda: sigtest.human(missing),
    ):
        with pytest.raises(sigtest.InputError, match=said):
            ask()
    with pytest.raises(sigtest.InputError, match="Is a directory"):
        sigtest.human(tmp_path)


SCORES = {"A": [0.9, 0.8, 0.7], "B": [0.6, 0.7, 0.5]}


@pytest.mark.parametrize(
    "scores",
    [
        {name: {"comet": numbers} for name, numbers in SCORES.items()},
        {name: {"comet": pandas.Series(numbers)} for name, numbers in SCORES.items()},
        {name: {"comet": np.array(numbers)[:, None]} for name, numbers in SCORES.items()},
        {"comet": pandas.DataFrame(SCORES)},
    ],
    ids=["lists", "series", "arrays", "frame"],
)
def test_metrics_follow_from_scores(scores):
    report = sigtest.compare(scores=scores)
    assert list(report.metrics) == ["comet"]
    assert report.systems[0].scores["comet"].score == pytest.approx(0.8)
    beside = sigtest.compare(REFERENCES, SYSTEMS, scores=scores)
    assert list(beside.metrics) == ["bleu", "comet"]


@pytest.mark.parametrize("scores", [SCORES, pandas.DataFrame(SCORES)], ids=["lists", "frame"])
def test_scores_without_a_label_have_the_usual_one(scores):
    assert list(sigtest.compare(scores=scores).metrics) == ["scores"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"references": 5, "systems": SYSTEMS}, "references must be a list .* not int"),
        ({"references": "ref.txt", "systems": SYSTEMS}, r"pathlib\.Path"),
        ({"references": {"a": "b"}, "systems": SYSTEMS}, "references must be .* not dict"),
        ({"references": REFERENCES, "systems": 5}, "systems must be an object .* not int"),
        ({"references": REFERENCES, "systems": "A"}, "systems must be an object .* not str"),
        ({"references": REFERENCES, "systems": {"A": 5, "B": 6}}, r"systems\['A'\] must be a list"),
        ({"references": REFERENCES, "systems": {"A": "abc"}}, "not one string"),
        ({"scores": 5}, "scores must be an object .* not int"),
        ({"scores": {"A": 5}}, "one number a segment, not int"),
        ({"scores": {"A": {"x": "abc"}}}, "one number a segment, not str"),
        ({"references": REFERENCES, "systems": {"A": [pandas.NaT] * 3}}, "found NaTType"),
        ({"from_": None}, "from_ must be a path, .* not NoneType"),
        ({"from_": 3}, "from_ must be a path, .* not int"),
        ({"from_": {"id": [1], "score": [2]}}, "from_ must be a path, .* not dict"),
        ({"references": REFERENCES, "systems": SYSTEMS, "documents": 5}, "documents must be"),
        ({"references": object(), "systems": SYSTEMS}, "not object"),
        (
            {"references": REFERENCES, "systems": {**SYSTEMS, "A": None}},
            r"\['A'\] must be a list .*None",
        ),
        ({"systems": {**SYSTEMS, "A": None}, "scores": SCORES}, r"\['A'\] must be a .*, not None"),
        ({"systems": [{"name": "A", "scores": [1, 2, 3]}], "scores": SCORES}, "'A' must be an obj"),
        (
            {"references": REFERENCES, "systems": [{"name": ["A"]}]},
            r"\[0\].name must be text, not \[",
        ),
        ({"references": "abc", "systems": SYSTEMS}, "list"),
        ({"references": set(REFERENCES), "systems": SYSTEMS}, "not set"),
        ({"references": REFERENCES, "systems": SYSTEMS, "metric": ["bleu"]}, "mean 'metrics'"),
        (
            {"references": REFERENCES, "systems": {**SYSTEMS, "A": [b"a", b"b", b"c"]}},
            "segment 1: expected a string, found bytes",
        ),
        ({}, "reference"),
    ],
)
def test_bad_types_are_told_in_words(asked, words):
    with pytest.raises(sigtest.SigtestError, match=words):
        sigtest.compare(**asked)


@pytest.mark.parametrize("testsets", [5, {"a": 5}, {"a": {"systms": {}}}])
def test_bad_test_sets_are_told_in_words(testsets):
    with pytest.raises(sigtest.SigtestError, match="test set"):
        sigtest.suite(testsets)


def test_suites_take_frames_and_infer_metrics():
    frame = pandas.DataFrame(SCORES)
    report = sigtest.suite({"one": {"scores": frame}, "two": {"scores": {"scores": frame}}})
    assert list(report.metrics) == ["scores"]


def test_suites_take_folders_as_the_shell_does(tmp_path):
    """Alone, or with what else a test set has; and one of the test sets in a file."""
    rows = [
        "testset,id,system,score",
        *(f"{t},{t}{i},{s},0.{i}" for t in "xy" for i in "123" for s in "AB"),
    ]
    (tmp_path / "s.csv").write_text("\n".join(rows))
    (tmp_path / "f" / "systems").mkdir(parents=True)
    texts = {"reference.txt": REFERENCES, **{f"systems/{k}.txt": v for k, v in SYSTEMS.items()}}
    for name, lines in texts.items():
        (tmp_path / "f" / name).write_text("".join(f"{line}\n" for line in lines))
    folder, asked = tmp_path / "f", {"references": REFERENCES, "systems": SYSTEMS}
    plain = sigtest.suite({"one": asked, "two": asked}, resamples=99)
    found = sigtest.suite({"one": folder, "two": {"from_": str(folder)}}, resamples=99)
    assert found.as_json() == plain.as_json()
    picked = {t: {"from_": tmp_path / "s.csv", "select": t} for t in "xy"}
    assert list(sigtest.suite(picked, resamples=99).metrics) == ["s"]


def test_a_report_becomes_data_frames():
    pairs, systems = PLAIN.to_pandas(), PLAIN.to_pandas("systems")
    assert pairs.loc[0, "p_value"] == PLAIN.pairs[0].p_value
    assert systems.loc[0, "score"] == PLAIN.systems[0].scores["bleu"].score
    assert PLAIN.to_pandas("matrix").equals(pairs)  # what a matrix shows
    with pytest.raises(sigtest.RecipeError, match="choose one of systems, pairs, matrix, row"):
        PLAIN.to_pandas("ranks")


def test_a_report_becomes_latex_and_files(tmp_path):
    names = {"bleu": r"BLEU $\uparrow$"}
    table = PLAIN.to_latex(caption="All.", label="tab:x", names=names)
    assert r"{BLEU $\uparrow$}" in table
    PLAIN.save(tmp_path / "table.tex", table="systems", caption="All.", label="tab:x", names=names)
    assert (tmp_path / "table.tex").read_text(encoding="utf-8") == table
    for suffix in ("json", "txt", "csv", "md", "html", "bib"):
        PLAIN.save(tmp_path / f"report.{suffix}")
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert sigtest.Report.from_json(told) == sigtest.Report(
        **{field.name: getattr(PLAIN, field.name) for field in fields(PLAIN)}
    )
    with pytest.raises(sigtest.RecipeError, match=r"\.html"):
        PLAIN.save(tmp_path / "report.docx")
    with pytest.raises(sigtest.RecipeError, match=r"show by name, .* not list"):
        PLAIN.to_latex(names=["bleu=BLEU"])
    with pytest.raises(sigtest.RecipeError, match="choose one of bleu, A, B"):
        PLAIN.to_latex(names={"x": "BLEU"})


def test_a_report_becomes_the_pictures_that_the_shell_draws(tmp_path, capfdbinary):
    PLAIN.save(tmp_path / "report.json")
    asked = ["plot", "matrix", str(tmp_path / "report.json"), "--width", "12cm", "--omit", "title"]
    assert main(asked) == 0
    drawn = PLAIN.to_svg("matrix", metric="bleu", width="12cm", omit="title")
    assert capfdbinary.readouterr().out == drawn.encode()
    assert PLAIN.to_svg().startswith("<svg")
    with pytest.raises(sigtest.RecipeError, match="choose one of intervals, matrix, grid"):
        PLAIN.to_svg("distribution")
    with pytest.raises(sigtest.RecipeError, match="takes no colour"):
        PLAIN.to_svg(colour="red")


TWICE = pandas.DataFrame([["a b", "a c", "a d"], ["e f", "e g", "e h"]], columns=["A", "A", "B"])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"references": ["a b", "e f"], "systems": TWICE}, "systems"),
        ({"scores": pandas.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["A", "A", "B"])}, "scores"),
        ({"from_": TWICE}, "from_"),
    ],
)
def test_columns_of_one_name_are_refused_instead_of_dropped(given, field):
    with pytest.raises(sigtest.InputError, match=f"^{field} has .* named 'A'"):
        sigtest.compare(**given)


def test_numbers_without_an_axis_are_numbers():
    numbers = [0.9, 0.8, 0.7]
    other = {"comet": [0.6, 0.7, 0.5]}
    arrays = [np.array(number) for number in numbers]
    assert sigtest.compare(scores={"A": {"comet": arrays}, "B": other}) == sigtest.compare(
        scores={"A": {"comet": numbers}, "B": other}
    )


def test_a_path_with_a_nul_character_is_refused():
    with pytest.raises(sigtest.InputError, match="NUL"):
        sigtest.compare(Path("re\0f"), SYSTEMS)
    with pytest.raises(sigtest.InputError, match="NUL"):
        sigtest.human(Path("re\0f"))


def test_series_whose_rows_stand_in_another_order_are_refused():
    """Rows meet by their places; other labels, such as those of parts of a frame, say nothing."""
    here, name = pandas.Series(REFERENCES), next(iter(SYSTEMS))
    for given in (
        {"references": here, "systems": {name: pandas.Series(SYSTEMS[name])[::-1]}},
        {
            "scores": {
                "a": pandas.Series([1.0, 2.0, 3.0]),
                "b": pandas.Series([1.0, 2.0, 4.0])[::-1],
            }
        },
        {"references": here, "systems": pandas.DataFrame(SYSTEMS)[::-1]},
        {
            "systems": pandas.DataFrame(SYSTEMS),
            "references": REFERENCES,
            "scores": {name: {"comet": pandas.Series([1.0, 2.0, 3.0])[::-1]} for name in SYSTEMS},
        },
    ):
        with pytest.raises(sigtest.InputError, match="in another order, and rows meet by their"):
            sigtest.compare(**given, resamples=99)
    apart = {name: pandas.Series(own, index=range(i, i + len(own)))
             for i, (name, own) in enumerate(SYSTEMS.items(), 7)}  # fmt: skip
    assert sigtest.compare(here, apart) == PLAIN


@pytest.mark.parametrize("name", ["id", "Unnamed: 0", "segment_id", "index", "document", "seed"])
def test_columns_about_rows_are_no_systems(name):
    """As of a frame whose row labels became a column: reset_index, or a CSV read again."""
    scores = pandas.DataFrame({name: [0, 1, 2], "A": [1.0, 2.0, 4.0], "B": [2.0, 1.0, 4.0]})
    texts = pandas.DataFrame({name: ["x", "y", "z"], **SYSTEMS})
    said = f"has a column '{name}', which is about rows by its name, and every column is a"
    for given in (
        {"scores": {"comet": scores}},
        {"scores": scores},
        {"references": REFERENCES, "systems": texts},
        {"references": texts, "systems": SYSTEMS},
    ):
        with pytest.raises(sigtest.InputError, match=said):
            sigtest.compare(**given, resamples=99)
    assert len(sigtest.compare(scores=scores.set_index(name), resamples=99).systems) == 2


def test_a_gate_refuses_a_margin_that_is_no_number_and_pairs():
    for given, said in (
        ({"margin": "x"}, "not 'x'"),
        ({"margin": 1, "pairs": "all"}, "leave out pairs"),
    ):
        with pytest.raises(sigtest.RecipeError, match=said):
            sigtest.gate(REFERENCES, SYSTEMS, baseline=next(iter(SYSTEMS)), **given)
