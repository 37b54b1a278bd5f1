"""A human evaluation as a question: judgements and choices that fit each other."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, PlainSerializer, PlainValidator

from sigtest.cached import cached_property
from sigtest.data.names import choose, is_error, system_name
from sigtest.data.text import check_list, in_digits
from sigtest.errors import InputError, LimitError, RecipeError, inside
from sigtest.files.file import first_twice
from sigtest.files.formats.preferences import compared_rows, compares
from sigtest.files.judgements import JudgedFile, judged_rows
from sigtest.files.material import examples
from sigtest.files.registry import FORMATS_JUDGED, MAX_ROWS, read_judgements
from sigtest.kinds.base import About, WholeQuestion
from sigtest.people.bradley_terry import determined, parts
from sigtest.people.judgements import Comparisons, Judgements, Names, Rankings, collect
from sigtest.people.preferences import PREFERENCE, numbered, repeated
from sigtest.people.report import SourceReport
from sigtest.people.scores import Prepared, prepare
from sigtest.people.statistics import EXACT_FLIPS
from sigtest.report import ByClass, WarningReport, Warnings, counted
from sigtest.requests.people import COMBINED, COMPARING, SEVERITIES, TESTS, HumanRequest
from sigtest.version import __version__

MAX_SYSTEMS = 300
RESAMPLED = 100  # systems, up to which errors come from resamples by default
MAX_ANNOTATORS = 20_000
FIRST_CRITERIA = ("adequacy", "fluency")
PLURALS = {"languages": "language pairs", "criteria": "criteria"}
SCORES_ALONE = ("quality", "scale", "longitudinal", "lower", "standardise", "aggregate")
COMPARISONS_ALONE = ("ties", "unit", "errors", "undetermined", "win_rate")
MODELS = re.compile(r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|alpaca_eval|command-r")
MQM = "mqm"  # criterion of scores that are counted from errors
SECONDS = 5e-5  # for one judgement
PATTERN_SECONDS = 2e-8  # for one exchange of units of a pair, where all are counted
DRAW_SECONDS = 4e-9  # for one unit of a resample
PRODUCT_SECONDS = 5e-10  # for one unit of a resample and a pair
TESTED_SECONDS = 2.5e-4  # for one pair of systems, whatever the test: the signed ranks take most
STEP_SECONDS = 2e-10  # for the cube of the number of systems, in a resample
CELL_SECONDS = 5e-9  # for each two systems of a resample
COUNT_SECONDS = 3e-9  # for a comparison of a resample
PAIR_SECONDS = 4e-9  # for one pair of a resample


@dataclass(frozen=True)
class Source:
    """Where judgements came from.

    Attributes:
        input: Name of the format.
        rows: Rows in it.
        dropped: Rows left out on reading, by reason.
        sha256: Hash of its bytes, or of the rows of a request.
        scale: Lowest and highest score, where that is known.
    """

    input: str
    rows: int
    dropped: Mapping[str, int]
    sha256: str
    scale: tuple[float, float] | None = None

    def report(self, dropped: Mapping[str, int]) -> SourceReport:
        """What the report says of it, with the rows that were left out once it was read."""
        reasons = {**self.dropped, **dropped}
        used = self.rows - sum(reasons.values())
        return SourceReport(self.input, self.rows, used, reasons, self.sha256)


def _stored(said: Mapping[str, Any]) -> HumanRequest:
    """Choices; 0.2.0 compared rankings by a test of signs, without what comparisons decide."""
    if said.get("test") == "sign":
        said = {"correction": "none", **said, **COMPARING, "unit": "cluster"}
    return HumanRequest.of(said)


@dataclass(frozen=True)
class HumanQuestion(WholeQuestion):
    """Judgements and choices; everything that follows may trust them.

    Attributes:
        judgements: Those of the language pair and criteria that are chosen.
        sources: Of each file.
        choices: With languages, standardisation, criteria and test decided.
        notes: What the report should warn of.
    """

    noun = "human"

    judgements: Annotated[
        Judgements | Comparisons,
        ByClass({"Rankings": Annotated[Rankings, AfterValidator(Rankings.compared)]}),
    ]
    sources: tuple[Source, ...]
    choices: Annotated[HumanRequest, PlainValidator(_stored), PlainSerializer(HumanRequest.stored)]
    notes: Warnings = ()

    @property
    def about(self) -> About:
        """Systems, criteria and the test."""
        return About(self.systems, self.choices.criteria, (str(self.choices.test),))

    @property
    def seconds(self) -> float:
        """About how long one core computes it."""
        judged, systems, exact, each = self.judgements, len(self.systems), 0.0, 0.0
        pairs, units = systems * (systems - 1) // 2, len(judged.segment.names)
        if self.choices.errors == "bootstrap":  # of a resample: its table of wins, step, and units
            each = STEP_SECONDS * systems**3 + CELL_SECONDS * systems**2
            each += COUNT_SECONDS * len(judged)
        if self.choices.test == "approximate_randomization":
            exact = pairs * PATTERN_SECONDS * 2.0 ** min(units, EXACT_FLIPS)
            each = units * (DRAW_SECONDS + pairs * PRODUCT_SECONDS) + pairs * PAIR_SECONDS
        seconds = TESTED_SECONDS * pairs + exact + self.choices.resamples * each
        rows = sum(source.rows for source in self.sources)
        return 0.1 + SECONDS * rows + max(len(judged.criterion.names), 1) * seconds

    @cached_property
    def prepared(self) -> Prepared:
        """Scores of segments and what was left out on the way to them.

        Raises:
            InputError: A system or criterion has no judgement left, or a paired test no pairs.
        """
        assert isinstance(self.judgements, Judgements)
        return prepare(self.judgements, len(self.sources), self.choices)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in order of first appearance."""
        return self.judgements.system.names

    def stated(self, dropped: Sequence[Mapping[str, int]]) -> dict[str, Any]:
        """What the report repeats of the question; of each source with what was left out since."""
        names = ("languages", "criteria", "standardise", "test", "aggregate", "alpha",
                 "correction", "seed", "higher_is_better")  # fmt: skip
        chosen = {name: getattr(self.choices, name) for name in names}
        sources = tuple(map(Source.report, self.sources, dropped))
        return {"signature": self.signature, "version": __version__, "sources": sources, **chosen}

    @property
    def signature(self) -> str:
        """The line that reproduces the report: every choice that decides a number, by name."""
        c = self.choices
        parts: dict[str, object] = {
            "input": "+".join(dict.fromkeys(source.input for source in self.sources)),
            "languages": c.languages,
            "scale": f"{c.scale[0]:g}..{c.scale[1]:g}" if c.scale else None,
            "criteria": "+".join(c.criteria),
            "lower": "+".join(c.lower) or None,
            "standardise": c.standardise,
            "quality": c.quality.signature if c.quality else "none",
            "undecided": None if c.undecided == "none" else c.undecided,
            **{name: getattr(c, name) for name in ("test", *COMPARISONS_ALONE)},
            "aggregate": c.aggregate if c.unit is None else None,
            "alpha": f"{c.alpha:g}",
            "correction": c.correction,
            "aliases": "+".join(f"{old}={new}" for old, new in c.aliases.items()) or None,
            "domains": c.domains,
            "longitudinal": "+".join(four.signature for four in c.longitudinal.values()) or None,
            **{name: getattr(c, name) for name in ("categories", "resamples", "seed")},
        }
        chosen = [f"{name}:{value}" for name, value in parts.items() if value is not None]
        return "|".join(["human", *chosen, f"sigtest:{__version__}"])


