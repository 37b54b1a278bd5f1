"""`--from` and `--testset`: imports on the command line, and sacreBLEU's test sets."""

import json
from pathlib import Path

import pytest
from packed import FILES, GOOD, LINES, tarred, unpack, zipped
from sentences import sentences

from sigtest.cli import main
from sigtest.errors import InputError, UnavailableError
from sigtest.files.gathering import read_builtin


@pytest.fixture
def folder(tmp_path):
    return unpack(tmp_path)


@pytest.fixture
def run(folder, monkeypatch, capfdbinary):
    monkeypatch.chdir(folder)

    def running(*arguments):
        status = main(["compare", *arguments, "--resamples", "99", "--format", "json"])
        out, err = capfdbinary.readouterr()
        return json.loads(out) if status == 0 else err.decode()

    return running


def test_command_line_takes_what_there_is(run):
    Path("task.zip").write_bytes(zipped(FILES))
    Path("task.tar.gz").write_bytes(tarred(FILES, "w:gz"))
    plain = run("-r", "reference.en", "systems/bad.en", "systems/good.en", "--documents",
                "documents.txt")  # fmt: skip
    assert plain["testset"]["documents"] == 4
    for source in (".", "task.zip", "task.tar.gz"):
        assert run("--from", source) == plain


def test_own_systems_and_scores_come_beside_an_import(run):
    Path("new.en").write_bytes(GOOD)
    Path("good.num").write_bytes(b"1\n" * 8)
    Path("bad.num").write_bytes(b"2\n" * 8)
    found = run("--from", ".", "new.en")
    assert [system["name"] for system in found["systems"]] == ["bad", "good", "new"]
    scores = ["--scores", "bad=bad.num", "--scores", "good=good.num"]
    found = run("--from", ".", *scores)
    assert list(found["metrics"]) == ["bleu", "scores"]


def scored(gaps, systems=("aspen", "birch", "cedar"), count=20):
    """A long table of two metrics, one of which lacks some segments."""
    lines = ["id,system,metric,score"]
    for s, name in enumerate(systems):
        for i in range(count):
            lines.append(f"{i},{name},comet,{(i * 7 + s) % 11}")
            lines.append(f"{i},{name},kiwi,{'' if i in gaps(s) else i % 3}")
    Path("scores.csv").write_text("\n".join(lines))


def test_only_scores_that_are_asked_for_are_looked_at(run):
    scored(lambda s: {0, 1})
    for asked in (["-m", "scores:of=comet"], ["-m", "comet"], ["-m", "COMET"]):
        found = run("--from", "scores.csv", *asked)
        assert found["testset"]["segments"] == 20
        assert list(found["metrics"]) == ["comet"]
    found = run("--from", "scores.csv")
    assert list(found["metrics"]) == ["comet"]
    assert any("not compared: 'kiwi' (none for 2)" in own for own in sentences(found))
    assert "has no 'kiwi' score for 2 of 20" in run("--from", "scores.csv", "-m", "kiwi")
    dropped = run("--from", "scores.csv", "-m", "kiwi", "--missing", "drop")
    (note,) = (own for own in sentences(dropped) if "are dropped" in own)
    assert note.count("'0', '1'") == 1  # the same segments of three systems, once
    assert dropped["testset"]["segments"] == 18


def test_no_system_disappears_with_scores_that_nobody_asked_for(run):
    scored(lambda s: {0} if s == 2 else set(), ("aspen", "birch", "good"))
    rows = [own for own in Path("scores.csv").read_text().split("\n") if ",good,comet" not in own]
    Path("scores.csv").write_text("\n".join(rows))
    said = run("--from", "scores.csv", "-m", "comet")
    assert "'good' has no 'kiwi' score for 1 of 20" in said


def test_notes_on_many_systems_with_unlike_gaps_are_cut(run):
    names = [f"system-{'x' * 60}-{k}" for k in range(60)]
    scored(lambda s: {s % 20, s % 19}, names, 30)
    found = run("--from", "scores.csv", "--missing", "drop", "-m", "kiwi", "--baseline", names[0])
    assert any("are dropped" in own for own in sentences(found))


