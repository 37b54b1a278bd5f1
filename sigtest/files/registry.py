"""Formats of files, by name: how each is recognised and read, or why it is not.

A format that people bring is one function and one line here. Documentation and messages are made
of these lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from sigtest.data.choices import choose
from sigtest.data.text import refuse_binary
from sigtest.errors import InputError, LimitError
from sigtest.files import columns, judgements, tables
from sigtest.files.file import File
from sigtest.files.formats import evaluations, people, plain, programs, wmt
from sigtest.files.formats.refused import REFUSED, Refusal
from sigtest.files.judgements import JudgedFile, Ranked
from sigtest.files.material import Line, Material

MAX_ROWS = 1_000_000  # of judgements


Content = TypeVar("Content")


@dataclass(frozen=True)
class Reader(Generic[Content]):
    """A format that is read.

    Attributes:
        name: What options and tests call it.
        title: What messages and pages call it.
        suffixes: That such files usually have; they decide nothing.
        brings: One sentence: what is taken from it.
        sniff: Whether a file is of this format, judged by its content.
        read: Reads it.
        general: Whether it takes what no other format recognises.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    brings: str
    sniff: Callable[[File], bool]
    read: Callable[[File], Content]
    general: bool = False


# fmt: off
_READERS = (
    Reader("wmt-xml", "WMT XML", (".xml",),
           "Sources, references by translator, outputs by system, documents, domains.",
           wmt.sniff_wmt, lambda file: wmt.read_wmt(file.data, file.name)),
    Reader("sgml", "mteval SGML", (".sgm", ".sgml", ".xml"),
           "Sources, references or outputs of a srcset, refset or tstset, documents, genres.",
           wmt.sniff_sgml, wmt.read_sgml),
    Reader("wmt25", "WMT25 JSONL", (".jsonl",),
           "Sources, references, outputs or automatic scores, paragraph by paragraph.",
           wmt.sniff_wmt25, wmt.read_wmt25),
    Reader("inspect-json", "a log of Inspect AI (JSON)", (".json",),
           "Scores of a model by scorer and sample, epochs as runs.",
           evaluations.sniff_inspect, evaluations.read_inspect),
    Reader("lm-eval", "samples of lm-evaluation-harness", (".jsonl", ".json"),
           "Scores of a model by metric and filter, by doc_id; the model from results_*.json.",
           evaluations.sniff_lm_eval, evaluations.read_lm_eval),
    Reader("comet-json", "JSON of comet-score", (".json",),
           "Sources, references, outputs and scores of one or several systems.",
           programs.sniff_comet_json, programs.read_comet_json),
    Reader("comet-compare", "JSON of comet-compare", (".json",),
           "Sources, references, outputs and scores of all systems.",
           programs.sniff_comet_compare, programs.read_comet_compare),
    Reader("comet-text", "output of comet-score", (".txt",),
           "Scores of one or several systems, with four decimals.",
           programs.sniff_comet_text, programs.read_comet_text),
    Reader("sacrebleu-sentences", "output of sacrebleu -sl", (".txt",),
           "Scores of the sentences of one output, rounded.",
           programs.sniff_sentences, programs.read_sentences),
    Reader("meteor", "segment scores of METEOR or mteval (.scr)", (".scr",),
           "Scores of one or several systems by document and segment.",
           programs.sniff_meteor, programs.read_meteor),
    Reader("seg-score", "segment scores of mt-metrics-eval (.seg.score)", (".seg.score",),
           "Scores of several systems; the metric is named by the file; None is missing.",
           programs.sniff_seg_scores, programs.read_seg_scores),
    Reader("split", "a table of W&B or MLflow, columns apart from rows", (".json",),
           "What a table with named columns has.",
           tables.is_split, columns.read),
    Reader("columns", "a table with named columns", (".csv", ".tsv", ".jsonl", ".json"),
           "Any of id, system, metric, score, run, document or cluster, domain, testset, source, "
           "reference, hypothesis; or one column a metric or system.",
           columns.sniff, columns.read, general=True),
    Reader("numbers", "numbers, one line a segment", (".txt", ".num"),
           "Scores of one system, which the file names; tuples of numbers for ratios.",
           plain.sniff_numbers, plain.read_numbers, general=True),
    Reader("text-columns", "columns of text between tabs", (".tsv",),
           "References or outputs side by side, as sacreBLEU takes them.",
           plain.sniff_columns, plain.read_columns, general=True),
    Reader("text", "plain text, one line a segment", (".txt",),
           "A source, a reference or an output; option or place say which.",
           plain.sniff_text, plain.read_text, general=True),
)
_JUDGED: tuple[Reader[JudgedFile | Ranked], ...] = (
    Reader("wmt_da",
           "WMT direct assessment, raw or standardised (HITId WorkerId ... score time)", (),
           "Scores of systems by annotator and segment.",
           people.sniff_da, people.read_da),
    Reader("wmt_da_segments",
           "WMT direct assessment, means by segment (SYS SID RAW.SCR Z.SCR N)", (),
           "Mean scores of systems by segment.",
           people.sniff_da_segments, people.read_da_segments),
    Reader("mqm", "MQM, one row an error (Google's TSV)", (".tsv",),
           "Penalties of systems by rater and segment.",
           people.sniff_mqm, people.read_mqm),
    Reader("rnk", "WMT rankings of outputs (CSV)", (".csv",),
           "Ranks of outputs by judge and segment.",
           people.sniff_rankings, people.read_rankings),
    Reader("esa", "Appraise export, ESA or MQM (CSV)", (".csv",),
           "Scores or penalties of systems by annotator and segment.",
           people.sniff_esa, people.read_esa),
    Reader("mtme", "mt-metrics-eval .seg.score", (".seg.score",),
           "Scores of systems by segment.",
           people.sniff_mtme, people.read_mtme),
    Reader("wmt25", "human evaluation of WMT25 (JSON Lines)", (".jsonl",),
           "Scores of systems by annotator, segment and wave.",
           people.sniff_waves, people.read_waves),
    Reader("columns", "CSV, TSV or JSON with named columns", (".csv", ".tsv", ".jsonl", ".json"),
           f"Any of {', '.join(judgements.COLUMNS)}.",
           lambda file: judgements.names_judgements(judgements.first_line(file)),
           judgements.read_judged_columns, general=True),
)
# Files that lie beside judgements and are none: what their first line looks like.
_BESIDE_JUDGEMENTS = (
    (r"[^\t]*\t[^\t]*\t *(None|[-+]?[0-9.]+(e[-+]?[0-9]+)?)",
     "scores by domain; give the scores by segment (the file that ends in .seg.score)"),
    (r"RAW\.SCR Z\.SCR N SYS.*", "means by system; give the judgements or the means by segment"),
    (r'\[\d+\] ".*"', "means of annotators as R prints them; give the judgements"),
    (r"( \S+){3,}", "a published matrix of p-values or differences; give the judgements"),
    (r"-?[\d.]+ -?[\d.]+ \d+ \d+ \S+", "a published ranking; give the judgements"),
    (r"([^,]+,){2,3}\d+,(TGT|BAD|REF|CHK),.*",
     "rows of Appraise that are not those of ESA or MQM, which have 12 fields in one line; "
     "write them as CSV with the columns system, segment, score, annotator and kind"),
)
# fmt: on

