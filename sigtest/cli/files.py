"""Files on this machine: read with their names in every message, written whole or not at all."""

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sigtest.cli.options import Chosen, UsageError
from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.data.names import system_name
from sigtest.data.testset import NOTHING, MetricOptions
from sigtest.errors import InputError, LimitError, RecipeError, SigtestError
from sigtest.files.gathering import COLUMNS, SETTING, Entry, Upload, gather, read_builtin
from sigtest.files.join import Joining
from sigtest.files.material import Material, metric_options, metrics_of
from sigtest.files.tree import GZIP, unpacking
from sigtest.metrics import METRICS, only_labels
from sigtest.render.drawing import converted, named
from sigtest.requests.model import words_of
from sigtest.requests.recipe import ANY_METRIC, OPTIONS, Recipe, labels_needed, of_labels

N = TypeVar("N", int, float)

STDIN = "-"
MAX_BYTES = 512 * 2**20
NO_REFERENCES = "No references: give them with -r FILE, or scores with --scores."


# bytes


def shown(path: str) -> str:
    """What messages call a file."""
    return "standard input" if path == STDIN else path


def read_bytes(path: str) -> bytes:
    """The content of a file, decompressed."""
    if path == STDIN:
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    if data.startswith(GZIP):
        with unpacking(io.BytesIO(data), shown(path)) as inner:
            data = inner.read(MAX_BYTES + 1)  # a gzip bomb stays small
    if len(data) > MAX_BYTES:
        raise LimitError(
            f"{shown(path)} has more than {MAX_BYTES // 2**20} MiB of text.", limit="max_text_bytes"
        )
    return data


def check_output(path: str | None) -> None:
    """Complain before a long computation about a file that could not be written after it.

    Raises:
        OSError: There is no such folder, or the file is a folder.
    """
    if path is None:  # standard output
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", path)
    if not target.parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", str(target.parent))


def write(content: bytes, path: str | None) -> None:
    """Write to a file atomically, or to standard output.

    Raises:
        OSError: It cannot be written; says which of the two.
    """
    file = None if path == STDIN else path
    try:
        _write(content, file)
    except OSError as error:
        error.filename = file or "standard output"
        raise


def _write(content: bytes, path: str | None) -> None:
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # a link stays a link
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        target.write_bytes(content)
        return
    partial = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_pictures(pictures: Iterable[tuple[Sequence[str], str]], options: Chosen) -> None:
    """Write pictures that are called by what they show; a second of one name gets a number.

    Args:
        pictures: What each shows, in words, and the SVG.
        options: Name the folder where they go, and their format.
    """
    for name, svg in named(pictures):
        path = Path(options.plots) / f"{name}.{options.plots_as}"
        write(converted(svg, options.plots_as), str(path))


# what files bring


def read(entries: Sequence[Entry], how: Joining) -> Material:
    """Read all files; standard input may be one of them."""
    piped = [entry for entry in entries if entry.where == Path(STDIN)]
    if len(piped) > 1:
        raise InputError("Standard input (-) can be only one of the files.")
    content = Upload(shown(STDIN), sys.stdin.buffer.read() if piped else b"")
    return gather([replace(e, where=content) if e in piped else e for e in entries], how)


def joining_of(options: Chosen, testset: str | None = None) -> Joining:
    """What to do where files do not match; of several test sets the one to keep."""
    labels, wanted = only_labels(options.metrics), labels_needed(options.metrics)
    out, columns = tuple(options.without), options.columns
    return Joining(options.missing, testset, False, labels, wanted, out, columns, options.unpaired)


def references_of(options: Chosen) -> list[Entry]:
    """The references."""
    return [Entry("reference", Path(path)) for path in options.reference]


def columns_of(options: Chosen) -> list[Entry]:
    """The files that say something of each segment."""
    named = [(role, getattr(options, role)) for role in COLUMNS]
    return [Entry(role, Path(path)) for role, path in named if path is not None]


def systems_of(options: Chosen) -> list[Entry]:
    """The systems: plain ones, those with several runs, those with scores."""
    entries = [Entry("system", Path(path), name) for name, path in map(_named, options.systems)]
    for spelled in options.replicas or ():
        name, equals, listed = spelled.partition("=")
        if not equals or not all(listed.split(",")):
            raise InputError(f"--replicas takes NAME=FILE,FILE,..., not {spelled!r}.")
        entries += [Entry("system", Path(path), name, run=True) for path in listed.split(",")]
    for spelled in options.scores or ():
        target, equals, path = spelled.partition("=")
        if not equals:
            raise InputError(f"--scores takes [LABEL:]NAME=FILE, not {spelled!r}.")
        label, colon, name = target.partition(":")
        system, of = (name, label) if colon else (target, None)
        entries.append(Entry("scores", Path(_path(path, spelled)), system, of))
    return entries


