"""Directories, archives and WMT XML: what is read, and what is refused with one clear message."""

import gzip
import io
import os
import re
import tarfile
import zipfile
from contextlib import suppress
from dataclasses import replace

import pytest
from packed import BAD, DOCUMENTS, FILES, GOOD, LINES, REFERENCE, XML, tarred, unpack, zipped

from sigtest.comparison.comparison import parse_comparison
from sigtest.errors import InputError, LimitError, SigtestError
from sigtest.files.gathering import Entry, Upload, gather, read_bytes, read_path
from sigtest.files.join import Joining, join
from sigtest.files.material import Material
from sigtest.files.tree import Bounds


def special(kind, name="systems/x.en", target="/etc/passwd"):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.fixture
def folder(tmp_path):
    return unpack(tmp_path)


def test_every_way_brings_the_same_material(folder):
    found = read_path(folder)
    nested = {f"task/2026/{name}": data for name, data in FILES.items()}
    packed = {f"{name}.gz": gzip.compress(data) for name, data in FILES.items()}
    hidden = {"__MACOSX/systems/._good.en": b"\0", "task/README.md": b"\xff"}
    assert [name for name, _ in found.systems] == ["bad", "good"]
    assert found.references == (tuple(LINES),)
    assert len(set(found.documents)) == 4
    for data in (
        zipped(FILES),
        zipped(nested | hidden),
        zipped(FILES, zipfile.ZIP_STORED),
        zipped(packed),
        tarred(FILES),
        tarred(nested | hidden, "w:gz"),
        tarred({f"./{name}": data for name, data in FILES.items()}, "w:gz"),
    ):
        assert read_bytes(data, "task") == found


def test_material_is_a_comparison(folder):
    body = read_path(folder).as_json()
    (folder / "systems" / "good.en").write_bytes(GOOD)
    comparison = parse_comparison(body)
    assert comparison.entries[0].testset.documents is not None
    assert [system.name for system in comparison.entries[0].systems] == ["bad", "good"]


def test_a_folder_of_a_system_has_its_training_runs(folder):
    for name in ("good", "bad"):
        (folder / f"systems/{name}.en").unlink()
        (folder / f"systems/{name}").mkdir()
        for i, data in enumerate((GOOD, BAD)):
            (folder / f"systems/{name}/run{i}.en").write_bytes(data)
    body = read_path(folder).as_json()
    assert [len(system["replicas"]) for system in body["systems"]] == [2, 2]
    assert [part.replicas for part in parse_comparison(body).plan.parts] == [2]


def test_labels_are_read_too():
    assert read_bytes(zipped(FILES | {"labels.txt": DOCUMENTS}), "z").labels[0] == "d0"


@pytest.mark.parametrize(
    "data",
    [
        XML.encode(),
        b"\xef\xbb\xbf" + XML.encode(),
        gzip.compress(XML.encode()),
        zipped({"newstest.xml": XML.encode()}),
        zipped({"deep/newstest.xml.gz": gzip.compress(XML.encode()), "README": b"x"}),
        tarred({"newstest.xml": XML.encode()}, "w:gz"),
    ],
)
def test_wmt_xml_has_references_by_translator_and_systems_by_name(data):
    found = read_bytes(data, "newstest.xml")
    assert found.references == (("A & one", "A two", "A three"), ("B one", None, None))
    assert found.systems == (
        ("S1", (("S1 one", "S1 two", "S1 three"),)),
        ("S2", (("S2 one", "S2 two", "S2 three"),)),
    )
    assert found.documents == ("one", "one", "two")
    assert found.labels == ("news", "news", "talks")


def test_the_same_xml_is_what_sacrebleu_makes_of_it(tmp_path):
    from sacrebleu.dataset.wmt_xml import WMTXMLDataset

    found = read_bytes(XML.encode(), "x")
    theirs = WMTXMLDataset._unwrap_wmt21_or_later(io.BytesIO(XML.encode()))
    clean = WMTXMLDataset._clean
    assert found.references[0] == tuple(map(clean, theirs["ref:A"]))
    assert dict(found.systems)["S1"] == (tuple(map(clean, theirs["S1"])),)
    assert found.documents == tuple(theirs["docid"])


LAUGHS = '<!DOCTYPE dataset [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
EXTERNAL = '<!DOCTYPE dataset [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
HEAD = "<?xml version='1.0' encoding='utf-8'?>"
SECOND = '<hyp lang="en" system="S2"><p><seg id="1">S2 three</seg></p></hyp>'