def parse(request: Mapping[str, Any], files: Sequence[tuple[str, bytes]] = ()) -> HumanQuestion:
    """Check a request of the form of POST /v1/human-evaluations.

    Args:
        request: The JSON body.
        files: Name and bytes of each file of judgements; `judgements` is left out then.

    Raises:
        SigtestError: Judgements that cannot be used, or a choice that is unknown or does not fit.
    """
    wanted = HumanRequest.of(request)
    choices = wanted.but(judgements=None)
    if choices.input is not None:
        choose(choices.input, FORMATS_JUDGED, "input", "format of judgements")
    if files:
        if wanted.judgements is not None:
            raise InputError("judgements come as files or as rows, not both.", field="judgements")
        sources = [read_judgements(data, name, choices.input) for name, data in files]
        digests = [hashlib.sha256(data).hexdigest() for _, data in files]
        for i, sha256 in enumerate(digests):
            first = digests.index(sha256)
            if first < i:
                raise InputError(
                    f"{files[first][0]} and {files[i][0]} are the same; its judgements would count "
                    "twice. Give every file once.",
                    field="judgements",
                )
    else:
        sources, digests = _rows(wanted.judgements, choices)
    sorts = {table.compares for table in sources}
    if len(sorts) > 1:
        raise InputError("Comparisons and scores cannot be evaluated together.", field="judgements")
    return _of_files(sources, digests, choices)