KNOWN = "; ".join(reader.title for reader in _READERS)
_UNKNOWN = (
    Refusal(
        "other-json",
        "JSON of a kind that is not known",
        plain.is_json,
        f"give scores with fields such as id, system, metric and score, and texts as plain lines. "
        f"Known are: {KNOWN}",
    ),
    Refusal(
        "other-markup",
        "markup of a kind that is not known",
        plain.is_markup,
        f"give plain text with one segment a line, mteval SGML or WMT XML. Known are: {KNOWN}",
    ),
)

FORMATS_READ: dict[str, Reader[Material]] = {reader.name: reader for reader in _READERS}
FORMATS_REFUSED: dict[str, Refusal] = {refusal.name: refusal for refusal in (*REFUSED, *_UNKNOWN)}
FORMATS_JUDGED = {reader.name: reader for reader in _JUDGED}
TEXT = FORMATS_READ["text"]  # what nothing else recognises


def format_of(file: File) -> Reader[Material]:
    """The format of a file.

    Raises:
        InputError: One that is known and not read; the message says what it is and what to give.
    """
    refuse_binary(file.data, file.name)
    special = [reader for reader in FORMATS_READ.values() if not reader.general]
    tables = [reader for reader in FORMATS_READ.values() if reader.general and reader != TEXT]
    candidates: list[Reader[Material] | Refusal] = [*special, *REFUSED, *tables, *_UNKNOWN, TEXT]
    for candidate in candidates:
        if candidate.sniff(file):
            if isinstance(candidate, Refusal):
                raise InputError(
                    f"{file.name} is not read: it is {candidate.title}; {candidate.advice}.",
                    field=file.name,
                )
            return candidate
    raise InputError(f"{file.name} is of no known format.", field=file.name)