BAD_XML = {
    "internal entities": (XML.replace(HEAD, HEAD + LAUGHS), ["x.xml, line 1", "entity"]),
    "external entities": (XML.replace(HEAD, HEAD + EXTERNAL), ["x.xml, line 1", "entity"]),
    "a DTD": (XML.replace(HEAD, HEAD + '<!DOCTYPE dataset SYSTEM "x">'), ["document type"]),
    "unknown entity": (XML.replace("&amp;", "&nbsp;"), ["line 7", "undefined entity"]),
    "cut": (XML[:-20], ["x.xml, line", "not well-formed"]),
    "other XML": ("<tmx></tmx>", ["markup such as HTML, TMX"]),
    "nothing": ("<dataset/>", ["no document"]),
    "missing hypothesis": (
        XML.replace(SECOND, ""),
        ["system 'S2' has no hypothesis for 1 of 3 segments ('two#1')"],
    ),
    "segment twice": (
        XML.replace('<seg id="2">c', '<seg id="1">c'),
        ["line 5", "segment '1' of document 'one' twice"],
    ),
    "a system without segments": (
        XML.replace(SECOND, SECOND + '<hyp lang="en" system="S3"/>'),
        ["system 'S3' has no hypothesis for 3 of 3 segments ('one#1', 'one#2', 'two#1')"],
    ),
    "system twice": (
        XML.replace('system="S2"', 'system="S1"'),
        ["segment '1' of document 'one' twice for 'S1'"],
    ),
    "two languages": (
        XML.replace('<ref lang="en" translator="B">', '<ref lang="de" translator="B">'),
        ["references in 'de' and 'en'"],
    ),
    "a translator a document": (
        XML.replace(
            "</collection>",
            "".join(
                f'<doc id="{i}"><src><p><seg id="1">a</seg></p></src>'
                f'<ref lang="en" translator="{i}"><p><seg id="1">b</seg></p></ref></doc>'
                for i in range(30)
            )
            + "</collection>",
        ),
        ["more than 20 translators"],
    ),
    "no system": (XML.replace('system="S2"', ""), ["hypothesis without system"]),
    "no id": (XML.replace('<seg id="2">c', "<seg>c"), ["segment without id"]),
    "markup in a segment": (XML.replace("B one", "B <b>one</b>"), ["inside a segment"]),
    "deep": ("<dataset>" + "<p>" * 99 + "</p>" * 99 + "</dataset>", ["no document"]),
    "endless segment": (
        XML.replace("B one", "b\n" * 600_000),
        ["1,199,999 characters", "max_characters"],
    ),
    "UTF-16": (XML.encode("utf-16"), ["UTF-16"]),
    "latin-1": (XML.replace("B one", "B \xe9").encode("latin-1"), ["line 9", "0xe9", "UTF-8"]),
}


@pytest.mark.parametrize(("content", "parts"), BAD_XML.values(), ids=BAD_XML)
def test_bad_xml_is_one_clear_problem(content, parts):
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(SigtestError) as raised:
        gather([Entry("anything", Upload("x.xml", data))])
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_a_system_that_has_only_what_is_not_compared_is_named():
    other = '<doc id="o"><hyp system="S4"><p><seg id="1">a</seg></p></hyp></doc>'
    found = read_bytes(XML.replace("</collection>", f"{other}</collection>").encode(), "x.xml")
    assert dict(found.systems).keys() == {"S1", "S2"}
    assert found.notes == (
        "x.xml: systems without a segment that has a reference are left out: 'S4'.",
    )


def test_a_document_whose_source_is_empty_is_read_all_the_same():
    empty = re.sub(r"<src.*?</src>", "<src/>", XML, count=1, flags=re.DOTALL)
    found = read_bytes(empty.encode(), "x.xml")
    assert empty != XML
    assert found.documents == ("one", "one", "two")
    assert found.sources == (None, None, "d")


def test_an_evalset_with_an_empty_file_of_scores_is_one_clear_problem():
    texts = (
        "references/de-en.refA.txt",
        "system-outputs/de-en/A.txt",
        "system-outputs/de-en/B.txt",
    )
    files = {f"set/{name}": b"a b\nc d\n" for name in texts}
    scores = {"set/metric-scores/de-en/BLEU-refA.seg.score": b"\n"}
    with pytest.raises(InputError, match=r"BLEU-refA\.seg\.score is empty; a system and a score"):
        read_bytes(zipped(files | scores), "set.zip", how=Joining(testset="de-en"))


def linked_zip(mode):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in FILES.items():
            archive.writestr(name, data)
        member = zipfile.ZipInfo("systems/x.en")
        member.external_attr = mode << 16
        archive.writestr(member, "/etc/passwd")
    return packed.getvalue()


