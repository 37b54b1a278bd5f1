"""What a kind of question is.

A kind says how a request becomes a question, and a question a report. Everything else is written
once for all kinds: submission, ids, queueing, progress, waiting, events, listing, formats,
pictures, deletion, the command line's `--server` and the client.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from sigtest.cached import cached_property
from sigtest.errors import RecipeError
from sigtest.progress import Progress
from sigtest.render.formats import Layout, Presented, verbatim
from sigtest.render.model import Document, Sheet
from sigtest.report import counted, decode, digest, encode, names_in, renamed_in
from sigtest.requests.model import Option, Request
from sigtest.version import __version__

if TYPE_CHECKING:  # what comparisons alone need
    from sigtest.comparison.comparison import Comparison
    from sigtest.render.pictures import Picture

# requests that work as they stand, by path of their kind
EXAMPLES = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class About:
    """What a listing tells of a question.

    Attributes:
        systems: Names of what is compared.
        metrics: Labels of the metrics, or of what else is measured.
        tests: Names of the significance tests.
        testsets: Names of the test sets, where there are several.
    """

    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    testsets: tuple[str, ...] = ()


@dataclass(frozen=True)
class FormFile:
    """A file of a form.

    Attributes:
        part: Which part of the form it is.
        name: What its sender calls it.
        data: Its bytes, decompressed.
    """

    part: str
    name: str
    data: bytes


class Question(Protocol):
    """A question, checked completely."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Hash of everything the report is a function of: content, choices and versions."""

    @property
    @abstractmethod
    def about(self) -> About:
        """What a listing tells of it."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """About how long one core computes it."""

    def contents(self) -> Mapping[str, Any]:
        """Its data, as JSON values by name: what `outline` does not have."""

    def outline(self) -> Mapping[str, Any]:
        """What workers must know without reading the contents, as a JSON object."""


@dataclass(frozen=True)
class Finished:
    """A question that has been answered, where a request named it.

    Attributes:
        question: The question.
        report: Its report as JSON.
    """

    question: Question
    report: Mapping[str, Any]


@dataclass(frozen=True)
class QuestionReference:
    """A place in requests where the id of a question may stand.

    Attributes:
        place: Fields on the way to it; `*` is any.
        kind: Path of the kind of that question.
        take: What of the question `parse` gets in the place of the id; all of it by default.
    """

    place: tuple[str, ...]
    kind: str
    take: Callable[[Finished], object] = lambda finished: finished

    def ids(self, request: object) -> dict[str, object]:
        """What stands there, by its place in the request: ids, or what is none."""
        return {
            ".".join(way): value
            for way, value in _standing(request, self.place)
            if value is not None and not isinstance(value, Mapping)
        }

    def replace(self, request: object, answers: Mapping[str, object]) -> Any:
        """The request with something else in these places."""
        for way, value in [*_standing(request, self.place)]:
            request = _with(request, way, answers.get(".".join(way), value))
        return request


Way = tuple[str, ...]


def _standing(value: object, place: Sequence[str], way: Way = ()) -> Iterator[tuple[Way, object]]:
    if not place:
        yield way, value
    elif isinstance(value, Mapping):
        for name in value:
            if place[0] in ("*", name):
                yield from _standing(value[name], place[1:], (*way, name))


def _with(value: Any, way: Way, answer: object) -> object:
    return {**value, way[0]: _with(value[way[0]], way[1:], answer)} if way else answer


Q = TypeVar("Q", bound=Question)


class Kind(ABC, Generic[Q]):
    """One kind of question.

    Attributes:
        name: What a single one is called.
        path: What all are called, in paths of the service and in the registry.
        summary: What is asked, in one sentence.
        reports: The dataclasses that a report may be, which its JSON schema is read off.
        request: The model of a request; what it does not know is read elsewhere.
        examples: Requests that work as they stand, as OpenAPI has them.
        parts: Parts of a form that bring files, and what these are; no forms where there are none.
        reading: Fields of a request that say what to read of those files, where some do.
        command: What the shell calls it, if it has a command of its own.
        fields: What a request says besides what it brings; the shell's options.
        inside: The same of objects in a request, by the field that they stand in.
        compares: Field of a request that is a request for a comparison, whose texts may come as
            files of a form, where there is such a field.
        reads: How files of that comparison are read where the request does not say.
        named: Where a request may name finished questions.
        pictures: By name; what each shows, and whether it needs the distribution of a pair.
        tables: Tables of a report that may be shown alone.
        naming: Fields of a report, and of what it is made of, that hold names which a reader may
            have shown otherwise.
        decides: Whether a report can be decided anew, with another alpha or correction.
    """

    name: ClassVar[str]
    path: ClassVar[str]
    summary: ClassVar[str]
    reports: ClassVar[tuple[type, ...]]
    request: ClassVar[type[Request]] = Request
    examples: ClassVar[Mapping[str, Any]] = {}
    parts: ClassVar[Mapping[str, str]] = {}
    reading: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = ""
    fields: ClassVar[tuple[Option, ...]] = ()
    inside: ClassVar[Mapping[str, tuple[Option, ...]]] = {}
    compares: ClassVar[str] = ""
    reads: ClassVar[Mapping[str, str]] = {}
    named: ClassVar[tuple[QuestionReference, ...]] = ()
    pictures: ClassVar[Mapping[str, Picture]] = {}
    tables: ClassVar[tuple[str, ...]] = ()
    naming: ClassVar[tuple[str, ...]] = ()
    decides: ClassVar[bool] = False

    @abstractmethod
    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> Q:
        """The question that a JSON request and the files of a form ask.

        Raises:
            SigtestError: The request cannot be used; says what, where, and what would be right.
        """

    def recognised(self, question: Q) -> tuple[str, ...]:
        """What was read in what was brought, in sentences, to be looked at before it runs."""
        about = question.about
        named = (("system", about.systems), ("metric", about.metrics), ("test set", about.testsets))
        return tuple(
            f"{counted(len(names), what)}: {', '.join(names)}." for what, names in named if names
        )

    def comparison(self, question: Q) -> Comparison | None:
        """The comparison that a question has to make, whose size is limited."""
        return None

    @abstractmethod
    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> Q:
        """The question that was stored; it is not checked again."""

    @abstractmethod
    def compute(self, question: Q, progress: Progress | None = None) -> Any:
        """The report, a function of the question and the version alone."""

    @abstractmethod
    def read(self, body: Mapping[str, Any]) -> Any:
        """The report that `as_json` wrote."""

    @abstractmethod
    def present(self, report: Any) -> Presented:
        """A report for any format."""

    def check_chosen(self, name: str, chosen: Mapping[str, str]) -> None:
        """Check whether a picture takes all that its reader chooses.

        Raises:
            RecipeError: It would show the same whatever is chosen there.
        """
        takes = self.pictures[name].takes
        for part in chosen:
            if part not in takes:
                known = ", ".join(takes) or "no choice"
                raise RecipeError(
                    f"The picture {name!r} of a {self.name} takes no {part}; it takes {known}.",
                    field=part,
                )

    def lay_out(self, report: Any, layout: Layout) -> Presented:
        """A report for any format, laid out as its reader wants it.

        Raises:
            RecipeError: No such table or name.
        """
        names = layout.new_names(dict.fromkeys(names_in(report, self.naming)))
        presented = self.present(renamed_in(report, self.naming, names))
        document = replace(
            layout.arranged(presented.document(), self.tables),
            verbatim=verbatim([layout.bare_caption, *names.values()]),
        )
        return replace(self.present(report), document=lambda: document, table=layout.table)

    def decided(self, report: Any, alpha: float | None, correction: str | None) -> Any:
        """A report with another alpha or correction; the same where neither is another.

        Raises:
            RecipeError: An unknown one, or reports of this kind are decided once.
        """
        if alpha is not None or correction is not None:
            raise RecipeError(
                f"The report of a {self.name} is decided once.",
                field="correction" if alpha is None else "alpha",
            )
        return report

    def drawable(self, report: Any) -> tuple[str, ...]:
        """Names of the pictures that can be drawn of a report without anything else."""
        return tuple(
            name
            for name, picture in self.pictures.items()
            if picture.needs == "report" and picture.fits(report)
        )


class WholeQuestion(Question):
    """A question that one task computes whole: a frozen dataclass, stored as it is encoded.

    Attributes:
        noun: What its key begins with.
    """

    noun: ClassVar[str]

    @property
    def compared(self) -> dict[str, Comparison]:
        """The comparisons that it has to make, by field."""
        return {name: own for name, own in vars(self).items() if hasattr(own, "plan")}

    @cached_property
    def key(self) -> str:
        """Hash of everything that the report is a function of; of a comparison, its plan."""
        plans = {name: own.plan.key for name, own in self.compared.items()}
        return digest([self.noun, __version__, {**encode(self), **plans}])

    def contents(self) -> Mapping[str, Any]:
        """All of it, under one name."""
        return {"asked": encode(self)}

    def outline(self) -> Mapping[str, Any]:
        """Nothing: workers read the contents."""
        return {}


W = TypeVar("W", bound=WholeQuestion)


class WholeKind(Kind[W]):
    """A kind of such questions.

    Attributes:
        content: Class of its questions.
        question: Makes one, from a request and the name and bytes of each file.
        sheets: Records of a report, by the table that they go with.
    """

    content: ClassVar[type[Any]]
    question: ClassVar[Callable[..., Any]]
    sheets: ClassVar[Mapping[str, Callable[[Any], Sheet]]]

    def parse(self, request: Mapping[str, Any], files: Sequence[FormFile] = ()) -> W:
        question: W = self.question(request, [(file.name, file.data) for file in files])
        return question

    def comparison(self, question: W) -> Comparison | None:
        return next(iter(question.compared.values()), None)

    def load(self, outline: Mapping[str, Any], contents: Mapping[str, Any]) -> W:
        question: W = decode(self.content, contents["asked"])
        return question

    def read(self, body: Mapping[str, Any]) -> Any:
        return decode(self.reports[0], body)

    @abstractmethod
    def document(self, report: Any) -> Document:
        """A report as people read it, but for what reports of all kinds say."""

    def present(self, report: Any) -> Presented:
        sheets = {name: partial(made, report) for name, made in self.sheets.items()}
        return Presented(partial(encode, report), partial(self._whole, report), sheets)

    def _whole(self, report: Any) -> Document:
        return replace(
            self.document(report),
            warnings=tuple(map(str, report.warnings)),
            signature=report.signature,
            methods=report.methods,
        )
