"""Comparisons of two systems: who was preferred to whom.

- Tables and JSON with a column for each of the two systems, and one that says which is better: the
  battles of arenas (model_a, model_b, winner; or winner_model_a, winner_model_b, winner_tie), and
  lists of winner and loser.
- The same as rows of a request, by the names of COMPARED alone, or as they are published.
- Annotations of AlpacaEval: generator_1, generator_2 and a preference from 1 (the first output) to
  2 (the second), 1.5 or 0 being a tie.
- Pairs of games, a row each, between which the two outputs change places: FastChat's (MT-bench)
  with model_1, model_2, g1_winner and g2_winner; Arena-Hard's with model, baseline (A in the first
  game) and games, whose scores are verdicts such as A>>B. As in both programs, a row counts where
  both games have a verdict; as on Arena-Hard's board, >> counts as three wins.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sigtest.data.names import without_slash
from sigtest.errors import InputError, quoted
from sigtest.files import judgements
from sigtest.files.file import File, entries_of
from sigtest.files.tables import Table, blank, fields_of, float_in, read_table

NAMES = {  # of columns, by what they hold; the first of several is taken
    "a": "a model_a system_a generator_a generator_1 model_1 system_1 model1 system1 left_model "
    "model_a_name winner chosen_model",
    "b": "b model_b system_b generator_b generator_2 model_2 system_2 model2 system2 right_model "
    "model_b_name loser rejected_model",
    "winner": "winner preferred preferred_model chosen_model_name chosen_model choice vote verdict",
    "preference": "preference",
    "won_a": "winner_model_a",
    "won_b": "winner_model_b",
    "tied": "winner_tie both_equal",
    "item": "item item_id question_id prompt_id instruction_id segment segment_id seg_id sid "
    "uid question instruction prompt id",
    "judge": "judge judge_id judge_hash annotator annotator_id rater worker worker_id user user_id",
    "cluster": "cluster cluster_id group session conversation_id evaluation_session_id",
    "weight": "weight",
    "criterion": "criterion aspect dimension",
    "languages": "languages language_pair lang_pair langpair lp",
}
PUBLISHED = {  # a row of a request with whatever an arena or a judge publishes
    "type": "object",
    "anyOf": [
        {"required": [*both]}
        for both in [*zip(NAMES["a"].split(), NAMES["b"].split(), strict=True)][1:]
    ]
    + [{"required": ["games"]}],
}
JUDGEMENTS = {
    "type": "array",
    "items": {"anyOf": [judgements.JUDGEMENT, judgements.COMPARISON, PUBLISHED]},
    "minItems": 1,
}
SIDES = {  # what a cell may say of the winner, without marks: share of the first system
    **dict.fromkeys(("a", "modela", "systema", "1", "model1", "system1", "first", "left"), 1.0),
    **dict.fromkeys(("b", "modelb", "systemb", "2", "model2", "system2", "second", "right"), 0.0),
    **dict.fromkeys(("tie", "tiebothbad", "bothbad", "bothgood", "both", "draw", "neither"), 0.5),
    **dict.fromkeys(("equal", "same", "bothequal", "tiebothgood", "nopreference"), 0.5),
}
VERDICTS = ("winner", "preference", "won_a")
MARKS = ("won_a", "won_b", "tied")
UNDECIDED = {"error", "invalid", "skip", "skipped"}  # where a judge gave no answer
VERDICT = re.compile(r"([AB])(=|[<>]{1,2})([AB])")
STRONG = 3.0  # wins that >> is
GAMES = ("g1_winner", "g2_winner")
HEAVIEST = 1e9
LONG = 60  # characters of an id; longer ones are texts, known by their hashes


def roles_of(header: Iterable[str]) -> dict[str, str]:
    """The column of each role."""
    again = [*header][::-1]  # the first of several stays
    plain = {re.sub(r"[^a-z0-9]+", "_", column.strip(' "').lower()): column for column in again}
    return {
        role: plain[next(name for name in names.split() if name in plain)]
        for role, names in NAMES.items()
        if not plain.keys().isdisjoint(names.split())
    }


def sniff_preferences(file: File, decided: bool = True) -> bool:
    """Two columns of systems and, if they are decided, one that says which is better."""
    first = "" if file.kind else judgements.first_line(file)
    roles = roles_of([*file.first] or fields_of(first, judgements.separator_of(first))).keys()
    return {"a", "b"} <= roles and not (decided and roles.isdisjoint(VERDICTS))


def read_preferences(file: File) -> judgements.JudgedFile:
    """One comparison a row.

    Raises:
        InputError: A column missing, a winner that is neither system, a preference or a weight that
            is no number or out of range.
    """
    return _compared(read_table(file, judgements.separator_of(judgements.first_line(file))))


def compared_rows(rows: Sequence[object], name: str) -> judgements.JudgedFile:
    """Rows of a request, each an object with the names of COMPARED, or with published names.

    Raises:
        InputError: A row that is no object.
        RecipeError: A name that is unknown.
    """
    names = {key for row in rows if isinstance(row, Mapping) for key in row}
    known = judgements.COMPARED if {"a", "b"} & names else sorted(names)
    records = judgements.checked_rows(rows, name, known, "field of a comparison")
    return _compared(Table.of_records(name, records))


def compares(names: Collection[str]) -> bool:
    """Whether a row of a request with these names is a comparison."""
    return "games" in names or not {"a", "b"}.isdisjoint(roles_of(names))


Row = tuple[Any, dict[str, Any], Mapping[str, str]]  # place; cells by role; the field of each


def _games(table: Table, roles: Mapping[str, str]) -> Iterator[Row]:
    """A row a game: who stood first, who second, who won, and how often that counts."""
    for place, cells in zip(table.places, table.rows, strict=True):
        row: dict[str, Any] = dict(zip(table.header, cells, strict=True))
        sides, won = ["model_1", "model_2"], {name: row.get(name) for name in GAMES}
        if "games" in row:
            sides, row["baseline"] = ["baseline", "model"], row.get("baseline") or "baseline"
            own = [*enumerate(entries_of(row["games"]))]
            won = {f"games[{i}].score": o.get("score") for i, o in own if isinstance(o, dict)}
        both = [*map(row.get, sides)]
        if len(won) < 2 or any(map(_undecided, won.values())) or both[0] == both[1]:
            won = {"winner": None}  # counts once among the rows that do not
        for turn, (field, winner) in enumerate(won.items()):
            verdict = VERDICT.fullmatch(str(winner).strip())
            left, sign, right = verdict.groups() if verdict else (winner, ">", "")
            winner = "tie" if sign == "=" else left if ">" in sign else right
            game = {role: row[column] for role, column in roles.items()}
            game["winner"] = dict(zip(sides, both, strict=True)).get(str(winner), winner)
            game["weight"] = STRONG if len(sign) > 1 else 1.0
            placed = dict(zip("ab", sides[:: -1 if turn % 2 else 1], strict=True))
            game |= {side: row.get(column) for side, column in placed.items()}
            yield place, game, {**roles, **placed, "winner": field}


def _compared(table: Table) -> judgements.JudgedFile:
    """The comparisons of its rows."""
    name, roles, inline = table.name, roles_of(table.header), table.unit == "entry"
    paired = "games" in table.header or {*GAMES} <= {*table.header}
    missing = [*sorted({"a", "b"} - roles.keys())]
    missing += ["winner"] * roles.keys().isdisjoint(VERDICTS)
    if missing and not paired:
        raise judgements.lacking(missing, table.header, name)
    cells = zip(*(table.columns[column] for column in roles.values()), strict=True)
    placed = zip(table.places, cells, strict=True)
    plain = ((place, dict(zip(roles, own, strict=True)), roles) for place, own in placed)
    alpaca = roles.get("a") == "generator_1"
    dropped: Counter[str] = Counter()
    compared, places = list[tuple[Any, ...]](), list[int]()
    for place, row, fields in _games(table, roles) if paired else plain:

        def wrong(
            role: str, why: str, place: int = place, fields: Mapping[str, str] = fields
        ) -> InputError:
            return judgements.refused(name, place, why, fields.get(role, role), inline)

        for side in "ab":
            if not isinstance(row[side], str) or not row[side].strip():
                raise wrong(side, f"{quoted(row[side], 40)} is no name of a system")
        a, b = (without_slash(row[side].strip()) for side in "ab")
        weight = 1.0 if row.get("weight") in (None, "") else float_in(row["weight"])
        if weight is None or not 0 < weight <= HEAVIEST:
            raise wrong("weight", f"{quoted(row['weight'], 40)} is no weight above 0")
        share = _share(row, alpaca, wrong)
        if a == b or share is None:
            dropped["one system twice" if a == b else "no winner"] += 1
        else:
            labels = (_label(row.get(role)) for role in judgements.COMPARED_LABELS)
            compared.append((a, b, share, weight, None, *labels))
            places.append(place)
    form = "games" if paired else "alpaca_eval" if alpaca else "preferences"
    return judgements.compared_records(
        compared, places, name, input=form, dropped=dropped, inline=inline, rows=len(table),
        placed="a" not in roles or roles["a"] != roles.get("winner"),
    )  # fmt: skip


def _label(cell: object) -> str | None:
    """An id as text, of a list its first entry; a longer text is known by its hash."""
    cell = next(iter(entries_of(cell)), cell)
    if blank(cell):
        return None
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
    return text if len(text) <= LONG else hashlib.sha256(text.encode()).hexdigest()[:16]


def _undecided(cell: object) -> bool:
    """Whether nobody said who won."""
    return blank(cell) or str(cell).strip().lower() in UNDECIDED


def _share(
    row: Mapping[str, Any], alpaca: bool, wrong: Callable[[str, str], InputError]
) -> float | None:
    """How far the first system is preferred, from 0 to 1; nothing where nobody said."""
    marks = {role: float_in(row[role]) for role in MARKS if not blank(row.get(role))}
    for role, mark in marks.items():
        if mark is None or not 0 <= mark <= 1:
            raise wrong(role, f"{quoted(row[role], 40)} is neither 0 nor 1")
    won, lost, tied = (marks.get(role) or 0.0 for role in MARKS)
    if total := won + lost + tied:
        return (won + tied / 2) / total
    named = not blank(row.get("winner"))
    cell = row["winner"] if named else row.get("preference")
    if _undecided(cell):
        return None
    value, text = None if named else float_in(cell), str(cell).strip()
    if value is None:
        sides = {str(row["a"]).strip(): 1.0, str(row["b"]).strip(): 0.0}
        share = sides.get(text, SIDES.get(re.sub(r"[^a-z0-9]|vote$", "", text.lower())))
        if share is None:
            raise wrong("winner", f"{quoted(cell, 40)} is neither system, nor a, b or tie")
        return share
    if alpaca:
        value = 0.5 if value == 0 else 2 - value
    if not 0 <= value <= 1:
        ends = "from 1 to 2" if alpaca else "from 0 to 1, which is how far a is preferred"
        raise wrong("preference", f"{quoted(cell, 40)} is no preference {ends}")
    return value
