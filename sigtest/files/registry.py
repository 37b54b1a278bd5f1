"""Formats of files, by name: how each is recognised and read, or why it is not.

A format that people bring is one function and one line here. Documentation and messages are made
of these lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sigtest.data.binary import refuse_binary
from sigtest.errors import InputError
from sigtest.files import columns
from sigtest.files.file import File
from sigtest.files.formats import evaluations, plain, programs, refused, wmt
from sigtest.files.material import Line, Material

HUMAN = "people's judgements are for `sigtest human`; a comparison needs outputs or scores"
PLAIN = "give plain text with one segment a line"
WHOLE = "a comparison needs one score a segment, or the outputs themselves"


@dataclass(frozen=True)
class Reader:
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
    read: Callable[[File], Material]
    general: bool = False


@dataclass(frozen=True)
class Refusal:
    """A format that is known and not read.

    Attributes:
        name: What tests call it.
        title: What messages and pages call it.
        sniff: Whether a file is of this format.
        advice: What to give instead.
    """

    name: str
    title: str
    sniff: Callable[[File], bool]
    advice: str


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
           columns.sniff_split, columns.read_split),
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
_REFUSALS = (
    Refusal("sacrebleu", "sacreBLEU's report on whole outputs", programs.sniff_corpus, WHOLE),
    Refusal("lm-eval-results", "the averages of a run of lm-evaluation-harness",
            evaluations.is_results,
            "give the samples_*.jsonl of the same run (--log_samples writes them); results are "
            "read beside them"),
    Refusal("comet-systems", "the output of comet-score --only_system", refused.is_comet_systems,
            "run it without --only_system, with --to_json"),
    Refusal("comet-compare-text", "the output of comet-compare", refused.is_comet_compare,
            "give its JSON (--to_json), which has the scores of segments"),
    Refusal("averages", "a list of scores of whole outputs or domains", refused.is_averages,
            f"{WHOLE}: the .seg.score or -seg.scr file beside it"),
    Refusal("appraise", "a campaign of Appraise (ESA, MQM, DA)", refused.is_appraise, HUMAN),
    Refusal("judgements", "a table of people's judgements", refused.is_human, HUMAN),
    Refusal("helm", "a file of HELM", refused.is_helm,
            "write its instances as CSV or JSONL with the columns id, system, metric and score"),
    Refusal("promptfoo", "results of promptfoo", refused.is_promptfoo,
            "write them as CSV or JSONL with the columns id (testIdx), system (provider.id, and "
            "the prompt where there are several) and score"),
    Refusal("langfuse", "an export of Langfuse", refused.is_langfuse,
            "write its scores as CSV or JSONL with the columns id (of what was asked, not of the "
            "trace), system, metric (name) and score (value)"),
    Refusal("evaluations", "a log of OpenAI evals, OpenCompass, lighteval, EvalPlus, SWE-bench or "
            "DeepEval", refused.is_evaluation,
            "write one row an item as CSV or JSONL with the columns id, system and score, which is "
            "1 for right and 0 for wrong"),
    Refusal("every-eval-ever", "a record or schema of every_eval_ever", refused.is_every_eval_ever,
            "write its samples as JSONL with id (sample_id), system (model_id) and score "
            "(evaluation.score)"),
    Refusal("solutions", "a table of solutions, several models in one row", refused.is_solutions,
            "write them as CSV or JSONL with the columns id, system and score (is_correct)"),
    Refusal("preferences", "a table of preferences, two systems in one row", refused.is_preferences,
            "write two rows a comparison as CSV or JSONL with the columns id, system and score: 1 "
            "for the one that is preferred and 0 for the other, or 0.5 for both"),
    Refusal("decoder", "output of a decoder with scores, ids or alignments beside the text",
            refused.is_decoded,
            "give the best text of each segment alone, one line a segment in the order of the "
            "test set"),
    Refusal("meteor-output", "what METEOR prints", refused.is_meteor_output,
            "give the numbers of its segments alone, one line a segment, or its .scr file"),
    Refusal("latex", "a LaTeX document", refused.is_latex, WHOLE),
    Refusal("r-output", "what R prints, a list or a matrix", refused.is_r_output, WHOLE),
    Refusal("named-numbers", "a list of numbers with something beside each",
            refused.is_named_numbers,
            "write the numbers alone, one line a segment, or a table with named columns"),
    Refusal("python", "dictionaries or lists as Python prints them", refused.is_python,
            "write records as JSON, one a line: json.dumps(record), and texts as plain lines"),
    Refusal("quoted", "lines between quotation marks, as JSON or a table of one column has them",
            refused.is_quoted,
            "write texts as plain lines without them, or as a table with the columns id and "
            "hypothesis or reference"),
    Refusal("rich-text", "rich text (RTF)", refused.is_rich_text, PLAIN),
    Refusal("subtitles", "subtitles", refused.is_subtitles, PLAIN),
    Refusal("transcript", "a transcript with times (stm or ctm)", refused.is_transcript, PLAIN),
    Refusal("gettext", "a catalogue of messages (gettext)", refused.is_catalogue, PLAIN),
    Refusal("treebank", "a treebank, one word a line", refused.is_treebank, PLAIN),
    Refusal("yaml", "YAML", refused.is_yaml,
            "write scores as CSV or JSONL with columns such as id, system and score, and texts as "
            "plain lines"),
    Refusal("ruled", "a table drawn with lines, as in Markdown", refused.is_ruled,
            "write it as CSV or JSONL with columns such as id, system and score"),
    Refusal("markup", "markup such as HTML, TMX or XLIFF", refused.is_other_markup,
            "give plain text with one segment a line, mteval SGML or WMT XML"),
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

FORMATS_READ: dict[str, Reader] = {reader.name: reader for reader in _READERS}
FORMATS_REFUSED: dict[str, Refusal] = {refusal.name: refusal for refusal in (*_REFUSALS, *_UNKNOWN)}
TEXT = FORMATS_READ["text"]  # what nothing else recognises


def format_of(file: File) -> Reader:
    """The format of a file.

    Raises:
        InputError: One that is known and not read; the message says what it is and what to give.
    """
    refuse_binary(file.data, file.name)
    special = [reader for reader in FORMATS_READ.values() if not reader.general]
    tables = [reader for reader in FORMATS_READ.values() if reader.general and reader != TEXT]
    known = [refusal for refusal in FORMATS_REFUSED.values() if refusal not in _UNKNOWN]
    candidates: list[Reader | Refusal] = [*special, *known, *tables, *_UNKNOWN, TEXT]
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
