"""The commands of documents run from top to bottom and print what the documents show."""

import re
import shutil

import pytest
from documents import ADDRESS, blocks, printed, require_shown
from exchange import ROOT

DOCUMENTS = ("BOARDS.md", "GUIDE.md", "PEOPLE.md", "SERVICE.md")
PROMISED = {  # what a document says of its commands without showing it
    "GUIDE.md": (
        "exact p-value of approximate randomization is that of McNemar's exact test",
        "Segments that not all files have are dropped",
        "the mean of 3 runs; runs are not resampled",
        "new old +0.3333 [0.0870, 0.5582] 0.013=",
        "reading: 300 segments, 60 documents; maths: 300 segments",
        "pass: not worse than small by 0.02 first",
    )
}


@pytest.mark.skipif(not shutil.which("curl"), reason="the documents' commands need curl")
@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_runs_and_prints_what_is_shown(service, programs, tmp_path, name, real):
    """Also where each command is a process of its own, which loads what it needs."""
    (tmp_path / "project").mkdir()
    shutil.copytree(ROOT / "examples", tmp_path / "project" / "examples")
    before = [] if real else [programs]
    lines = printed(name, service, tmp_path / "project", tmp_path, *before)
    assert not [line for line in lines if line.startswith("FAILED")], "\n".join(lines)
    require_shown(name, lines)
    words = " ".join(" ".join(lines).split())
    assert [said for said in PROMISED.get(name, ()) if said not in words] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_notebook_runs(service, name, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for code in blocks(name, "python"):
        exec(code.replace(ADDRESS, str(service.base_url)).replace("/tmp/", f"{tmp_path}/"), names)
    if name == "BOARDS.md":
        report = names["report"]
        assert isinstance(report, dict)
        assert [system["name"] for system in report["systems"]] == ["new"]


def test_links_between_documents_lead_somewhere():
    """Files and headings, as Git hosts make addresses of these."""
    pages = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
    anchors = {
        page: {
            re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
        }
        for page in pages
    }
    lost = []
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if "://" in link or (target.exists() and not anchor):
                continue
            if anchor not in anchors.get(target, ()):
                lost.append((page.name, link))
    assert lost == []
