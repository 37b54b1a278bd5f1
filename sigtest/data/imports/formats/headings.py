"""Names that columns have in tables of scores and texts, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Role = Literal[
    "id", "system", "metric", "score", "run", "document", "domain", "testset",
    "source", "reference", "hypothesis", "higher_is_better",
]  # fmt: skip

ALIASES: dict[Role, tuple[str, ...]] = {
    "id": (
        "id", "segment", "segment_id", "seg_id", "segid", "seg", "sid", "item", "item_id",
        "sample_id", "question_id", "example_id", "instance_id", "prompt_id", "sentence_id",
        "line", "line_number", "index", "idx", "key", "#", "qid", "uid",
    ),
    "system": (
        "system", "sys", "system_id", "sys_id", "system_name", "sys_name", "model", "model_id",
        "model_name", "mt_system", "engine", "submission", "team", "llm", "solver", "agent",
        "participant", "generator",
    ),
    "metric": ("metric", "metric_name", "metric_id", "measure", "scorer"),
    "score": ("score", "value", "seg_score", "segment_score", "metric_score", "result"),
    "run": ("run", "run_id", "seed", "epoch", "replica", "trial", "repeat", "attempt"),
    "document": (
        "document", "doc", "document_id", "docid", "doc_id", "doc_name", "cluster", "cluster_id",
        "group", "talk_id", "passage", "passage_id",
    ),
    "domain": ("domain", "genre", "stratum", "topic", "subset"),
    "testset": ("testset", "test_set", "language_pair", "lang_pair", "langpair", "lp", "langs",
                "pair", "task", "dataset", "benchmark"),
    "source": ("source", "src", "source_text", "src_text"),
    "reference": ("reference", "ref", "reference_text", "ref_text"),
    "hypothesis": (
        "hypothesis", "hyp", "mt", "translation", "output", "hypothesis_text", "mt_text",
        "translated_text",
    ),
    "higher_is_better": ("higher_is_better",),
}  # fmt: skip
ROLES: dict[str, Role] = {name: role for role, names in ALIASES.items() for name in names}
REFERENCE = re.compile(r"ref(erence)?_?([a-z]|\d{1,2})")  # refA, reference_2
CAPITALS = re.compile(r"(?<=[a-z\d])(?=[A-Z][a-z])")  # segmentId, globalSegId
NUMBERED = re.compile(r"(.*_)?(id|idx|index|no|nr|num|number|key|uuid|guid|hash)|sample")
STAMP = re.compile(r"(.*_)?(t|time_?)stamp|(.*_)?(created|updated|started|completed)(_at)?|date")
VERDICT = re.compile(r"score|correct|pass|success|verdict|grade|outcome", re.IGNORECASE)
INDEX = re.compile(r"(unnamed: 0(\.\d+)*)?", re.IGNORECASE)  # what pandas calls row labels
ASKED = {
    "question", "prompt", "input", "problem", "query", "sentence", "example", "instance",
    "instruction", "user_input",
}  # fmt: skip
METRIC = re.compile(
    r"(sacre|spb|f200sp|sent(ence)?_?)?bleu|chrf|ter$|hter$|nist|meteor|rouge|comet|x?comet"
    r"|cometkiwi|bleurt|bert_?score|yisi|metricx|gemba|prism|bart_?score|ma?tese|unite|kiwi"
    r"|acc(uracy)?$|exact_match|em$|f1|precision|recall|correct$|is_correct|pass@|mae$|rmse$"
    r"|faithfulness|(answer|context|response)_(relevanc|correctness|precision|recall|similarity)"
    r"|(factual_|semantic_)?(correctness|similarity)$"
    r"|esa$|mqm$|da$|wer$|cer$|bits_per_byte|perplexity|log_?prob",
    re.IGNORECASE,
)
# modelA, System 2, baseline; Llama-3-8B, gpt-4o, and not systems, top-5 or acc-5-shot
WHICH = r"([\s_.-][a-z]|[\s_.-]?\d+|(?-i:(?<=[a-z])[A-Z]))"
SYSTEM = re.compile(
    rf"(model|system|sys|llm|engine|submission|team|solver|agent|participant){WHICH}"
    rf"|baseline{WHICH}?"
    r"|(?=[^-]*-)(?=\D*\d)(?![a-z]+-\d+$)(?!.*(shot|acc|score|rate|time|token))[a-z][\w./-]*",
    re.IGNORECASE,
)


def role_of(column: str) -> Role | None:
    """What a column is, judged by its name."""
    plain = _normal(column)
    name = plain if plain in ROLES else _parted(column)
    return ROLES.get(name) or ("reference" if REFERENCE.fullmatch(plain) else None)


def is_index(column: str) -> bool:
    """Whether a column has the name that row labels have where a program wrote and read them."""
    return INDEX.fullmatch(column.strip()) is not None


def is_counter(column: str) -> bool:
    """Whether a column has the name of a place, a number or a time, which measures nothing."""
    name = _parted(column)
    return (NUMBERED.fullmatch(name) or STAMP.fullmatch(name)) is not None


def may_be_verdict(column: str) -> bool:
    """Whether a column of words has a name under which evaluations say what is right."""
    return VERDICT.search(column) is not None


def may_identify(column: str) -> bool:
    """Whether a column of no known role has the name of an id, or of what is asked in an item."""
    name = _parted(column)
    return NUMBERED.fullmatch(name) is not None or is_asked(column)


def is_asked(column: str) -> bool:
    """Whether a column has the name of what is asked in an item."""
    return _parted(column) in ASKED


def _parted(column: str) -> str:
    """A column's name with its words apart, also where only capitals begin them."""
    return _normal(CAPITALS.sub("_", column.strip()))


def _normal(column: str) -> str:
    name = re.sub(r"[\s\-.]+", "_", column.strip().lower())
    return name.removeprefix("#").lstrip("_") or name


def is_metric(column: str) -> bool:
    """Whether a column has the name of a known metric, perhaps with more after it."""
    return METRIC.match(column.strip()) is not None


def is_system(column: str) -> bool:
    """Whether a column has a name that systems have and metrics have not."""
    return SYSTEM.fullmatch(column.strip()) is not None and not is_metric(column)


def names_columns(cells: Iterable[str]) -> bool:
    """Whether these are names of columns: two known ones, something measured or said among them.

    Words such as `line` and `result` may begin a sentence; a header is nothing but names.
    """
    cells = list(cells)
    roles = [role_of(cell) for cell in cells]
    payload = {"score", "hypothesis", "reference", "source"} & set(roles)
    known = sum(
        role is not None or is_metric(cell) for cell, role in zip(cells, roles, strict=True)
    )
    short = all(len(cell) <= 60 for cell in cells)
    return short and known >= 2 and (bool(payload) or any(map(is_metric, cells)) or known > 2)
