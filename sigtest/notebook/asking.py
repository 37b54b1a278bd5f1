"""Comparisons asked from Python: `compare` on a test set, `suite` on several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, TypedDict, Unpack

from sigtest import engine
from sigtest.comparison.parse import parse_comparison
from sigtest.data.choices import choose
from sigtest.errors import InputError, RecipeError
from sigtest.gates import GateReport, check_choices
from sigtest.gates import gate as decided
from sigtest.kinds.comparisons import ComparisonReport
from sigtest.notebook.content import Imports, request_of
from sigtest.notebook.frames import is_frame
from sigtest.progress import Progress

PARTS = ("references", "systems", "scores", "documents", "labels", "source")
FILES = ("from_", "select")


class Frame(Protocol):
    """A data frame, of pandas, polars or anything like them."""

    @property
    def columns(self) -> Any:
        """Names of its columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """One of its columns."""


Lines = Iterable[str | None] | os.PathLike[str]
Path = str | os.PathLike[str]


class RecipeOptions(TypedDict, total=False):
    """The recipe, by the names that the JSON request has (see `Recipe.of`)."""

    metrics: Sequence[str | Mapping[str, object]]
    tests: Sequence[str]
    alternative: str
    resamples: int | str
    seed: int
    alpha: float
    correction: str
    family: int | str
    pairs: str | Mapping[str, str]
    exact: str
    unit: str
    stratified: bool
    interval: str


def compare(
    references: Lines | Iterable[Lines] | Frame | None = None,
    systems: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Frame = MappingProxyType({}),
    *,
    scores: Mapping[str, Any] | Frame | None = None,
    documents: Lines | None = None,
    labels: Lines | None = None,
    source: Lines | None = None,
    from_: object = (),
    missing: str = "error",
    select: str | None = None,
    progress: Progress | None = None,
    **choices: Unpack[RecipeOptions],
) -> ComparisonReport:
    """Compare systems on a test set, in this process.

    For every metric and pair of systems the report says whether the difference could be chance:
    approximate randomization exchanges the outputs of two systems segment by segment and counts
    how often they then differ at least as much (Riezler & Maxwell 2005, section 3.2; Graham,
    Mathur & Baldwin 2014, Figure 2). p-values are corrected for the number of pairs; intervals come
    from resampled test sets.

        >>> import sigtest
        >>> report = sigtest.compare(
        ...     references=["the cat sat on the mat", "it is raining", "we go home now"],
        ...     systems={
        ...         "new": ["the cat sat on the mat", "it rains", "we go home now"],
        ...         "old": ["a cat was on a mat", "it is raining", "we are home now"],
        ...     },
        ...     metrics=["chrf", {"name": "ter", "normalized": True}],
        ... )
        >>> pair = report.pairs[0]
        >>> pair.a, pair.b, round(pair.difference, 2), pair.p_value, pair.exact
        ('new', 'old', 31.3, 0.75, True)

    Args:
        references: One reference a segment, or several reference sets of that kind; None is a
            missing reference. Nothing where only `scores` are compared.
        systems: By name of the system, its hypotheses, one a segment; or the outputs of several
            training runs, a list of such lists; or an object of `hypotheses`, `replicas` and
            `scores`. A list of such objects, each with its `name`, means the same, and so does a
            data frame with a column for each system.
        scores: Numbers computed elsewhere, by name of the system and label, a number a segment, or
            a tuple; a single label may be left out. Or data frames with a column for each system,
            by label, or one of them. Metrics `scores`, `ratio` and `fscore` use them.
        documents: Name of each segment's document.
        labels: Label of each segment, such as its domain.
        source: Source of each segment, for health checks of outputs.
        from_: Paths of files, folders or archives of any format in docs/FORMATS.md, which say
            themselves what they bring: `sigtest.compare(from_=["a.jsonl", "b.jsonl"])`; or data
            frames of pandas or polars with such columns as tables have.
        missing: About segments that not all files have: `error`, or `drop` them and say so.
        select: One of the test sets in the files, where there are several.
        progress: Called with phase, done and total.
        **choices: `metrics` (by default BLEU where there are texts, and every label of `scores`),
            `tests`, `alternative`, `resamples`, `seed`, `alpha`, `correction`, `family`, `pairs`
            ("all" or {"baseline": name}), `exact`, `unit`, `stratified`, `interval`; see
            docs/GUIDE.md.

    A column of lines may be any sequence, series, array or iterator, or a `pathlib.Path` to a file
    of any format that the command line reads.

    Returns:
        The report; `print(report)` shows it, and a notebook shows it as tables and pictures.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    imports = Imports(from_, missing, select, choices.get("metrics"))
    body = request_of(references, systems, scores, documents, labels, source, imports)
    return _computed({**body, **made(choices)}, progress)


def gate(
    references: Lines | Iterable[Lines] | Frame | None = None,
    systems: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Frame = MappingProxyType({}),
    *,
    baseline: str,
    margin: float | None = None,
    claim: str = "not_worse",
    scores: Mapping[str, Any] | Frame | None = None,
    documents: Lines | None = None,
    labels: Lines | None = None,
    source: Lines | None = None,
    from_: object = (),
    missing: str = "error",
    select: str | None = None,
    progress: Progress | None = None,
    **choices: Unpack[RecipeOptions],
) -> GateReport:
    """Decide which systems may take the place of a baseline, in this process.

        >>> import sigtest
        >>> old, new = [0.1 * (i % 7) for i in range(60)], [0.1 * (i % 5) for i in range(60)]
        >>> report = sigtest.gate(
        ...     scores={"old": old, "new": new}, baseline="old", margin=0.3, resamples=999
        ... )
        >>> report.outcome, report.systems[0].system
        ('pass', 'new')

    Args:
        references: As for `compare`.
        systems: As for `compare`.
        baseline: Name of the system that the others are held against.
        margin: How much worse a system may be, in units of the metric; none for `same`.
        claim: What lets a system pass: `not_worse` by the margin, `equivalent` within it, or, for
            runs of one system, `same`: no significant difference.
        scores: As for `compare`.
        documents: As for `compare`.
        labels: As for `compare`.
        source: As for `compare`.
        from_: As for `compare`.
        missing: As for `compare`.
        select: As for `compare`.
        progress: Called with phase, done and total.
        **choices: As for `compare`; one metric, and neither tests, interval nor alternative.

    Returns:
        The report: `outcome` is `pass`, `fail` or `undecided`, and `systems` has that of each.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    check_choices(choices)
    if "pairs" in choices:
        raise RecipeError("A gate compares all with the baseline; leave out pairs.", field="pairs")
    imports = Imports(from_, missing, select, choices.get("metrics"))
    body = request_of(references, systems, scores, documents, labels, source, imports)
    recipe = {**made(choices), "pairs": {"baseline": baseline}}
    return decided(parse_comparison({**body, **recipe}), margin, claim, progress)