def evaluation_in(
    human: Mapping[str, Any], files: Sequence[tuple[str, bytes]], path: str = ""
) -> HumanQuestion | None:
    """The human evaluation in the field `human` of another request.

    Args:
        human: The field: a request, or one that was parsed, as its `evaluation`.
        files: Name and bytes of each file of judgements.
        path: What stands before `human` in the names of fields.

    Returns:
        The question; nothing where the field says something else of people.

    Raises:
        SigtestError: Both of these, or what `parse` raises.
    """
    evaluation = human.get("evaluation")
    if isinstance(evaluation, HumanQuestion):
        if files or len(human) > 1:
            raise InputError(
                f"{path}human.evaluation has its judgements and choices; leave others out.",
                field=f"{path}human.evaluation",
            )
        return evaluation
    if "evaluation" in human:
        raise InputError(
            f"{path}human.evaluation is the id of a human evaluation, which only a service can "
            "look up; give judgements here, or what follows from them.",
            field=f"{path}human.evaluation",
        )
    if not files and "judgements" not in human:
        return None
    with inside(f"{path}human"):
        return parse(human, files)


def _rows(judgements: Any, choices: HumanRequest) -> tuple[list[JudgedFile], list[str]]:
    if judgements is None:
        raise InputError("judgements is missing: a list of judgements.", field="judgements")
    rows = check_list(judgements, "judgements")
    if not rows:
        raise InputError("judgements is empty.", field="judgements")
    compared = isinstance(rows[0], Mapping) and compares(rows[0])
    table = (compared_rows if compared else judged_rows)(rows, "judgements")
    if choices.input is not None:
        table.input = choices.input
    text = json.dumps(rows, sort_keys=True, separators=(",", ":"))
    return [table], [hashlib.sha256(text.encode()).hexdigest()]


def _of_files(
    files: Sequence[JudgedFile], digests: Sequence[str], choices: HumanRequest
) -> HumanQuestion:
    """What all files bring, of the language pair and the criteria that are chosen."""
    rows = sum(min(file.rows, len(file.line)) for file in files)
    _require_few(rows, MAX_ROWS, "judgements")
    comparisons, lower, notes = files[0].compares, frozenset[str](), list[WarningReport]()
    _require_sort(choices, comparisons)
    dropped = [{why: n for why, n in file.dropped.items() if n} for file in files]
    judged: Judgements | Comparisons
    if comparisons:
        judged = Comparisons.of(files, dropped)
        if not len(judged):
            why = f"{files[0].name} holds no comparison of two systems."
            raise InputError(why, field="judgements")
    else:
        notes += [note for table in files for note in _weighed(table, choices.undecided)]
        judged, lower = collect(files, choices.scale, dropped)
    languages = _only(judged.languages, choices.languages, "languages", "language pair")
    judged = judged.without(~judged.languages.among([languages]), "other language pair", dropped)
    criteria = _criteria(judged.criterion, choices, comparisons)
    judged = judged.without(~judged.criterion.among(criteria), "other criterion", dropped)
    system = judged.system
    system = Names(_renamed(system.names, choices.aliases), system.codes)
    judged = replace(judged, system=system)
    choices = choices.but(languages=languages, criteria=criteria)
    if isinstance(judged, Comparisons):
        _require_systems(judged.system.names, files[0].name)
        notes += _doubts_of_judges(judged)
        choices = _comparing(judged, choices)
    else:
        judged, choices = _scoring(judged, files, lower, choices)
        notes += _doubts(files, judged, choices)
    sources = tuple(
        Source(file.input, file.rows, reasons, sha256, choices.scale or file.scale)
        for file, reasons, sha256 in zip(files, dropped, digests, strict=True)
    )
    question = HumanQuestion(judged, sources, choices, tuple(notes))
    if not comparisons:  # refused is what leaves a system without judgements, a test without pairs
        _ = question.prepared
    return question


