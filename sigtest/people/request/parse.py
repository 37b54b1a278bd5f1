"""From a request and its files to what is asked: every check, once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.data.choices import choose
from sigtest.data.names import is_error, system_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, LimitError, RecipeError, inside
from sigtest.people.files import INPUTS, MAX_ROWS, columns, read
from sigtest.people.files.collecting import collect
from sigtest.people.files.table import Table
from sigtest.people.judgements import Judgements, Names
from sigtest.people.preparing import count_rows
from sigtest.people.rankings import Rankings
from sigtest.people.request.asked import Asked, Source
from sigtest.render.digits import counted
from sigtest.requests.people import RANKING_TEST, SEVERITIES, TESTS, HumanRequest

MAX_SYSTEMS = 300
MAX_ANNOTATORS = 20_000
FIRST_CRITERIA = ("adequacy", "fluency")
RANKING = "ranking"
RESERVED = {"combined"}
MQM = "mqm"  # criterion of scores that are counted from errors


def parse(request: Mapping[str, Any], files: Sequence[tuple[str, bytes]] = ()) -> Asked:
    """Check a request of the form of POST /v1/human-evaluations.

    Args:
        request: The JSON body.
        files: Name and bytes of each file of judgements; `judgements` is left out then.

    Raises:
        SigtestError: Judgements that cannot be used, or a choice that is unknown or does not fit.
    """
    choices = HumanRequest.of(request, ("judgements",))
    if choices.input is not None:
        choose(choices.input, INPUTS, "input", "format of judgements")
    if files:
        if request.get("judgements") is not None:
            raise InputError("judgements come as files or as rows, not both.", field="judgements")
        found = [read(data, name, choices.input) for name, data in files]
        digests = [hashlib.sha256(data).hexdigest() for _, data in files]
        _no_copies(files, digests)
    else:
        found, digests = _rows(request, choices)
    tables = [table for table in found if isinstance(table, Table)]
    rankings = [table for table in found if isinstance(table, Rankings)]
    if tables and rankings:
        raise InputError("Rankings and scores cannot be evaluated together.", field="judgements")
    if rankings:
        return _of_rankings(rankings, digests, choices)
    return _of_tables(tables, digests, choices)


def _no_copies(files: Sequence[tuple[str, bytes]], digests: Sequence[str]) -> None:
    """Whether no file is there twice, as its judgements would count twice."""
    for i, digest in enumerate(digests):
        first = digests.index(digest)
        if first < i:
            raise InputError(
                f"{files[first][0]} and {files[i][0]} are the same; its judgements would count "
                "twice. Give every file once.",
                field="judgements",
            )


def evaluation_in(
    human: Mapping[str, Any], files: Sequence[tuple[str, bytes]], path: str = ""
) -> Asked | None:
    """The human evaluation that another request asks for in its field `human`.

    Args:
        human: The field: a request, or one that was parsed, as its `evaluation`.
        files: Name and bytes of each file of judgements.
        path: What stands before `human` in the names of fields.

    Returns:
        What is asked; nothing where the field says something else of people.

    Raises:
        SigtestError: Both of these, or what `parse` raises.
    """
    asked = human.get("evaluation")
    if isinstance(asked, Asked):
        if files or len(human) > 1:
            raise InputError(
                f"{path}human.evaluation has its judgements and choices; leave others out.",
                field=f"{path}human.evaluation",
            )
        return asked
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


def _rows(
    request: Mapping[str, Any], choices: HumanRequest
) -> tuple[list[Table | Rankings], list[str]]:
    """The rows of the request itself."""
    if request.get("judgements") is None:
        raise InputError("judgements is missing: a list of judgements.", field="judgements")
    rows = check_list(request["judgements"], "judgements")
    if len(rows) > MAX_ROWS:
        raise LimitError(
            f"judgements has {len(rows):,} rows; at most {MAX_ROWS:,} are accepted.",
            limit="judgements",
            field="judgements",
        )
    if not rows:
        raise InputError("judgements is empty.", field="judgements")
    table = columns.request_rows(rows, "judgements")
    if choices.input is not None:
        table.input = choices.input
    text = json.dumps(rows, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return [table], [hashlib.sha256(text.encode()).hexdigest()]


def _of_tables(tables: Sequence[Table], digests: Sequence[str], choices: HumanRequest) -> Asked:
    if sum(len(table.line) for table in tables) > MAX_ROWS:
        raise LimitError(f"The files hold more than {MAX_ROWS:,} judgements.", limit="judgements")
    notes = [note for table in tables for note in _weighed(table, choices.undecided)]
    collected = collect(tables, choices.scale)
    judgements = collected.judgements
    dropped = [dict(reasons) for reasons in collected.dropped]
    languages = _languages(judgements.languages, choices)
    criteria = _criteria(judgements.criterion, choices)
    keeps = _chosen(judgements.languages, languages)
    count_rows(dropped, judgements, ~keeps, "other language pair")
    judgements = judgements.take(keeps)
    names = judgements.criterion.names
    codes = [names.index(name) for name in criteria if name in names]
    keeps = np.isin(judgements.criterion.codes, codes)
    count_rows(dropped, judgements, ~keeps, "other criterion")
    judgements = judgements.take(keeps)
    judgements = replace(judgements, system=_renamed(judgements.system, choices.aliases))
    lower = {choose(n, criteria, "lower", "criterion") for n in choices.lower} | collected.lower
    if MQM in lower and any(table.named == MQM for table in tables):
        raise RecipeError(
            "mqm is counted from errors here, each as points below 0, and more is better; leave "
            "lower out.",
            field="lower",
        )
    turned = [i for i, name in enumerate(judgements.criterion.names) if name in lower]
    sign = np.where(np.isin(judgements.criterion.codes, turned), -1.0, 1.0)
    judgements = replace(judgements, raw=sign * judgements.raw, z=sign * judgements.z)
    choices = choices.but(
        languages=languages,
        criteria=criteria,
        lower=tuple(name for name in criteria if name in lower),
        standardise=_standardise(judgements, tables[0].name, choices),
        test=str(choose(choices.test or TESTS[0], TESTS, "test", "significance test of scores")),
        scale=choices.scale,
    )
    _require_systems(judgements.system.take(judgements.scored).names, tables[0].name)
    if len(judgements.annotator.names) > MAX_ANNOTATORS:
        raise LimitError(
            f"{len(judgements.annotator.names):,} annotators; at most {MAX_ANNOTATORS:,} are "
            "accepted.",
            limit="annotators",
            field="judgements",
        )
    _require_known(judgements, choices)
    sources = tuple(
        Source(table.input, table.rows, reasons, digest, choices.scale or table.scale)
        for table, reasons, digest in zip(tables, dropped, digests, strict=True)
    )
    notes += _doubts(tables, judgements, choices)
    asked = Asked(judgements, sources, choices, tuple(notes))
    _ = asked.prepared  # refuses what leaves a system without judgements, or a test without pairs
    return asked


def _of_rankings(found: Sequence[Rankings], digests: Sequence[str], choices: HumanRequest) -> Asked:
    parts = [replace(r, source=np.full(len(r), i, dtype=np.int64)) for i, r in enumerate(found)]
    whole = Rankings.concatenate(parts).without_copies()
    languages = _languages(whole.languages, choices)
    kept = whole.take(_chosen(whole.languages, languages))
    named = Names(kept.names, np.arange(len(kept.names)))
    kept = replace(kept, names=_renamed(named, choices.aliases).names)
    for field in ("quality", "scale", "longitudinal", "lower"):
        if getattr(choices, field):
            raise RecipeError(f"{field} needs scores; these are rankings.", field=field)
    if choices.standardise not in {None, "none"}:
        raise RecipeError("Rankings cannot be standardised.", field="standardise")
    if choices.aggregate != "segment":
        raise RecipeError("Rankings have no documents.", field="aggregate")
    if choices.criteria not in {(), (RANKING,)}:
        raise RecipeError("Rankings have one criterion, called ranking.", field="criteria")
    if choices.test not in {None, RANKING_TEST}:
        raise RecipeError(
            f"{choices.test} needs scores; rankings are compared by the {RANKING_TEST} test.",
            field="test",
        )
    _require_systems(kept.names, "judgements")
    sources = tuple(
        Source("rnk", len(part), _dropped(part, whole, kept, i), digest)
        for i, (part, digest) in enumerate(zip(parts, digests, strict=True))
    )
    decided = choices.but(
        languages=languages, criteria=(RANKING,), standardise="none", test=RANKING_TEST
    )
    return Asked(kept, sources, decided)


def _dropped(part: Rankings, whole: Rankings, kept: Rankings, source: int) -> dict[str, int]:
    """Rows of a file that are left out, by reason."""
    once, left = (int(np.count_nonzero(own.source == source)) for own in (whole, kept))
    reasons = {"repeated row": len(part) - once, "other language pair": once - left}
    return {why: n for why, n in reasons.items() if n}


def _languages(column: Names, choices: HumanRequest) -> str | None:
    """The language pair: the one asked for, or the only one."""
    if choices.languages is not None:
        return str(choose(choices.languages, column.names, "languages", "language pair"))
    if len(column.names) > 1:
        raise InputError(
            f"The judgements are of several language pairs ({', '.join(column.names[:12])}); name "
            "one of them (languages), as their scores cannot be pooled.",
            field="languages",
        )
    return column.names[0] if column.names else None


def _chosen(column: Names, name: str | None) -> Any:
    if name is None:
        return np.ones(len(column.codes), dtype=bool)
    return column.codes == column.names.index(name)


def _criteria(column: Names, choices: HumanRequest) -> tuple[str, ...]:
    """Those asked for; or all, adequacy and fluency first."""
    for name in choices.criteria:
        choose(name, column.names, "criteria", "criterion")
    if choices.criteria:
        return choices.criteria
    if RESERVED & set(column.names):
        raise InputError(
            "No criterion may be called combined, which is the name of their combination.",
            field="judgements",
        )
    first = [name for name in FIRST_CRITERIA if name in column.names]
    return tuple(dict.fromkeys([*first, *column.names]))


def _weighed(table: Table, severity: str) -> Iterator[str]:
    """Count errors of undecided severity in the scores of a table, and say how many."""
    if table.undecided is None or not any(table.undecided):
        return
    scores = np.array(table.raw, dtype=np.float64)
    table.raw = (scores - SEVERITIES[severity] * np.array(table.undecided)).tolist()
    yield (
        f"The severity of {counted(sum(table.undecided), 'error')} is undecided; counted as "
        f"{severity} (another severity can be named: undecided)."
    )


def _doubts(
    tables: Sequence[Table], judgements: Judgements, choices: HumanRequest
) -> Iterator[str]:
    """Criteria that are called as penalties, or stand in files so called, and more is better."""
    for name in choices.criteria:
        own = judgements.criterion.codes == judgements.criterion.names.index(name)
        if name in choices.lower or (judgements.raw[own] < 0).any():
            continue
        called = [name, *(system_name(table.name).rpartition("/")[2] for table in tables)]
        if error := next(filter(is_error, called), None):
            yield (
                f"{error} has the name of an error or a penalty, and greater is read as better; "
                f"where lower is better, say so: --lower {name} in the shell, lower=[{name!r}] in "
                "Python and in JSON, or a column higher_is_better with false."
            )


def _renamed(column: Names, aliases: Mapping[str, str]) -> Names:
    """Systems under their aliases."""
    for name in aliases:
        choose(name, column.names, "aliases", "system")
    names = tuple(aliases.get(name, name) for name in column.names)
    twice = next((name for name in names if names.count(name) > 1), None) if aliases else None
    if twice is not None:
        raise RecipeError(f"aliases gives two systems the name {twice!r}.", field="aliases")
    return Names(names, column.codes)


def _standardise(judgements: Judgements, name: str, choices: HumanRequest) -> str:
    asked = choices.standardise
    if judgements.standardised:
        why = "is standardised already; scores must not be standardised twice."
    elif not judgements.annotator.known:
        why = "does not say who judged, so scores cannot be standardised."
    else:
        return asked or "annotator"
    if asked not in {None, "none"}:
        raise RecipeError(f"{name} {why}", field="standardise")
    return "none"


def _require_systems(names: Sequence[str], name: str) -> None:
    if len(names) < 2:
        raise InputError(
            f"{name} has judgements of {len(names)} system{'' if len(names) == 1 else 's'} "
            f"({', '.join(names)}); at least two are compared.",
            field="judgements",
        )
    if len(names) > MAX_SYSTEMS:
        raise LimitError(
            f"{name} has {len(names):,} systems; at most {MAX_SYSTEMS} are accepted.",
            limit="systems",
        )


def _require_known(judgements: Judgements, choices: HumanRequest) -> None:
    """What was asked for needs annotators, documents, or systems that are there."""
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
        for field, name in four.model_dump().items():
            choose(name, judgements.system.names, f"{path}.{field}", "system")
