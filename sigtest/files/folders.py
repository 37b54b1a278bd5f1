"""Formats of folders and archives: the layout of a shared task, EvalSets, collections of files.

The layout of a shared task is `reference*` and `systems/*`, and beside them perhaps `source*`,
`documents*` or `docids*`, and `labels*`. A text has one segment a line, or is of a format that says
where its segments are. `systems/NAME/` has a file for each training run of one system.

An EvalSet of mt-metrics-eval has, for each pair of languages LP and often for one test set alone:

    sources/LP.txt   references/LP.REF.txt   system-outputs/LP/NAME.txt   documents/LP.docs
    human-scores/LP.GOLD.{sys,seg}.score     metric-scores/LP/NAME-REF.{sys,seg}.score

A line is a system and a score; the i-th line of a system in a `.seg.` file is its segment i, and
`None` a segment without a score. Files differ in the order of their systems, and references stand
among them as if they were systems.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from sigtest.data.names import choose, system_name
from sigtest.errors import InputError
from sigtest.files.file import File
from sigtest.files.formats import programs
from sigtest.files.formats.columns import read_workbook
from sigtest.files.join import STRICT, Joining, combine, require_equal
from sigtest.files.material import AS_WHAT, WHICH, Material, examples
from sigtest.files.registry import FORMATS_READ, FORMATS_REFUSED, Reader, format_of, read_file
from sigtest.files.tree import ZIP, Bounds, Meter, Tree, folder_of, opened

SYSTEMS = "systems"
REFERENCE = "reference"
COLUMNS = {"documents": ("documents", "docids"), "labels": ("labels",), "sources": ("source",)}


def _with_systems(tree: Tree) -> set[PurePosixPath]:
    folders = {folder for path in tree.paths for folder in (path.parent, path.parent.parent)}
    return {folder.parent for folder in folders if folder.name == SYSTEMS}


def _with_references(tree: Tree) -> set[PurePosixPath]:
    return {path.parent for path in tree.paths if path.name.startswith(REFERENCE)}


def read_folder(tree: Tree, testset: str | None = None) -> Material:
    """Find the layout among files, in their root or in one folder of any depth.

    Args:
        tree: All files.
        testset: Which folder to take, where several have the layout.

    Raises:
        InputError: No layout, several, a file that cannot be read, or two documents files.
    """
    root = _root(tree, testset)
    here = tree.under(root)
    references = [read_file(tree.file(p)) for p in here if p.name.startswith(REFERENCE)]
    parts = [part.alone(references=part.as_references()) for part in references]
    columns: dict[str, Any] = {}
    for kind, names in COLUMNS.items():
        paths = [path for path in here if path.name.startswith(names)]
        if len(paths) > 1 and kind != "sources":
            raise InputError(f"{tree.name} has {paths[0].name} and {paths[1].name}; one is enough.")
        if len(paths) == 1:
            file, of_text = tree.file(paths[0]), kind == "sources"
            columns[kind] = read_file(file).as_source() if of_text else tree.lines(paths[0])
            require_equal([parts[0], Material(texts=(columns[kind],), name=file.name)])
    parts[0] = replace(parts[0], **columns)
    files: dict[str, PurePosixPath] = {}
    for path in tree.below(root / SYSTEMS):
        alone = path.parent == root / SYSTEMS
        name = system_name(path.name) if alone else path.parent.name
        if (other := files.setdefault(name, path)) != path and alone:
            raise InputError(
                f"{tree.name} has two systems {name[:200]!r}, {other} and {path}; rename one."
            )
        part = read_file(tree.file(path))
        parts.append(part.alone(systems=((name, (part.only_text("an output"),)),)))
    material = replace(combine(parts, Joining(runs=True)), name=tree.name)
    if testset is None or testset not in (str(root), root.name):
        return material
    return replace(material, testsets=(testset,) * len(material))


def _root(tree: Tree, testset: str | None) -> PurePosixPath:
    """The one folder that has references and systems, the outermost of all, or the one named."""
    systems, references = _with_systems(tree), _with_references(tree)
    roots = sorted(systems & references)
    named = [root for root in roots if testset in (str(root), root.name)]
    if len(roots) == 1 or PurePosixPath() in roots:
        return roots[0]
    if len(named) == 1:
        return named[0]
    if roots:
        unknown = "" if testset is None else f"none of which is {testset[:80]!r}; "
        raise InputError(
            f"{tree.name} has {len(roots)} test sets ({examples(map(str, roots), 8)}); {unknown}"
            f"{WHICH}",
            field="select",
        )
    part = "no reference* beside systems" if systems else "no matching files"
    raise InputError(
        f"{tree.name} has {'no systems/*' if references else part}; expected reference* and "
        f"systems/*, or one WMT .xml. It has {examples(map(str, tree.paths))}, and plain text does "
        f"not say what it is: {'unpack it and ' if tree.packed else ''}give each file of its own, "
        f"{AS_WHAT}."
    )


OUTPUTS, HUMAN, METRICS = "system-outputs", "human-scores", "metric-scores"
LEVELS = {"sys": "system", "seg": "segment"}
SCORES = re.compile(r"(?P<label>.*)\.(?P<level>sys|seg)\.score")
BOUNDS = Bounds(files=10_000)  # three pairs of languages have a thousand and more
Files = Mapping[str, Mapping[str, PurePosixPath]]  # of scores, by name and level


@dataclass(frozen=True)
class EvalSet:
    """A directory, or an archive of one.

    Attributes:
        tree: Its files, perhaps among others.
        root: The folder that has `human-scores`, or `system-outputs`.
    """

    tree: Tree
    root: PurePosixPath = field(default_factory=PurePosixPath)

    @classmethod
    def of_folder(cls, folder: Path) -> EvalSet:
        """The files of a directory."""
        return cls(folder_of(folder, Meter(str(folder), BOUNDS)))

    @classmethod
    def of_archive(cls, data: bytes, name: str) -> EvalSet:
        """The files of a zip, tar or tar.gz.

        Raises:
            InputError: No archive, a damaged one, or one without human scores.
        """
        tree = opened(data, Meter(name, BOUNDS).of_part(name, len(data)))
        if not isinstance(tree, Tree):
            raise InputError(f"{name} is no zip, tar or tar.gz file.")
        roots = {path.parent.parent for path in tree.paths if path.parent.name == HUMAN}
        if not roots:
            raise InputError(
                f"{name} has no folder {HUMAN}; an EvalSet holds {HUMAN} and {METRICS}/LP."
            )
        return cls(tree, min(roots))

    @classmethod
    def of_outputs(cls, tree: Tree) -> EvalSet | None:
        """The folder that has `system-outputs/PAIR/*.txt` and something beside it, if one has."""
        folders = {path.parent.parent for path in tree.paths if path.suffix == ".txt"}
        roots = [folder.parent for folder in folders if folder.name == OUTPUTS]
        return cls(tree, min(roots)) if roots else None

    def material(self, pair: str | None) -> Material:
        """Texts and scores of segments of one pair of languages.

        Args:
            pair: Which; may be left out where there is one.

        Raises:
            InputError: Several pairs or not this one, scores of systems unequally long.
            LengthError: A text with another number of lines than the others.
        """
        tree, root = self.tree, self.root
        pairs = sorted({path.parent.name for path in tree.below(root / OUTPUTS)})
        pair = pairs[0] if pair is None and len(pairs) == 1 else pair
        if pair not in pairs or pair is None:
            unknown = "" if pair is None else f"{pair[:40]!a} is none of them; "
            raise InputError(
                f"{tree.name} is an EvalSet with {len(pairs)} pairs of languages "
                f"({', '.join(pairs)}); {unknown}{WHICH}",
                field="select",
            )
        references = self._references(pair)
        outputs = {path.stem: path for path in tree.under(root / OUTPUTS / pair)}
        human = sorted({*outputs} & {*references})
        parts = [
            Material(references=(tree.lines(path),), name=tree.named(path))
            for path in references.values()
        ]
        parts += [
            Material(systems=((name, (tree.lines(path),)),), name=tree.named(path))
            for name, path in outputs.items()
            if name not in references
        ]
        for path in (p for folder in (HUMAN, METRICS) for p in tree.below(root / folder)):
            of_pair = path.parent.name == pair or path.name.startswith(f"{pair}.")
            if of_pair and path.name.endswith(".seg.score"):
                part = programs.read_seg_scores(tree.file(path))
                scores = [s for s in part.scores if s.system in {*outputs} - {*references}]
                parts.append(replace(part, scores=tuple(scores)))
        if (path := root / "sources" / f"{pair}.txt") in tree.paths:
            parts.append(Material(sources=tree.lines(path), name=tree.named(path)))
        if (path := root / "documents" / f"{pair}.docs") in tree.paths:
            cells = [line.split("\t") for line in tree.lines(path)]
            labels, documents = (tuple([row[i] for row in cells]) for i in (0, -1))
            parts.append(Material(documents=documents, labels=labels, name=tree.named(path)))
        material = replace(combine(parts), name=tree.name)
        if human:
            note = f"{tree.name}: references, not systems: {', '.join(human)}."
            material = replace(material, notes=(*material.notes, note))
        return replace(material, testsets=(pair,) * len(material))

    def _references(self, pair: str) -> dict[str, PurePosixPath]:
        """Reference sets by name: `PAIR.refA.txt`."""
        paths = self.tree.under(self.root / "references")
        return {p.stem.removeprefix(f"{pair}."): p for p in paths if p.match(f"{pair}.*.txt")}

    def scores_in(self, *names: str) -> Files:
        """Files of scores in a folder by name, then level; names sorted.

        Raises:
            InputError: It has none.
        """
        folder = self.root.joinpath(*names)
        paths = self.tree.under(folder)
        files: defaultdict[str, dict[str, PurePosixPath]] = defaultdict(dict)
        for path in paths:
            if (match := SCORES.fullmatch(path.name)) is not None:
                files[match["label"]][LEVELS[match["level"]]] = path
        if not files:
            why = f"is missing; an EvalSet holds {HUMAN} and {METRICS}/LP."
            if paths:
                why = "has no files NAME.sys.score or NAME.seg.score."
            raise InputError(f"{self.tree.named(folder)} {why}", field="evalset")
        return {label: files[label] for label in sorted(files)}

    def standard_reference(self, lp: str, labels: Sequence[str]) -> str | None:
        """The reference that most metric files name; the first by name where several do."""
        names = self._references(lp)
        counts = Counter(label.rpartition("-")[2] for label in labels)
        return min((n for n in counts if n in names), key=lambda n: (-counts[n], n), default=None)

    def read(self, files: Mapping[str, PurePosixPath]) -> dict[str, Any]:
        """Scores by level, then system."""
        levels: dict[str, Any] = {}
        for level, path in files.items():
            scores: dict[str, Any] = {**programs.scores_of_systems(self.tree.file(path))}
            for system, values in scores.items() if level == "system" else ():
                if len(values) > 1:
                    raise InputError(
                        f"{self.tree.named(path)}: system {system!r} has {len(values)} scores, not "
                        "one."
                    )
                scores[system] = values[0]
            levels[level] = scores
        return levels

    def request(self, lp: str, gold: str, metrics: Sequence[str] | None = None) -> dict[str, Any]:
        """The request of human and metric scores.

        The reference that most metric files name is the standard one. It is left out for every
        metric, also for those without a reference, since a metric would hold it against itself;
        other human translations stay, as systems.

        Args:
            lp: Pair of languages (`he-en`).
            gold: Name of the human scores (`mqm`).
            metrics: Names of metric files without level (`BLEU-refB`); all of them where none.

        Raises:
            InputError: A folder or file is missing or malformed.
            RecipeError: An unknown metric, gold or pair of languages.
        """
        golds: dict[str, dict[str, Mapping[str, PurePosixPath]]] = {}
        for label, levels in self.scores_in(HUMAN).items():
            pair, _, name = label.partition(".")
            golds.setdefault(pair, {})[name] = levels
        choose(lp, sorted(golds), "lp", "pair of languages")
        choose(gold, sorted(golds[lp]), "gold", "name of human scores")
        files = self.scores_in(METRICS, lp)
        labels = [choose(name, files, "metrics", "metric") for name in metrics or ()]
        labels = [*files] if metrics is None else labels
        standard = self.standard_reference(lp, [*files])
        request: dict[str, Any] = {
            "human": {"scores": self.read(golds[lp][gold])},
            "metrics": {label: self.read(files[label]) for label in labels},
        }
        tables = [request["human"]["scores"], *request["metrics"].values()]
        if f"BLEU-{standard}" in labels and standard:
            request["baseline"] = f"BLEU-{standard}"
        if standard and any(standard in table for levels in tables for table in levels.values()):
            request["exclude_systems"] = [standard]
        return request

    def requests(
        self, lps: Sequence[str], gold: str, metrics: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """The request of several pairs of languages, whose metrics have the same labels.

        Metrics are those without a reference and those with the standard one of each pair of
        languages, and are called by their name alone (`BLEU` for `BLEU-refB`).

        Args:
            lps: Pairs of languages.
            gold: Name of the human scores.
            metrics: Names of metrics (`BLEU`); all of them where none.

        Raises:
            InputError: A folder or file is missing or malformed.
            RecipeError: An unknown metric, gold or pair of languages.
        """
        sets: dict[str, Any] = {}
        for lp in lps:
            files = self.scores_in(METRICS, lp)
            parts = {label: label.rpartition("-") for label in files}
            last = {self.standard_reference(lp, [*files]), "src"}
            names = {
                name: label for label, (name, _, reference) in parts.items() if reference in last
            }
            wanted = [*names] if metrics is None else metrics
            labels = [names[choose(name, names, "metrics", "metric")] for name in wanted]
            body = self.request(lp, gold, labels)
            body.pop("baseline", None)
            scores = body["metrics"].values()
            sets[lp] = {**body, "metrics": dict(zip(wanted, scores, strict=True))}
        return {"sets": sets}


OFFICE = {
    "word/document.xml": "a Word document",
    "META-INF/manifest.xml": "an OpenDocument file",
    "Index/Document.iwa": "a document of Numbers, Pages or Keynote",
}  # fmt: skip
SUFFIXES = {suffix for reader in FORMATS_READ.values() for suffix in reader.suffixes}
WORKBOOK = PurePosixPath("xl/workbook.xml")
ROOT = (  # of the relations in it: where a workbook begins
    '<Relationships><Relationship Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    f'relationships/officeDocument" Target="{WORKBOOK}"/></Relationships>'
)
PACKED = ("inspect", "workbook")  # archives that are one file to those who have them
TEXTS = ("text", "text-columns", "numbers")  # whose files say neither what nor whose they are


def read_tree(tree: Tree, how: Joining = STRICT) -> Material:
    """What a folder or archive brings.

    Args:
        tree: Its files.
        how: Which test set to read, and what to do where files do not match.

    Raises:
        InputError: Nothing that can be used; files that do not belong together.
    """
    if not tree.paths:
        raise InputError(f"{tree.name} is a folder or archive without any file.", field=tree.name)
    known = format_of_tree(tree)
    return replace(known.read(tree, how), format=known.title)


def format_of_tree(tree: Tree) -> Reader[Tree, Material]:
    """The format of a folder or archive."""
    return next(reader for reader in TREES_READ.values() if reader.sniff(tree))


def _read_workbook(tree: Tree, how: Joining) -> Material:
    """Packed again, so that nothing is unpacked that was not counted."""
    parts, data = {str(path): tree.read(path) for path in tree.paths}, io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("_rels/.rels", ROOT)  # which is hidden by its name
        for name, part in parts.items():
            archive.writestr(name, part)
    return read_workbook(data.getvalue(), parts.values(), tree.name, how.columns)


def _read_collection(tree: Tree, how: Joining) -> Material:
    """All files that say what they are, joined; the others are passed over, which a note says."""
    for name, title in OFFICE.items():
        if PurePosixPath(name) in tree.paths:
            raise InputError(
                f"{tree.name} is not read: it is {title}; save it as CSV (UTF-8) or plain text."
            )
    results = FORMATS_REFUSED["lm-eval-results"]  # which are read beside their samples
    parts: list[Material] = []
    passed: list[str] = []
    refusals: list[InputError] = []
    for path in tree.paths:
        file = tree.file(path)
        file.columns = how.columns
        reader = _reader_of(file, tree, how)
        if callable(reader):
            parts.append(reader())
        elif not results.sniff(file):
            passed.append(str(path))
        if isinstance(reader, InputError):
            refusals.append(reader)
    if not parts and refusals:
        raise refusals[0]
    if not parts:
        return read_folder(tree)  # which says what is missing
    note = (f"{tree.name}: files passed over: {examples(passed, 8)}.",) if passed else ()
    joined = combine(parts, how)
    return replace(joined, name=tree.name, notes=(*joined.notes, *note))


def _reader_of(file: File, tree: Tree, how: Joining) -> Callable[[], Material] | InputError | None:
    """What reads a file; why it is not read; or nothing where it does not say what it is."""
    if not file.data.strip() and PurePosixPath(file.path).suffix in SUFFIXES:
        raise InputError(f"{file.name} is empty.")
    if file.data.startswith(ZIP):
        from sigtest.files.archives import open_zip  # late: most files are no archives

        nested = open_zip(file.data, tree.meter.of_part(file.name))
        whole = format_of_tree(nested)
        return (lambda: whole.read(nested, how)) if whole.name in PACKED else None
    try:
        known = format_of(file)
    except InputError as error:
        return error
    return None if known.name in TEXTS else (lambda: known.read(file))


# fmt: off
_TREES: tuple[Reader[Tree, Material], ...] = (
    Reader("shared-task", "the layout of a shared task",
           lambda tree: bool(_with_systems(tree) & _with_references(tree)),
           lambda tree, how: read_folder(tree, how.testset)),
    Reader("evalset", "an EvalSet tree of mt-metrics-eval",
           lambda tree: EvalSet.of_outputs(tree) is not None,
           lambda tree, how: (EvalSet.of_outputs(tree) or EvalSet(tree)).material(how.testset)),
    Reader("inspect", "a log of Inspect AI (.eval)",
           programs.is_packed_log, lambda tree, _: programs.read_packed_log(tree)),
    Reader("workbook", "an Excel workbook (.xlsx)", lambda tree: WORKBOOK in tree.paths,
           _read_workbook),
    Reader("collection", "files of the formats above, joined by their ids", lambda tree: True,
           _read_collection, general=True),
)
# fmt: on

TREES_READ = {reader.name: reader for reader in _TREES}