def suite(
    testsets: Mapping[str, Mapping[str, Any] | Path | Frame],
    *,
    pooled: bool = False,
    missing: str = "error",
    progress: Progress | None = None,
    **choices: Unpack[RecipeOptions],
) -> ComparisonReport:
    """Compare systems on several test sets, one by one and together, in this process.

        >>> import sigtest
        >>> report = sigtest.suite(
        ...     {
        ...         "news": {
        ...             "references": ["the cat sat on the mat", "it is raining"],
        ...             "systems": {
        ...                 "new": ["the cat sat on the mat", "it rains"],
        ...                 "old": ["a cat was on a mat", "it is raining"],
        ...             },
        ...         },
        ...         "talks": {
        ...             "references": ["we go home now", "so I said go"],
        ...             "systems": {
        ...                 "new": ["we go home now", "I said go"],
        ...                 "old": ["we are home now", "so I told them to go"],
        ...             },
        ...         },
        ...     },
        ...     metrics=["chrf"],
        ...     resamples=999,
        ... )
        >>> [entry.name for entry in report.several.testsets], len(report.pairs)
        (['news', 'talks'], 1)

    Args:
        testsets: By name, what `compare` takes of each: `references`, `systems`, `scores`,
            `documents`, `labels`, `source`, `from_`, `select`; or what `from_` has alone, such as
            a folder. The same systems on every one.
        pooled: Whether all together are one test set; their scores are averaged otherwise.
        missing: As for `compare`.
        progress: Called with phase, done and total.
        **choices: As for `compare`.

    Returns:
        The report, whose systems and pairs are those of all test sets together.

    Raises:
        SigtestError: Texts or choices that cannot be used.
    """
    if not isinstance(testsets, Mapping):
        raise InputError(
            f"testsets must be an object of test sets by name, not {type(testsets).__name__}.",
            field="testsets",
        )
    how = Imports(missing=missing, metrics=choices.get("metrics"))
    bodies = {name: _testset(name, body, how) for name, body in testsets.items()}
    inferred = [body.pop("metrics", None) for body in bodies.values()]
    recipe = {**made({"metrics": next(iter(inferred), None)}), **made(choices)}
    return _computed({"testsets": bodies, "pooled": pooled, **recipe}, progress)


def _testset(name: str, body: object, how: Imports) -> dict[str, Any]:
    """One of several test sets.

    Raises:
        SigtestError: What `request_of` refuses, or a field that it does not know.
    """
    if isinstance(body, str | os.PathLike) or is_frame(body):
        body = {"from_": body}
    if not isinstance(body, Mapping):
        raise InputError(
            f"The test set {name!r} must be an object with references and systems.",
            field="testsets",
        )
    for field in body:
        choose(field, PARTS + FILES, f"testsets[{name!r}].{field}", "field of a test set")
    given: dict[str, Any] = {part: body.get(part) for part in PARTS}
    imports = replace(how, paths=body.get("from_", ()), select=body.get("select"))
    return request_of(**given, imports=imports)


def made(choices: Mapping[str, Any]) -> dict[str, Any]:
    """The choices that are made, with arrays and numbers of NumPy as JSON has them."""
    return {
        name: value.tolist() if hasattr(value, "tolist") else value
        for name, value in choices.items()
        if value is not None
    }


def _computed(request: Mapping[str, Any], progress: Progress | None) -> ComparisonReport:
    return ComparisonReport(**vars(engine.compare(parse_comparison(request), progress)))