def _scoring(
    judgements: Judgements,
    tables: Sequence[JudgedFile],
    lower: Collection[str],
    choices: HumanRequest,
) -> tuple[Judgements, HumanRequest]:
    """Scores of which more is better, and what they decide of the choices."""
    criteria = choices.criteria
    lower = {*lower, *(choose(name, criteria, "lower", "criterion") for name in choices.lower)}
    if MQM in lower and any(table.named == MQM for table in tables):
        raise RecipeError(
            "mqm is counted from errors here, each as points below 0, and more is better; leave "
            "lower out.",
            field="lower",
        )
    sign = np.where(judgements.criterion.among(lower), -1.0, 1.0)
    judgements = replace(judgements, raw=sign * judgements.raw, z=sign * judgements.z)
    choices = choices.but(
        lower=tuple(name for name in criteria if name in lower),
        standardise=_standardise(judgements, tables[0].name, choices),
        correction=choices.correction or "none",
        test=str(choose(choices.test or TESTS[0], TESTS, "test", "significance test of scores")),
    )
    _require_systems(judgements.system[judgements.scored].names, tables[0].name)
    _require_few(len(judgements.annotator.names), MAX_ANNOTATORS, "annotators")
    _require_known(judgements, choices)
    return judgements, choices


def _comparing(judged: Comparisons, choices: HumanRequest) -> HumanRequest:
    """The choices with what comparisons decide."""
    test = COMPARING["test"]
    choose(choices.test or test, [test], "test", "test of comparisons")
    units = ("cluster", "item", "judgement")
    unit = choices.unit or next(own for own in units if own in repeated(judged))
    codes = numbered(judged).get(unit)
    if codes is None or (choices.unit and not codes.any()):
        why = "comparisons that say of which they are" if codes is None else "several of them"
        there = "these do not" if codes is None else "there is one"
        raise RecipeError(f"unit={unit} needs {why}; {there}.", field="unit")
    if choices.undetermined == "leave_out" and not determined(parts(judged.won)).any():
        raise RecipeError(
            "undetermined=leave_out would leave no two systems, as no two won against each other, "
            "or tied, not even over others; undetermined=bounds keeps all.",
            field="undetermined",
        )
    if choices.errors is None and len(judged.system.names) > RESAMPLED:
        choices = choices.but(errors="sandwich")
    criteria = (choices.criteria[0] or PREFERENCE,)
    decided = {**COMPARING, "correction": "holm"}
    decided = {name: getattr(choices, name) or value for name, value in decided.items()}
    return choices.but(**decided, criteria=criteria, standardise="none", unit=unit)


def _doubts_of_judges(read: Comparisons) -> Iterator[WarningReport]:
    """Judges that have the name of a language model, or of one of the systems."""
    judges = read.annotator.names
    if models := [own for own in judges if MODELS.search(own.lower()) or own in read.system.names]:
        yield WarningReport(
            "model-judge",
            f"A model is the judge ({examples(models)}): such judges prefer longer "
            "answers, what stands first, and answers like their own (Zheng et al. 2023), which no "
            "number of comparisons averages out; people should judge some of them, too.",
        )


def _only(column: Names, chosen: str | None, field: str, what: str) -> str | None:
    """The name that is chosen, or the only one there is."""
    if chosen is not None:
        return str(choose(chosen, column.names, field, what))
    if len(column.names) > 1:
        raise InputError(
            f"The judgements are of several {PLURALS[field]} ({', '.join(column.names[:12])}); "
            f"name one of them ({field}), as they cannot be pooled.",
            field=field,
        )
    return column.names[0] if column.names else None