def encrypted_zip():
    data = bytearray(zipped(FILES))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


def zstandard_zip():
    data = bytearray(zipped(FILES))
    data[data.rindex(b"PK\x01\x02") + 10] = 93  # method of compression
    return bytes(data)


def twice_zip():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("systems/a.en", GOOD)
        archive.writestr("systems/b.en", BAD)
    return packed.getvalue().replace(b"systems/b.en", b"systems/a.en")


def endless_headers():
    """Extended headers that announce extended headers, more than a parser can recurse."""
    member = tarfile.TarInfo("x")
    member.type = tarfile.XHDTYPE
    return member.tobuf(tarfile.USTAR_FORMAT) * 5000


ESCAPES = ["../systems/x.en", "/etc/passwd", "systems/../../x", "C:/x", "systems\\..\\x.en"]
BAD_ARCHIVES = {
    **{f"zip {name}": (zipped(FILES | {name: GOOD}), "leads out") for name in ESCAPES},
    **{f"tar {name}": (tarred(FILES | {name: GOOD}), "leads out") for name in ESCAPES},
    **{
        f"{kind} with backslashes": (packed({"systems\\x.en": GOOD}), "has backslashes, which")
        for kind, packed in (("zip", zipped), ("tar", tarred))
    },
    "zip with a link": (linked_zip(0o120777), "no plain file"),
    "zip with a device": (linked_zip(0o020666), "no plain file"),
    **{
        f"tar with type {kind!r}": (tarred(FILES, extra=[special(kind)]), "no plain file")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE,
                     tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE)
    },
    "link that nobody needs": (tarred(FILES, extra=[special(tarfile.SYMTYPE, "z")]), "no plain"),
    "encrypted": (encrypted_zip(), "encrypted"),
    "bzip2 in zip": (zipped(FILES, zipfile.ZIP_BZIP2), "use deflate"),
    "lzma in zip": (zipped(FILES, zipfile.ZIP_LZMA), "use deflate"),
    "damaged zstandard in zip": (zstandard_zip(), "'systems/bad.en' is not whole"),
    "member twice": (twice_zip(), "twice"),
    "member without a name": (
        zipped(FILES | {"systems/x.en": GOOD}).replace(b"systems/x.en", b"\0ystems/x.en"),
        "a member has no name",
    ),
    "cut zip": (zipped(FILES)[:-30], "not a whole zip"),
    "broken zip": (zipped(FILES).replace(b"PK\x01\x02", b"PK\x01\x03", 1), "not a whole zip"),
    "cut tar": (tarred(FILES)[:1500], "not a whole tar"),
    "cut tar.gz": (tarred(FILES, "w:gz")[:-100], "not a whole"),
    "endless tar headers": (endless_headers(), "not a whole tar"),
    "half a gzip": (gzip.compress(XML.encode())[:-9], "not a whole gzip"),
    "tar.bz2": (tarred(FILES, "w:bz2"), "it is a binary file (bzip2); unpack it"),
    "nothing": (b"", "task.zip is empty"),
    "empty zip": (zipped({}), "without any file"),
    "empty tar": (tarred({}), "task.zip, line 1: NUL byte"),
    "other files": (zipped({"a.txt": b"a\n", "b/c.txt": b"b\n"}), "no matching files"),
    "texts": (zipped({"a.txt": b"a\n", "b/c.txt": b"b\n"}), "a.txt, b/c.txt, and plain text does "
              "not say what it is: unpack it and give each file of its own, as the reference (in "
              "the shell -r FILE, in a form the part references)"),
    "no references": (zipped({"systems/a.en": GOOD}), "no reference*"),
    "no systems": (zipped({"reference.en": REFERENCE}), "no systems/*"),
    "three test sets": (
        zipped({f"{task}/{name}": data for task in "abc" for name, data in FILES.items()}),
        "3 test sets (a, b, c); say which one to compare on with select (--testset in the shell).",
    ),
    "two documents": (zipped(FILES | {"documents.old": DOCUMENTS}), "one is enough"),
    "system twice": (zipped(FILES | {"systems/good.txt": GOOD}), "two systems 'good'"),
    "two XML files": (zipped({"a.xml": XML.encode(), "b.xml": b""}), "b.xml is empty"),
    "no UTF-8": (zipped(FILES | {"systems/good.en": b"a\xff\n"}), "systems/good.en, line 1"),
    "empty system": (zipped(FILES | {"systems/good.en": b""}), "systems/good.en is empty"),
    "damaged gzip inside": (zipped(FILES | {"systems/c.gz": b"\x1f\x8bx"}), "not a whole gzip"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "part"), BAD_ARCHIVES.values(), ids=BAD_ARCHIVES)
