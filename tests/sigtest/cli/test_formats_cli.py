"""Files of any format on the command line: by content, whatever option they are given to."""

import gzip
import json
import shlex
from pathlib import Path

import pytest
from evaluated import promptfoo, promptfoo_rows
from service import EXAMPLE

import sigtest
from sigtest.cli import main
from sigtest.files.material import Material

WORDS = ["the cat sat on the mat", "it is raining again", "we go home now", "a dog barks at night"]
OUTPUTS = {
    "aspen": [f"{line} today" for line in WORDS],
    "birch": ["a cat was on a mat", *WORDS[1:]],
}


def lines(texts):
    return "".join(f"{line}\n" for line in texts)


def sgml(kind, texts, attributes=""):
    segments = "\n".join(f'<seg id="{i}">{line}</seg>' for i, line in enumerate(texts, 1))
    return (
        f'<{kind} setid="news" srclang="any" trglang="en">\n'
        f'<doc docid="d1" {attributes}>\n{segments}\n</doc>\n</{kind}>\n'
    )


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """A folder with texts, and `sigtest compare` in it: its report, or its complaint."""
    monkeypatch.chdir(tmp_path)
    Path("ref.txt").write_text(lines(WORDS))
    for name, texts in OUTPUTS.items():
        Path(f"{name}.txt").write_text(lines(texts))
        Path(f"{name}.sgm").write_text(sgml("tstset", texts, f'sysid="{name}"'))
    Path("ref.sgm").write_text(sgml("refset", WORDS, 'sysid="ref"'))
    Path("src.sgm").write_text(sgml("srcset", WORDS[::-1]))

    def running(*arguments):
        status = main(["compare", *arguments, "--resamples", "99", "--format", "json"])
        out, err = capfdbinary.readouterr()
        if status == 0:
            return json.loads(out)
        assert err.decode().count("\n") == 1
        return err.decode()

    return running


def scores(report):
    return {s["name"]: {m: v["score"] for m, v in s["scores"].items()} for s in report["systems"]}


def test_a_name_that_is_given_wins_over_one_inside(run):
    Path("birch.sgm").write_text(sgml("tstset", OUTPUTS["birch"], 'sysid="inside"'))
    assert {*scores(run("-r", "ref.sgm", "aspen.sgm", "birch.sgm"))} == {"aspen", "inside"}
    assert {*scores(run("-r", "ref.sgm", "aspen.sgm", "mine=birch.sgm"))} == {"aspen", "mine"}


def test_a_table_has_all_systems_and_metrics(run):
    rows = [f"{i},{s},{m},{v}" for i in (3, 1, 2) for s, m, v in (
        ("x", "f1", i / 4), ("y", "f1", i / 8), ("x", "em", 1), ("y", "em", 0))]  # fmt: skip
    Path("all.csv").write_text(lines(["id,system,metric,score", *rows]))
    found = run("--from", "all.csv")
    assert scores(found) == {"x": {"f1": 0.5, "em": 1}, "y": {"f1": 0.25, "em": 0}}
    chosen = ["--scores", "f1:x=all.csv", "--scores", "f1:y=all.csv"]
    assert scores(run(*chosen)) == {"x": {"f1": 0.5}, "y": {"f1": 0.25}}
    assert "2 systems (x, y), none of them 'z'" in run("--scores", "z=all.csv")


def test_a_test_set_is_chosen_where_there_are_several(run):
    rows = [f"{t},{t}-{i},{s},{v}" for t in ("en-de", "en-cs") for i in (1, 2)
            for s, v in (("x", i), ("y", 1 + (t == "en-cs")))]  # fmt: skip
    Path("all.csv").write_text(lines(["testset,id,system,score", *rows]))
    assert "'en-de', 'en-cs'" in run("--from", "all.csv")
    assert scores(run("--from", "all.csv", "--testset", "en-cs"))["y"] == {"all": 2}


def test_replicas_are_runs_of_any_format(run):
    found = run("-r", "ref.txt", "--replicas", "a=aspen.txt,birch.sgm", "--replicas",
                "b=birch.txt,aspen.sgm")  # fmt: skip
    assert [len(s["scores"]["bleu"]["replicas"]) for s in found["systems"]] == [2, 2]


