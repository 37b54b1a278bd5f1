"""A small shared task, as files, archives and WMT XML, for tests of imports."""

import io
import tarfile
import zipfile

LINES = [f"the {i} th line of a text with word{i}" for i in range(8)]
REFERENCE = "".join(f"{line}\n" for line in LINES).encode()
GOOD = "".join(f"{line[: 30 - i % 3]}\n" for i, line in enumerate(LINES)).encode()
BAD = "".join(f"{line[4 + i % 2 :]}\n" for i, line in enumerate(LINES)).encode()
DOCUMENTS = "".join(f"d{i // 2}\n" for i in range(8)).encode()
FILES = {
    "reference.en": REFERENCE,
    "documents.txt": DOCUMENTS,
    "systems/good.en": GOOD,
    "systems/bad.en": BAD,
}
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest">
 <collection id="general">
  <doc origlang="cs" id="one" domain="news">
   <src lang="cs"><p><seg id="1">a &lt; b</seg><seg id="2">c</seg></p>
     <p><seg id="3">x</seg></p></src>
   <ref lang="en" translator="A"><p><seg id="1">A &amp; one</seg><seg id="2">A
     two</seg></p></ref>
   <ref lang="en" translator="B"><p><seg id="1">B one</seg><seg id="2"></seg></p></ref>
   <hyp lang="en" system="S1"><p><seg id="2">S1 two</seg><seg id="1">S1 one</seg></p></hyp>
   <hyp lang="en" system="S2"><p><seg id="1">S2 one</seg><seg id="2">S2 two</seg></p></hyp>
  </doc>
  <doc origlang="cs" id="two" domain="talks">
   <src lang="cs"><p><seg id="1">d</seg></p></src>
   <ref lang="en" translator="A"><p><seg id="1">A three</seg></p></ref>
   <hyp lang="en" system="S1"><p><seg id="1">S1 three</seg></p></hyp>
   <hyp lang="en" system="S2"><p><seg id="1">S2 three</seg></p></hyp>
  </doc>
  <doc origlang="cs" id="suite" testsuite="x"><src lang="cs"><p><seg id="1">y</seg></p></src></doc>
 </collection>
</dataset>
"""


def zipped(files, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def tarred(files, mode="w", extra=()):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for member in extra:
            archive.addfile(member)
    return packed.getvalue()


def unpack(place):
    """Write the shared task into a directory, with what lies around in real ones."""
    for name, data in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(data)
    (place / ".DS_Store").write_bytes(b"\0")
    (place / "README.md").write_bytes(b"# for people\n")
    return place