def test_bad_archives_are_one_clear_problem(data, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as raised:
        read_bytes(data, "task.zip")
    assert part in str(raised.value), str(raised.value)
    assert "task.zip" in str(raised.value) or "systems/" in str(raised.value)
    assert not os.listdir(tmp_path)


def test_one_of_several_folders_is_named_as_messages_show_it_or_by_its_last_part(folder):
    files = {f"2026/{pair}/{name}": data for pair in ("de", "cs") for name, data in FILES.items()}
    for named in ("2026/de", "de"):
        found = read_bytes(zipped(files), "task", how=Joining(testset=named))
        assert replace(found, testsets=None) == read_path(folder)
        assert set(found.testsets) == {named}
    with pytest.raises(InputError, match=r"\(2026/cs, 2026/de\); none of which is 'fr'; say which"):
        read_bytes(zipped(files), "task", how=Joining(testset="fr"))


def test_a_folder_of_texts_is_told_without_unpacking(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"It has a\.txt, and .* what it is: give each file"):
        read_path(tmp_path)


SMALL = Bounds(files=20, text_bytes=2**22, ratio=50)
ZEROS = b"\n" * 2**23


def lying_tar():
    """A member that claims far more than there is."""
    member = tarfile.TarInfo("systems/x.en")
    member.size = 2**40
    return member.tobuf() + b"x" * 512


BOMBS = {
    "zip": (zipped({"systems/x.en": ZEROS}), "max_archive_ratio"),
    "tar.gz": (tarred({"systems/x.en": ZEROS}, "w:gz"), "max_archive_ratio"),
    "tar.gz of what is not needed": (tarred({"x": ZEROS}, "w:gz"), "max_archive_ratio"),
    "xml.gz": (gzip.compress(b"<dataset>" + ZEROS), "max_archive_ratio"),
    "gzip in a zip": (
        zipped({"reference.en": REFERENCE, "systems/x.gz": gzip.compress(ZEROS)}),
        "max_archive_ratio",
    ),
    "large tar": (tarred({"systems/x.en": ZEROS}), "max_text_bytes"),
    "many zip members": (zipped({f"{i}": b"" for i in range(30)}), "max_archive_files"),
    "many tar members": (tarred({f"{i}": b"" for i in range(30)}), "max_archive_files"),
}


@pytest.mark.parametrize(("data", "limit"), BOMBS.values(), ids=BOMBS)
def test_bombs_are_not_unpacked(data, limit):
    with pytest.raises(LimitError) as raised:
        read_bytes(data, "task", SMALL)
    assert raised.value.limit == limit


def test_sizes_are_counted_and_not_believed():
    with pytest.raises(InputError, match="not a whole tar"):
        read_bytes(lying_tar(), "task.tar", SMALL)


def test_a_directory_is_bounded_too(folder):
    with pytest.raises(LimitError, match="max_text_bytes"):
        read_path(folder, Bounds(text_bytes=100))


def test_references_with_the_same_texts_count_once_and_the_notes_say_so(folder):
    whole = read_path(folder)
    again = Material(references=whole.references, name="again.en")
    other = Material(references=(tuple(line + " !" for line in LINES),), name="other.en")
    joined = join([whole, other, again])
    assert len(joined.references) == 2
    said = [note for note in joined.notes if "count once" in note]
    assert len(said) == 1
    assert "again.en" in said[0]
    assert whole.name in said[0]
    assert not [note for note in join([whole, other]).notes if "count once" in note]


DIGITS = b"9" * 5000
ODD = {
    "separators alone": b"\x1f",
    "blank lines for long": b"\n" * 2**17 + b"\x1f",
    "numbers of 5,000 digits": b"system,annotator,item,&\na,x,1,%b\n" % DIGITS,
    "ids of 5,000 digits": b"id,hypothesis\n%b,a b\n%b8,c d\n" % (DIGITS, DIGITS),
}


@pytest.mark.parametrize("role", ["anything", "system", "source"])
@pytest.mark.parametrize("name", ODD)
def test_odd_small_files_are_read_or_refused_in_words(name, role):
    given = [Entry(role, Upload("odd", ODD[name]), "x" if role == "system" else None)]
    others = b"id,hypothesis\n1,a b\n2,c d\n"
    given.append(Entry("system", Upload("b.csv", others), "b"))
    with suppress(InputError):
        gather(given, Joining(), Bounds())