def _require_sort(choices: HumanRequest, comparisons: bool) -> None:
    """Check that nothing is chosen which judgements of the other sort need."""
    are, needs = ("scores", "comparisons of two systems")[:: -1 if comparisons else 1]
    for field in SCORES_ALONE if comparisons else COMPARISONS_ALONE:
        chosen = getattr(choices, field)
        if chosen not in (HumanRequest.model_fields[field].default, "none"):
            raise RecipeError(f"{field} needs {needs}; these are {are}.", field=field)


def _criteria(column: Names, choices: HumanRequest, comparisons: bool) -> tuple[str | None, ...]:
    """Those that are chosen; or all, adequacy and fluency first; one of comparisons, if any."""
    if comparisons:
        wanted = choices.criteria[0] if len(choices.criteria) == 1 else None
        return (_only(column, wanted, "criteria", "criterion"),)
    for name in choices.criteria:
        choose(name, column.names, "criteria", "criterion")
    if choices.criteria:
        return choices.criteria
    if COMBINED in column.names:
        raise InputError(
            "No criterion may be called combined, which is the name of their combination.",
            field="judgements",
        )
    first = [name for name in FIRST_CRITERIA if name in column.names]
    return tuple(dict.fromkeys([*first, *column.names]))


def _weighed(table: JudgedFile, severity: str) -> Iterator[WarningReport]:
    """Count errors of undecided severity in the scores of a table, and say how many."""
    undecided = table.columns.get("undecided", ())
    if not any(undecided):
        return
    scores = np.array(table.columns["score"], float)
    scores -= SEVERITIES[severity] * np.array(undecided)
    table.columns = {**table.columns, "score": scores.tolist()}
    yield WarningReport(
        "severity",
        f"The severity of {counted(sum(undecided), 'error')} is undecided; counted as "
        f"{severity} (another severity can be named: undecided).",
    )


def _doubts(
    tables: Sequence[JudgedFile], judgements: Judgements, choices: HumanRequest
) -> Iterator[WarningReport]:
    """Criteria that are called as penalties, or stand in files so called, and more is better."""
    for name in choices.criteria:
        rows = judgements.criterion.among([name])
        if name in choices.lower or (judgements.raw[rows] < 0).any():
            continue
        called = [name, *(system_name(table.name).rpartition("/")[2] for table in tables)]
        if error := next(filter(is_error, called), None):
            yield WarningReport(
                "direction",
                f"{error} has the name of an error or a penalty, and greater is read as better; "
                f"where lower is better, say so: --lower {name} in the shell, lower=[{name!r}] in "
                "Python and in JSON, or a column higher_is_better with false.",
                metrics=(name,),
            )