def test_a_metric_that_a_test_set_has_none_of_is_not_of_it(run):
    rows = ["id,system,testset,comet,chrF"]
    for name in ("aspen", "birch"):
        rows += [f"{pair}{i},{name},{pair},{i % 4},{'' if pair == 'en-cs' else i % 3}"
                 for pair in ("en-cs", "en-mas") for i in range(9)]  # fmt: skip
    Path("scores.csv").write_text("\n".join(rows))
    assert list(run("--from", "scores.csv", "--testset", "en-cs")["metrics"]) == ["comet"]
    assert list(run("--from", "scores.csv", "--testset", "en-mas")["metrics"]) == ["comet", "chrF"]
    assert "no scores named 'chrF'" in run(
        "--from", "scores.csv", "--testset", "en-cs", "-m", "scores:of=chrF"
    )


def test_a_system_can_be_left_out(run):
    scored(lambda s: {3} if s == 1 else set())
    found = run("--from", "scores.csv", "--without", "birch")
    assert [own["name"] for own in found["systems"]] == ["aspen", "cedar"]
    assert list(found["metrics"]) == ["comet", "kiwi"]
    assert "'birch' is left out." in sentences(found)
    said = run("--from", "scores.csv", "--without", "larch")
    assert "Unknown system 'larch'" in said
    assert "aspen, birch, cedar" in said


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("a.jsonl", {"id": 1, "question": "Who?", "f1": 1}, {"id": 1, "question": "Why?", "f1": 0}),
        ("a.jsonl", {"id": 1, "prompt": "Q: 1+1", "f1": 1}, {"id": 1, "prompt": "Q: 2+3", "f1": 0}),
        ("a.jsonl", {"id": 1, "ref": "one", "mt": "x"}, {"id": 1, "ref": "two", "mt": "x"}),
        ("a.jsonl", {"id": 1, "src": "eins", "f1": 1}, {"id": 1, "src": "zwei", "f1": 1}),
        ("a.jsonl", {"doc_id": 1, "doc": {"q": "chem"}, "resps": [], "acc": 1},
         {"doc_id": 1, "doc": {"q": "cyber"}, "resps": [], "acc": 0}),
    ],
)  # fmt: skip
def test_one_id_with_two_contents_is_refused_with_both(run, name, first, second):
    for path, row in (("a.jsonl", first), ("b.jsonl", second)):
        rows = [row, {**row, ("doc_id" if "doc" in row else "id"): 2}]
        Path(path).write_text("\n".join(map(json.dumps, rows)))
    said = run("--from", "a.jsonl", "--from", "b.jsonl")
    key = next(k for k in first if k not in {"id", "doc_id"})
    assert "under '1'" in said
    for row in (first, second):
        assert json.dumps(row[key]).strip('"')[-6:-3] in said


def test_what_programs_leave_in_folders_is_no_system(run):
    found = run("--from", ".")
    for name in (
        "Thumbs.db",
        "desktop.ini",
        ".DS_Store",
        "._good.en",
        ".~lock.x#",
        ".gitkeep",
        "x~",
    ):
        Path("systems", name).write_bytes(b"[x]\n")
    assert run("--from", ".") == found
    Path("task.zip").write_bytes(zipped({str(p): p.read_bytes() for p in Path().rglob("*")
                                         if p.is_file() and p.suffix != ".zip"}))  # fmt: skip
    assert run("--from", "task.zip")["systems"] == found["systems"]


def test_an_empty_last_line_is_told(run):
    Path("reference.en").write_bytes(Path("reference.en").read_bytes() + b"\n")
    said = run("-r", "reference.en", "systems/bad.en", "systems/good.en")
    assert "the last line of reference.en is empty" in said


@pytest.fixture
def sacrebleu_cache(tmp_path, monkeypatch):
    """sacreBLEU with an empty cache, and a network that has one test set."""
    from sacrebleu.dataset import DATASETS, base

    dataset = DATASETS["wmt17"]
    monkeypatch.setattr(dataset, "_outdir", str(tmp_path / "cache"))
    monkeypatch.setattr(dataset, "_rawdir", str(tmp_path / "cache" / "raw"))
    fetched = []

    def download(url, path, extract_to, expected_md5):
        fetched.append(url)
        Path(path).write_bytes(b"archive")
        for name in dataset.langpairs["en-de"]:
            file = Path(extract_to) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            sentences = [f'<seg id="{i + 1}">{line}</seg>' for i, line in enumerate(LINES)]
            file.write_text("\n".join(["<doc docid='d'>", *sentences, "</doc>", ""]))

    monkeypatch.setattr(base, "download_file", download)
    return fetched