def test_documents_come_with_texts_or_alone(run):
    found = run("-r", "ref.sgm", "aspen.txt", "birch.txt")
    assert found["testset"]["documents"] == 1
    Path("docs").write_text("a\na\nb\nb\n")
    assert run("-r", "ref.sgm", "aspen.txt", "birch.txt", "--documents", "docs")["testset"][
        "documents"
    ] == 2  # fmt: skip
    Path("both.docs").write_text("news\td1\nnews\td2\ntalk\td3\ntalk\td3\n")
    both = ["--documents", "both.docs", "--labels", "both.docs", "--stratified"]
    found = run("-r", "ref.txt", "aspen.txt", "birch.txt", *both, "--unit", "document")
    assert (found["testset"]["documents"], "stratified:true" in found["signature"]) == (3, True)


NOT_TEXT = {
    "html": "<html><body>\n<p>the cat sat</p>\n<p>it rains</p>\n<p>home</p>\n</body></html>\n",
    "tmx": '<?xml version="1.0"?><tmx version="1.4"><body>\n<tu><tuv><seg>a</seg></tuv></tu>\n'
    "</body></tmx>\n",
    "json": json.dumps({"outputs": WORDS}),
    "jsonl": lines(json.dumps({"text": line}) for line in WORDS),
    "csv": lines(["segment_id,translation", *(f"{i},{w}" for i, w in enumerate(WORDS))]),
    "averages": "system,BLEU\naspen,30.1\nbirch,29.5\n",
    "half json": '{"a": [1, 2',
    "srcset": sgml("srcset", WORDS),
    "tstset": sgml("tstset", OUTPUTS["aspen"], 'sysid="m"'),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", NOT_TEXT)
def test_what_is_no_text_is_parsed_or_refused_and_never_scored(run, kind, packed):
    data = NOT_TEXT[kind].encode()
    Path("given").write_bytes(gzip.compress(data) if packed else data)
    plain = scores(run("-r", "ref.txt", "aspen.txt", "birch.txt"))
    for arguments in (["-r", "given", "aspen.txt", "birch.txt"],
                      ["-r", "ref.txt", "aspen.txt", "x=given"]):  # fmt: skip
        found = run(*arguments)
        if isinstance(found, str):
            assert "given" in found
            continue
        words = {"csv": WORDS, "srcset": WORDS, "tstset": OUTPUTS["aspen"]}[kind]
        Path("words").write_text(lines(words))
        same = ["words" if a == "given" else a.replace("=given", "=words") for a in arguments]
        assert scores(found) == scores(run(*same))
    assert scores(run("-r", "ref.txt", "aspen.txt", "birch.txt")) == plain


def test_columns_of_numbers_are_systems_or_metrics_where_an_option_says_so(run):
    rows = "".join(f"q{i},{i % 2},{i % 3}\n" for i in range(6))
    Path("wide.csv").write_text(f"id,ours,theirs\n{rows}")
    assert "--columns systems or metrics" in run("--from", "wide.csv")
    found = run("--from", "wide.csv", "--columns", "systems")
    assert [system["name"] for system in found["systems"]] == ["ours", "theirs"]
    found = run("--from", "wide.csv", "--columns", "metrics")
    assert [system["name"] for system in found["systems"]] == ["wide"]
    assert [*found["metrics"]] == ["ours", "theirs"]
    assert "columns 'rows'; choose one of systems, metrics" in run(
        "--columns", "rows", "--from", "x"
    )
    report = sigtest.compare(from_="wide.csv", columns="systems", resamples=99)
    assert [system.name for system in report.systems] == ["ours", "theirs"]
    sets = {"one": Path("wide.csv"), "two": Path("wide.csv")}
    report = sigtest.suite(sets, columns="systems", resamples=99)
    assert [system.name for system in report.systems] == ["ours", "theirs"]


def looked(capsys: pytest.CaptureFixture[str], *files: object) -> list[str]:
    assert main(["look", *map(str, files)]) == 0
    return capsys.readouterr().out.splitlines()


def test_look_says_what_files_are_and_what_to_ask(tmp_path, capsys):
    samples = tmp_path / "two words.json"
    samples.write_text(promptfoo(promptfoo_rows(repeat=2)))
    said = looked(capsys, samples)
    assert said[0] == (
        f"{samples}: results of promptfoo; segments 2; systems openai:gpt, "
        "file:____elm.py; scores score, pass, tone"
    )
    assert said[1:] == [f"ask: sigtest {c} --from '{samples}'" for c in ("compare", "board")]
    for line in said[1:]:  # and what it says works
        assert main([*shlex.split(line.removeprefix("ask: sigtest ")), "-m", "tone"]) == 0
    capsys.readouterr()
    texts = [EXAMPLE / "systems" / "aspen.en", EXAMPLE / "reference.en"]
    assert looked(capsys, *texts)[-1] == f"ask: sigtest compare -r {texts[1]} {texts[0]}"


@pytest.mark.parametrize("header", ["task,elm,oak", "id,elm,oak"])
def test_look_at_a_board_asks_which_of_its_ranks_are_real(tmp_path, capsys, header):
    table = tmp_path / "a.csv"
    table.write_text(f"{header}\nx,1,0.5\ny,0.25,0\nz,0.5,0.75\n")
    described, *asked = looked(capsys, table)
    assert "segments 3; systems elm, oak" in described
    assert asked == [f"ask: sigtest board --from {table}"]
    assert main(shlex.split(asked[0].removeprefix("ask: sigtest "))) == 0


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.csv": "id,system,score\n1,elm,1\n2,elm,\n"}, "missing: a.csv: system 'elm' has no"),
        ({"a.csv": "id,system,score\n1,elm,1\n2,elm,0\n", "b.csv": "id,score\n1,0\n3,1\n"},
         "missing: b.csv has none for 1 of the 2 segments of a.csv"),
        ({"a.csv": "system,segment,score,annotator,criterion\nelm,1,50,me,x\n"}, "`sigtest human`"),
        ({"a.csv": "id,elm,oak\n1,1,0\n2,0,\n"}, "system 'oak' has no 'a' score for 1 of 2"),
        ({"a.csv": "id,system,score\n1,elm,1\n2,elm,0\n", "b.en": "Text.\nTwo.\n"},
         "missing: b.en is plain text, which does not say what it is"),
    ],
)  # fmt: skip
def test_look_says_what_is_missing(tmp_path, monkeypatch, capsys, files, said):
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    last = looked(capsys, *files)[-1]
    assert last.startswith("missing: ")
    assert said in last