def _renamed(systems: Sequence[str], aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Systems under their aliases."""
    for name in aliases:
        choose(name, systems, "aliases", "system")
    names = tuple(aliases.get(name, name) for name in systems)
    if len({*names}) < len(names):
        name = first_twice(names)
        raise RecipeError(f"aliases gives two systems the name {name!r}.", field="aliases")
    return names


def _standardise(judgements: Judgements, name: str, choices: HumanRequest) -> str:
    if judgements.standardised:
        why = "is standardised already; scores must not be standardised twice."
    elif not judgements.annotator.known:
        why = "does not say who judged, so scores cannot be standardised."
    else:
        return choices.standardise or "annotator"
    if choices.standardise not in {None, "none"}:
        raise RecipeError(f"{name} {why}", field="standardise")
    return "none"


def _require_systems(names: Sequence[str], name: str) -> None:
    if len(names) < 2:
        raise InputError(
            f"{name} has judgements of {len(names)} system{'' if len(names) == 1 else 's'} "
            f"({', '.join(names)}); at least two are compared.",
            field="judgements",
        )
    _require_few(len(names), MAX_SYSTEMS, "systems")


def _require_few(number: int, most: int, what: str) -> None:
    if number > most:
        why = f"There are {number:,} {what}; at most {most:,} are accepted."
        raise LimitError(why, limit=what, field="judgements")


def _require_known(judgements: Judgements, choices: HumanRequest) -> None:
    """Some choices need annotators, documents, or systems that are there."""
    if choices.quality is not None and not judgements.annotator.known:
        raise RecipeError("quality needs judgements that say who judged.", field="quality")
    if choices.aggregate == "document" and judgements.document.codes[judgements.scored].min() < 0:
        raise RecipeError(
            "aggregate=document needs the document of every judgement.", field="aggregate"
        )
    if choices.longitudinal and choices.lower:
        raise RecipeError("longitudinal needs scores of which more is better.", field="lower")
    for pair, four in choices.longitudinal.items():
        path = f"longitudinal.{pair}" if pair else "longitudinal"
        for field, name in four:
            choose(name, judgements.system.names, f"{path}.{field}", "system")


FEWEST = 3  # systems that both sides must share
SHOWN = 12  # names that a message lists

_NUMBER = re.compile(r"\.\d+$")
_CAMPAIGN = re.compile(r"^wmt\d\d\.")
_HUMAN = re.compile(r"^(human|ref)[-_ ]?\w?$", re.IGNORECASE)


@dataclass(frozen=True)
class MatchedSystems:
    """Systems that were judged and whose outputs are there.

    Attributes:
        outputs: Name among the outputs by name among the judgements.
        references: Judged human translations without outputs.
    """

    outputs: Mapping[str, str]
    references: tuple[str, ...]


def match_systems(
    judged: Sequence[str], given: Sequence[str], aliases: Mapping[str, str] | None = None
) -> MatchedSystems:
    """Find the outputs of every judged system.

    Names match if they are equal, by an alias, or without the judgements' final number and
    campaign prefix.

    Args:
        judged: Names among the judgements.
        given: Names among the outputs or scores.
        aliases: Name among the outputs by name among the judgements.

    Raises:
        InputError: A system that only one side has, or fewer than three that both have.
    """
    found: dict[str, str] = {}
    for name in judged:
        match = next((s for s in spellings(name, aliases or {}) if s in given), None)
        if match is not None and match not in found.values():
            found[name] = match
    left = [name for name in judged if name not in found]
    references = tuple(name for name in left if _HUMAN.match(_NUMBER.sub("", name)))
    missing = [name for name in left if name not in references]
    extra = [name for name in given if name not in found.values()]
    sides = [("only judged are", missing), ("not judged are", extra)]
    unmatched = [f"{words} {examples(names, SHOWN)}" for words, names in sides if names]
    if unmatched:
        alias = "name what belongs together (aliases; --alias FROM=TO in the shell), or "
        raise InputError(
            f"Systems differ: {'; '.join(unmatched)}; "
            f"{alias if len(unmatched) > 1 else ''}leave them out.",
            field="aliases",
        )
    if len(found) < FEWEST:
        raise InputError(
            f"Only {len(found)} systems have both judgements and outputs "
            f"({examples(found, SHOWN) or 'none'}); at least {FEWEST} are needed.",
            field="judgements",
        )
    return MatchedSystems(found, references)


def spellings(name: str, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """What a judged system may be called elsewhere."""
    plain = _CAMPAIGN.sub("", name)
    return aliases.get(name, name), plain, _NUMBER.sub("", plain)


def check_segments(ids: Sequence[str], segments: int) -> tuple[str, ...]:
    """Check that judged segments are of a test set.

    Ids that are numbers are lines of the test set. They count from 1, as WMT's do; from 0 where one
    is 0. Ids of another kind, such as those of FLORES, name no line, and are not looked at.

    Args:
        ids: Of the judged segments.
        segments: Of the test set.

    Returns:
        What was assumed, as sentences.

    Raises:
        InputError: A number beyond the test set, or numbers and other ids together.
    """
    numbers = [name for name in ids if in_digits(name)]
    if not numbers:
        return ()
    if len(numbers) < len(ids):
        name = next(name for name in ids if not in_digits(name))
        raise InputError(
            f"Segment id {name[:60]!r} is no line number, as {numbers[0][:12]} and other ids are, "
            "so it names no segment of the test set.",
            field="judgements",
        )
    first = 0 if any(int(name) == 0 for name in numbers) else 1
    beyond = next((name for name in numbers if int(name) >= segments + first), None)
    if beyond is not None:
        raise InputError(
            f"Segment {beyond[:12]} was judged; the test set has {segments:,} segments (ids count "
            f"from {first} here).",
            field="judgements",
        )
    if first == 0:
        return ("Judged segments count from 0 here, as one has the id 0: segment 0 is line 1.",)
    return ()