def read_file(file: File) -> Material:
    """What a file brings, whatever its format.

    Raises:
        InputError: A format that is not read, or something in it that cannot be used.
    """
    if not file.data.strip():
        raise InputError(f"{file.name} is empty; one line a segment is expected.", field=file.name)
    return format_of(file).read(file)


def read_lines(file: File, role: str) -> tuple[Line, ...]:
    """The one text of a file, whatever its format.

    Args:
        file: With a text in an order that is that of the test set.
        role: What messages call it: a reference, an output, a source.

    Raises:
        InputError: Scores alone, several texts, a table whose rows are in any order.
    """
    material = read_file(file)
    lines = material.only_text(role)
    if not material.ordered:
        raise InputError(
            f"{file.name} is a table whose rows are known by their ids; it cannot stand beside "
            "plain lines. Give all of the texts with ids, or plain lines."
        )
    return lines


def read_judgements(data: bytes, name: str, input: str | None = None) -> JudgedFile | Ranked:  # noqa: A002
    """Judgements of one file.

    Args:
        data: Its bytes.
        name: What to call it in messages.
        input: Name of its format; recognised by the first line where none is named.

    Raises:
        InputError: A format that is not known, or what its reader refuses.
        LimitError: More than a million rows.
    """
    rows = data.count(b"\n")
    if rows > MAX_ROWS + 1:
        raise LimitError(
            f"{name} has {rows:,} lines; at most {MAX_ROWS:,} judgements are accepted.",
            limit="judgements",
            field=name,
        )
    file = File(name, data)
    if not file.lines:
        raise InputError(f"{name} is empty; one line a segment is expected.", field=name)
    try:
        if input is not None:
            known = FORMATS_JUDGED[choose(input, FORMATS_JUDGED, "input", "format of judgements")]
        else:
            known = _format_of_judgements(file)
        return known.read(file)
    except InputError as error:
        error.field = error.field or name
        raise


def is_judged(data: bytes, name: str) -> bool:
    """Whether a file is in a format of judgements."""
    file = File(name, data)
    return bool(file.lines) and any(known.sniff(file) for known in _JUDGED)


def _format_of_judgements(file: File) -> Reader[JudgedFile | Ranked]:
    """The format of a file of judgements.

    Raises:
        InputError: None that is known; the header of a table that lacks a column.
    """
    for known in _JUDGED:
        if known.sniff(file):
            return known
    first = judgements.first_line(file)
    for form, what in _BESIDE_JUDGEMENTS:
        if re.fullmatch(form, first.rstrip(), re.IGNORECASE):
            raise InputError(f"{file.name} holds {what}.", field=file.name)
    judgements.require_names(first, file.name)
    titles = "; ".join(f"{known.name}: {known.title}" for known in _JUDGED)
    raise InputError(
        f"{file.name} is in no format of judgements that is known ({titles}). Its first line is "
        f"{first[:60]!r}.",
        field=file.name,
        line=1,
    )