def test_look_asks_nothing_that_one_system_or_one_text_cannot_answer(tmp_path, capsys):
    one, text = tmp_path / "one.csv", tmp_path / "ref.txt"
    one.write_text("id,system,score\n1,A,0.5\n2,A,0.6\n")
    text.write_text("a b c\nd e f\n")
    assert looked(capsys, one)[1:] == [f"ask: sigtest compare --from {one}"]
    assert looked(capsys, text)[1].startswith("missing: texts to compare it with")


def test_many_columns_of_numbers_are_counted_once(tmp_path, monkeypatch):
    rows = [{"id": i // 2, "system": "AB"[i % 2]} for i in range(6)]
    seen: list[object] = []
    columns = Material.columns.fget
    monkeypatch.setattr(
        Material, "columns", property(lambda own: (seen.append(own), columns(own))[1])
    )
    for many in (20, 200):
        path = tmp_path / f"{many}.jsonl"
        lines = [{**row, "metrics": {f"m{j}": j % 7 for j in range(many)}} for row in rows]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        seen.clear()
        assert main(["look", str(path)]) == 0
        assert len(seen) < 50


@pytest.mark.parametrize("names", ["a,b", "model_a,model_b"])
def test_preferences_are_no_text_and_are_for_people(names, tmp_path, capsys):
    path = tmp_path / "battles.csv"
    path.write_text(f"{names},winner\nx,y,x\ny,x,y\n")
    read, _, systems, _, ask = looked(capsys, path)
    assert read.startswith("2 rows, read as preferences")
    assert systems == "2 systems: x, y."
    assert ask == f"ask: sigtest human {path}"
    assert main(["compare", "-r", str(path), str(path)]) == 2
    assert "judgements or preferences" in capsys.readouterr().err