def _named(spelled: str) -> tuple[str | None, str]:
    """Name and file of `[NAME=]FILE`; what has a slash is a folder rather than a name."""
    name, equals, path = spelled.partition("=")
    meant = "/" not in name or (os.path.exists(path) and not os.path.exists(spelled))
    if equals and meant:
        return name, _path(path, spelled)
    if spelled.partition(":")[0].lower() in METRICS and not os.path.exists(spelled):
        raise InputError(
            f"{spelled!r} is a metric, and there is no such file; every metric has an option of "
            f"its own: -m bleu -m {spelled}."
        )
    return ("stdin", STDIN) if spelled == STDIN else (None, _path(spelled, spelled))


def _path(path: str, spelled: str) -> str:
    if not path:
        raise InputError(f"{spelled!r} names no file.")
    return path


# comparisons


def read_comparison(options: Chosen) -> Comparison:
    """The comparison that was asked for.

    Raises:
        SigtestError: A file or an option that cannot be used.
        OSError: A file that cannot be read.
    """
    check_choices(options)
    entries = [Entry("anything", Path(path)) for path in options.imports or ()]
    if options.testset is not None and not entries:
        if options.reference:
            raise InputError("--testset brings the references; leave out -r.")
        builtin = read_builtin(options.testset, os.environ.get(SETTING) == "1")
        entries = [Entry("anything", builtin)]
    entries += [*references_of(options), *systems_of(options), *columns_of(options)]
    if not entries:
        raise InputError(NO_REFERENCES)
    material = read(entries, joining_of(options, options.testset if options.imports else None))
    if material.systems and not (material.references or material.scores):
        raise InputError(NO_REFERENCES)
    choices = choices_of(options, metrics_of(material), _told(material))
    with naming(material.files, [shown(path) for path in options.reference]):
        return parse_comparison({**material.as_json(), **material.usual, **choices})


def read_folders(options: Chosen) -> Comparison:
    """The comparison on the test sets that lie in folders, or in files or archives.

    Raises:
        SigtestError: A file or an option that cannot be used.
        UsageError: Fewer than two folders.
        OSError: A file that cannot be read.
    """
    check_choices(options)
    if len(options.folders) < 2:
        raise UsageError(
            f"suite needs two folders at least, each a test set; {len(options.folders)} given. One "
            "test set is for sigtest compare --from FOLDER"
        )
    how = joining_of(options)
    materials = [_read_testset(spelled, how) for spelled in options.folders]
    choices = choices_of(options, metrics_of(materials[0][1]), _told(materials[0][1]))
    testsets = [{"name": name, **material.as_json()} for name, material in materials]
    return parse_comparison({"testsets": testsets, "pooled": options.pooled, **choices})


def _read_testset(spelled: str, how: Joining) -> tuple[str, Material]:
    """The test set of `[NAME=]FOLDER`."""
    name, equals, path = spelled.partition("=")
    if not equals or os.path.exists(spelled):
        last = os.path.basename(os.path.abspath(spelled))
        name, path = last if os.path.isdir(spelled) else system_name(last), spelled
    return name, read([Entry("anything", Path(path))], how)


# choices


def check_choices(options: Chosen) -> None:
    """Check the recipe before any file is read: a wrong option is cheaper to find.

    Raises:
        RecipeError: Something in it that no file can make right.
    """
    Recipe.of(choices_of(options, [ANY_METRIC], told=None))


@contextmanager
def naming(files: Mapping[str, tuple[str, ...]], references: Sequence[str]) -> Iterator[None]:
    """Errors about a system or about the references name their files.

    Args:
        files: Of each system.
        references: Those of the references.
    """
    try:
        yield
    except SigtestError as error:
        of_references = references if error.field == "references" else ()
        own = of_references if error.system is None else files.get(error.system, ())
        if not own:
            raise
        raise InputError(f"{', '.join(own)}: {error.message}") from error


def _told(material: Material) -> MetricOptions:
    """What files say of scores that may be asked for by label: of texts, not by a metric's name."""
    found = metric_options(material)
    return {k: v for k, v in found.items() if not (material.systems and k.lower() in METRICS)}


def choices_of(
    options: Chosen,
    metrics: Sequence[str | Mapping[str, object]],
    told: MetricOptions | None = NOTHING,
) -> dict[str, Any]:
    """The recipe as JSON has it; options that were not given keep its defaults.

    Args:
        options: Of the command.
        metrics: Where none is asked for.
        told: What files say of the scores that they have; see `of_labels`.
    """
    for spelled in options.metrics or ():
        # a report's own metrics are no option, and objects
        names = spelled.partition(":")[0].split(",") if isinstance(spelled, str) else ()
        if len(names) > 1:
            raise RecipeError(
                f"{spelled!r} is no metric; every metric has an option of its own: "
                f"-m {' -m '.join(names)}.",
                field="metrics",
            )
    choices = words_of(OPTIONS, options)
    choices["metrics"] = of_labels(options.metrics, told) or list(metrics)
    if "baseline" in choices:
        choices["pairs"] = {"baseline": choices.pop("baseline")}
    return choices


def number(text: str, option: str, kind: Callable[[str], N]) -> N:
    """A number, or a whole one, by its kind.

    Raises:
        RecipeError: Something else.
    """
    try:
        return kind(text)
    except ValueError:
        what = "whole number" if kind is int else "number"
        raise RecipeError(f"{option} must be a {what}, not {text!r}.", field=option) from None
