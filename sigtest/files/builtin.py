"""sacreBLEU's built-in test sets by name; downloaded only where that is allowed."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from sigtest.data.text import parse_lines
from sigtest.errors import InputError, UnavailableError
from sigtest.files.material import Material

if TYPE_CHECKING:
    from sacrebleu.dataset.base import Dataset

SETTING = "SIGTEST_ALLOW_DOWNLOADS"
DOCUMENTS = "docid"
NETWORK = (OSError, EOFError, SystemExit, AssertionError)  # sacreBLEU exits where a hash is wrong


def read_builtin(name: str, allow_downloads: bool) -> Material:
    """References and documents of a test set that sacreBLEU knows.

    Args:
        name: Test set and language pair, such as `wmt17/en-de`.
        allow_downloads: Whether sacreBLEU may fetch what is not on this machine.

    Raises:
        InputError: No such test set or language pair.
        UnavailableError: It would have to be downloaded and must not, or cannot be.
    """
    from sacrebleu.dataset import DATASETS  # late: only who asks for one needs them

    test_set, _, pair = name.rpartition("/")
    known: dict[str, Dataset] = DATASETS
    if not test_set:
        raise InputError(
            f"{name[:60]!r} names no language pair; ask as wmt17/en-de.", field="testset"
        )
    if test_set not in known:
        near = difflib.get_close_matches(test_set, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"sacreBLEU has no test set {test_set[:60]!r}; ask as wmt17/en-de.{hint}",
            field="testset",
        )
    dataset = known[test_set]
    if pair not in dataset.langpairs:
        raise InputError(
            f"{test_set} has no language pair {pair[:60]!r}; it has "
            f"{', '.join(sorted(dataset.langpairs))}.",
            field="testset",
        )
    archives = [
        Path(dataset._rawdir) / dataset._get_tarball_filename(url)  # type: ignore[no-untyped-call]
        for url in dataset.data or ()
    ]
    if not allow_downloads and not all(archive.exists() for archive in archives):
        raise UnavailableError(
            f"{name} is not on this machine, and downloads are not allowed; set {SETTING}=1 to "
            f"let sacreBLEU fetch it, or run `sacrebleu -t {test_set} -l {pair} --echo ref` once.",
            field="testset",
        )
    try:
        references: list[str] = dataset.get_reference_files(pair)  # type: ignore[no-untyped-call]
        files: list[str] = dataset.get_files(pair)  # type: ignore[no-untyped-call]
        fields = dict(zip(dataset.fieldnames(pair), files, strict=True))
    except NETWORK as error:
        raise UnavailableError(
            f"sacreBLEU cannot fetch {name}: {error or 'see its log'}.", field="testset"
        ) from error
    documents = fields.get(DOCUMENTS)
    return Material(
        tuple(_lines(Path(path)) for path in references),
        documents=_lines(Path(documents)) if documents is not None else None,
    )


def _lines(path: Path) -> tuple[str, ...]:
    return parse_lines(path.read_bytes(), path.name)