def test_built_in_test_sets_are_fetched_where_that_is_allowed(sacrebleu_cache):
    found = read_builtin("wmt17/en-de", allow_downloads=True)
    assert found.references == (tuple(LINES),)
    assert len(sacrebleu_cache) == 1
    assert read_builtin("wmt17/en-de", allow_downloads=False) == found  # from the cache


def test_built_in_test_sets_on_the_command_line(sacrebleu_cache, run, monkeypatch):
    systems = ["systems/bad.en", "systems/good.en"]
    said = run("--testset", "wmt17/en-de", *systems)
    assert "SIGTEST_ALLOW_DOWNLOADS=1" in said
    assert not sacrebleu_cache
    monkeypatch.setenv("SIGTEST_ALLOW_DOWNLOADS", "1")
    found = run("--testset", "wmt17/en-de", *systems)
    again = run("-r", "reference.en", *systems)["pairs"]
    assert found["pairs"][0].pop("calibration").pop("reason") == "dependent-segments"  # of one talk
    assert found["pairs"][0].pop("calibrated") is False
    assert again[0].pop("calibrated") is True
    again[0].pop("calibration")
    assert found["pairs"] == again


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("wmt17", "'wmt17' names no language pair; ask as wmt17/en-de."),
        ("wmt17x/en-de", "Did you mean 'wmt17'"),
        ("wmt17/en-xx", "no language pair 'en-xx'"),
        ("../../etc/passwd", "no test set"),
    ],
)
def test_unknown_test_sets_are_refused(name, part):
    with pytest.raises(InputError) as raised:
        read_builtin(name, allow_downloads=True)
    assert part in str(raised.value)


def test_a_network_that_fails_is_one_message(sacrebleu_cache, monkeypatch):
    from sacrebleu.dataset import base

    def fail(*_, **__):
        raise OSError("Name or service not known")

    monkeypatch.setattr(base, "download_file", fail)
    with pytest.raises(UnavailableError, match="cannot fetch wmt17/en-de: Name or service"):
        read_builtin("wmt17/en-de", allow_downloads=True)


def test_a_suite_drops_what_not_all_files_have_where_that_is_asked(tmp_path, capfdbinary):
    for testset in ("one", "two"):
        (tmp_path / testset).mkdir()
        for system, first in (("a", 0), ("b", 3)):
            rows = [f"q{i},{system},{(i * 7 + first) % 5}" for i in range(first, 30)]
            table = "\n".join(["id,system,score", *rows])
            (tmp_path / testset / f"{system}.csv").write_text(table)
    asked = ["suite", str(tmp_path / "one"), str(tmp_path / "two"), "--resamples", "99"]
    assert main(asked) == 2
    assert b"3 of the 30 segments" in capfdbinary.readouterr().err
    assert main([*asked, "--missing", "drop", "--format", "json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert [own["report"]["testset"]["segments"] for own in found["testsets"]] == [27, 27]
    assert main([*asked, "--missing", "dorp"]) == 2
    assert b"Did you mean 'drop'?" in capfdbinary.readouterr().err


def test_a_suite_calls_a_file_without_its_suffix_and_a_folder_as_it_is(tmp_path, capfdbinary):
    rows = [f"q{i},{system},{i % step}" for i in range(9) for system, step in (("a", 2), ("b", 3))]
    table = "\n".join(["id,system,accuracy", *rows])
    for name in ("arc.csv", "v1.2/all.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(table)
    paths = [str(tmp_path / name) for name in ("arc.csv", "v1.2")]
    assert main(["suite", *paths, "--resamples", "99", "--format", "json"]) == 0
    found = json.loads(capfdbinary.readouterr().out)
    assert [own["name"] for own in found["testsets"]] == ["arc", "v1.2"]


def test_notes_name_a_folder_however_its_path_is_typed(run, tmp_path, monkeypatch):
    """A report does not depend on where its files lie, nor on where it was asked for."""
    rows = ("task_nr,system,score", *(f"q{i},{s},0.{i}" for i in range(1, 6) for s in "AB"))
    folder = tmp_path / "judged"
    (folder / "inner").mkdir(parents=True)
    (folder / "scores.csv").write_text("\n".join(rows))
    monkeypatch.chdir(folder)
    said = [sentences(run("--from", path)) for path in (".", str(folder), "../judged", "inner/..")]
    assert "judged/scores.csv: rows are joined by the column 'task_nr'." in said[0]
    assert said == [said[0]] * 4
    monkeypatch.chdir("inner")
    assert sentences(run("--from", "..")) == said[0]
