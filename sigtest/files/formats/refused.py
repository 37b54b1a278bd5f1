"""Formats that are known and not read: what each is, how it is recognised, what to give instead.

Most are rows of patterns: of nearly all of the first lines, of the beginning of the file, or of
names that the first record or the header of a table has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sigtest.files.file import PROLOGUE, File, record_in
from sigtest.files.formats.evaluations import is_results
from sigtest.files.formats.programs import LEVEL, sniff_corpus

HUMAN = "people's judgements are for `sigtest human`; a comparison needs outputs or scores"
PLAIN = "give plain text with one segment a line"
WHOLE = "a comparison needs one score a segment, or the outputs themselves"
ROWS = "write one row a score as CSV or JSONL with the columns id, system, metric and score"
WORD = r"[A-Za-z][\w+.|/-]{0,80}"
NUMBER = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"
HUMAN_COLUMNS = re.compile(
    r"RAW\.SCR|\bHITId\b|\bWorkerId\b|judgeId|system1rank|\brater\b", re.IGNORECASE
)
HUMAN_PAIRS = ({"lp", "human"}, {"annotator", "criterion"})  # of columns, in one header
WORDS = re.compile(r"\w+")
RANKING = re.compile(r"^-?[\d.]+\s+-?[\d.]+\s+\d+\s+\d+\s+\S+\s*$")
R_OUTPUT = re.compile(r'^\[1\] ("|-?\d)')
MATRIX = re.compile(r"^\S+(\s+(-|NA|-?\d[\d.eE+-]*\**))+\s*$")
FIELD = re.compile(r"^\s*(- )?\{?[a-z_]+:(\s|$)|^---$")
FIELDS_BEGIN = re.compile(r"- \{?[a-z_]+:|---$|[a-z_]+:$")
RULE = re.compile(
    r"^\|?(\s*:?-{2,}:?\s*\|)+\s*(:?-{2,}:?\s*)?$|^\+(-+\+)+$|^-{3,}( +-{3,})+\s*$", re.MULTILINE
)
JUDGED = re.compile(r'(^|,)"?\[(PASS|FAIL|ERROR)\]')
JUDGED_SHARE = 0.3  # of lines: an answer may have several
NUMBERED = re.compile(r"(\d{1,9})[.:)]\s")
MANY = 5  # lines that are numbered by no chance
LETTER = re.compile(r"[^\W\d_]")
NEEDS_QUOTES = re.compile(r'[,"]')
QUOTED_CELL = re.compile(r'"(?=.*(,|""))([^"]|"")*+"')
# of JSON, CSV or YAML, or of a list of Python's
QUOTED = re.compile(r"""\s*(- )?"([^"\\]|""|\\.)*+",?\s*|\s*'([^'\\]|\\.)*+',?\s*|\]""")
MARKUP = {
    "html", "tmx", "xliff", "tei", "body", "table", "rss", "svg", "xml", "root", "corpus", "dataset"
}  # fmt: skip


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


def _lines(pattern: str, least: int = 1) -> Callable[[File], bool]:
    """Whether nearly all of the first lines match, of which there are some."""
    wanted = re.compile(pattern)
    return lambda file: len(file.first_lines) >= least and file.matches(wanted)


def _begins(pattern: str) -> Callable[[File], bool]:
    """Whether there is a match in the beginning of a file."""
    wanted = re.compile(pattern, re.MULTILINE)
    return lambda file: wanted.search(file.head.replace("\r\n", "\n")) is not None


def _names(*known: str, kind: str | None = None, header: bool = False) -> Callable[[File], bool]:
    """Whether the first record of JSON, or an object in it, has all these names.

    Args:
        known: Names with blanks between them; those of one text belong together.
        kind: Which kind of JSON it must be, where that matters.
        header: Whether the header of a table may have them, too.
    """
    wanted = [set(names.split()) for names in known]

    def sniff(file: File) -> bool:
        inner = [own for own in file.first.values() if isinstance(own, dict)]
        places: list[Collection[str]] = [file.first, *inner]
        if header and not file.kind:
            cells = re.split(r"[,;\t]", next(iter(file.first_lines), ""))
            places = [[cell.strip().strip('"') for cell in cells]]
        fitting = kind is None or file.kind == kind
        return fitting and any(names <= {*own} for names in wanted for own in places)

    return sniff


def _any(*sniffers: Callable[[File], bool]) -> Callable[[File], bool]:
    return lambda file: any(sniff(file) for sniff in sniffers)


def _is_judged(file: File) -> bool:
    """Tables of judgements, and what WMT's scripts make of them."""
    if file.kind or not file.first_lines:
        return False
    first = file.first_lines[0]
    cells = re.split(r"[\s,]+", first.strip())
    words = set(WORDS.findall(first.lower()))
    named = HUMAN_COLUMNS.search(first) is not None or any(pair <= words for pair in HUMAN_PAIRS)
    return (len(cells) > 3 and named) or file.matches(RANKING)


def _is_promptfoo(file: File) -> bool:
    """Results of several models, each with an id of its own, or answers judged."""
    results = record_in(file.first, "results").get("results")
    packed = isinstance(results, list) and {"evalId", "version"} & set(file.first)
    return bool(packed) or file.matches(JUDGED, JUDGED_SHARE)


def _is_averages(file: File) -> bool:
    """Scores of whole outputs or of domains, beside those of segments."""
    rows = [line.split("\t") for line in file.first_lines]
    scr = file.base.endswith(".scr") and all(len(row) in {3, 4} for row in rows)
    return LEVEL.search(file.base) is not None or scr


def _is_preferences(file: File) -> bool:
    """Which of two systems is preferred, a row a comparison: `model_a`, `model_b`, `winner`."""
    named = " ".join(file.first) if file.kind else next(iter(file.first_lines), "")
    preferred = re.search(r"(\b|_)(winner|preference|preferred)(\b|_)", named) is not None
    words = {*WORDS.findall(named)}
    return preferred and any(
        {f"{what}_{a}", f"{what}_{b}"} <= words
        for what in ("model", "system", "generator")
        for a, b in ("ab", "12")
    )


def _is_numbered(file: File) -> bool:
    """Whether lines begin with their number, as language models number what they translate."""
    found = [NUMBERED.match(line) for line in file.first_lines]
    numbers = [int(match[1]) for match in found if match]
    count = len(found)
    return count >= MANY and numbers in ([*range(count)], [*range(1, count + 1)])


def _is_quoted(file: File) -> bool:
    """Texts between quotation marks: all below the first, or those with commas and no others."""
    if file.kind:
        return False
    texts = [line for line in file.first_lines if LETTER.search(line)]
    cells = [line for line in texts if NEEDS_QUOTES.search(line)]
    return (len(texts) > 2 and all(map(QUOTED.fullmatch, texts[1:]))) or (
        len(cells) > 1 and all(map(QUOTED_CELL.fullmatch, cells))
    )


def _is_list(file: File) -> bool:
    """Lists of strings, as Python prints them: as JSON does where there is an apostrophe."""
    single = any(line.startswith("['") for line in file.first_lines)
    return single and _lines(r"""^\[(['"]).*\1\]$""")(file)


def _is_yaml(file: File) -> bool:
    """Fields, a line each."""
    begins = len(file.first_lines) > 2 and FIELDS_BEGIN.match(file.first_lines[0].rstrip())
    return bool(begins) and file.matches(FIELD)


def _is_ruled(file: File) -> bool:
    """A table of Markdown, or drawn with lines."""
    return len(file.first_lines) > 2 and RULE.search("\n".join(file.first_lines[:5])) is not None


def _is_r_output(file: File) -> bool:
    """What R prints, and matrices that it writes."""
    if file.kind or len(file.first_lines) < 2:
        return False
    if file.matches(R_OUTPUT) or file.first_lines[0].startswith("# ---"):
        return True
    body = [line.split() for line in file.first_lines if not line.startswith("#")]
    if len(body) < 2 or body[0] != [row[0] for row in body[1:]]:
        return False
    rows = [line for line in file.first_lines if not line.startswith("#")][1:]
    widths = {len(row) for row in body[1:]}
    return widths == {len(body[0]) + 1} and all(map(MATRIX.match, rows))


def _is_markup(file: File) -> bool:
    """HTML, TMX, XLIFF and other XML that is no WMT data set."""
    head = file.head.lstrip()[:2000].lower()
    named = re.match(rf"{PROLOGUE}<(!doctype\s+)?([a-z][\w:.-]*)", head, re.S)
    return named is not None and (head.startswith(("<?xml", "<!doctype")) or named[2] in MARKUP)


# fmt: off
REFUSED = (
    Refusal("sacrebleu", "sacreBLEU's report on whole outputs", sniff_corpus, WHOLE),
    Refusal("lm-eval-results", "the averages of a run of lm-evaluation-harness", is_results,
            "give the samples_*.jsonl of the same run (--log_samples writes them); results are "
            "read beside them"),
    Refusal("comet-systems", "the output of comet-score --only_system",
            _lines(r"^[^\t]+\tscore: \S+$"), "run it without --only_system, with --to_json"),
    Refusal("comet-compare-text", "the output of comet-compare",
            lambda file: "Paired T-Test Results" in file.head and "x_name:" in file.head,
            "give its JSON (--to_json), which has the scores of segments"),
    Refusal("averages", "a list of scores of whole outputs or domains", _is_averages,
            f"{WHOLE}: the .seg.score or -seg.scr file beside it"),
    # login, perhaps source, system, item, TGT or BAD, languages, score, ...
    Refusal("appraise", "a campaign of Appraise (ESA, MQM, DA)", _lines(
            r"^([^,\t]+,){2,3}\d+,(TGT|BAD|REF|CHK),[A-Za-z_-]{2,12},[A-Za-z_-]{2,12},"), HUMAN),
    # WMT25, Pearmut, Label Studio
    Refusal("judgements", "a table of people's judgements", _any(_is_judged, _names(
            "scores tgt_text doc_id", "item annotation", "annotations data"),
            _names("annotator annotation_id lead_time", header=True)), HUMAN),
    Refusal("helm", "a file of HELM", _names(
            "instance_id stats", "instance_id request", "adapter_spec request_states",
            "input references split", "name count sum", "scenario_spec adapter_spec",
            "name description tags"), ROWS),
    Refusal("promptfoo", "results of promptfoo",
            _any(_is_promptfoo, _names("promptIdx testIdx", header=True)),
            f"{ROWS}; id is testIdx, system provider.id (and the prompt where there are several)"),
    Refusal("langfuse", "an export of Langfuse",
            _names("traceId name value", "trace_id name value", header=True),
            f"{ROWS}; id is that of what was asked, not of the trace, metric name, score value"),
    Refusal("evaluations", "a log of OpenAI evals, OpenCompass, lighteval, EvalPlus, SWE-bench or "
            "DeepEval", _any(
                lambda file: {*file.first} == {"spec"},
                _names("run_id event_id type", "datasource_item_id results"),
                _names("accuracy details", "config_general results", "eval hash date",
                       "resolved_ids total_instances", "testCases", "test_cases",
                       "origin_prompt prediction", "patch_exists resolved", kind="object")),
            "write one row an item as CSV or JSONL with the columns id, system and score, which is "
            "1 for right and 0 for wrong"),
    Refusal("every-eval-ever", "a record or schema of every_eval_ever",
            _names("schema_version evaluation_id", "$schema properties"),
            f"{ROWS}; id is sample_id, system model_id, score evaluation.score"),
    Refusal("solutions", "a table of solutions, several models in one row",
            _names("is_correct solution"), f"{ROWS}, which is is_correct"),
    Refusal("preferences", "a table of preferences, two systems in one row", _is_preferences,
            "write two rows a comparison as CSV or JSONL with the columns id, system and score: 1 "
            "for the one that is preferred and 0 for the other, or 0.5 for both"),
    # fairseq and OpenNMT; bars of Moses and Marian; fairseq's hypo.word, NIST's trn; alignments
    Refusal("decoder", "output of a decoder with scores, ids or alignments beside the text", _any(
            _begins(r"^[HD]-\d+\t-\d+\.\d\S*+\t.*[^\W\d_]|^PRED \d+: .*\nPRED SCORE: "),
            _lines(r" \|\|\| |\s\((?=[A-Za-z][^\s()_-]*+[-_])[^\s()]++(?<=\d)\)\s*$"
                   r"|^\d+-\d+( \d+-\d+)+\s*$", least=2), _is_numbered),
            "give the best text of each segment alone, one line a segment in the order of the "
            "test set"),
    Refusal("meteor-output", "what METEOR prints",
            _begins(r"\AMeteor version: |^Segment \d+ score:\t"),
            "give the numbers of its segments alone, one line a segment, or its .scr file"),
    Refusal("latex", "a LaTeX document",
            _begins(r"\\begin\{(tabular|itemize|enumerate|document)|\\documentclass"), WHOLE),
    Refusal("r-output", "what R prints, a list or a matrix", _is_r_output, WHOLE),
    # score: 0.5, or BLEU = 20.1, or P: 0.9 R: 0.8, or 0.5 with a comma or a remark behind it
    Refusal("named-numbers", "a list of numbers with something beside each", _lines(
            rf"^\s*({WORD}\s*[:=]\s*{NUMBER}[,;%]?(\s+|$))+$|^\s*{NUMBER}\s*([,;]\s*$|\s(#|//))",
            least=2), "write the numbers alone, one line a segment, or a table with named columns"),
    Refusal("python", "dictionaries or lists as Python prints them",
            _any(_lines(r"^\[?\{'[^']*': .*\}\]?$"), _is_list),
            "write records as JSON, one a line: json.dumps(record), and texts as plain lines"),
    Refusal("quoted", "lines between quotation marks, as JSON or a table of one column has them",
            _is_quoted,
            "write texts as plain lines without them, or as a table with the columns id and "
            "hypothesis or reference"),
    Refusal("rich-text", "rich text (RTF)", _begins(r"\A\{\\rtf\d"), PLAIN),
    # SubRip and WebVTT, YouTube's SBV, SubStation Alpha: times, then text
    Refusal("subtitles", "subtitles", _begins(
            r"^(\d+:)?\d+:\d\d[.,]\d{3}( --> |,(\d+:)?\d+:\d\d\.\d{3}$)|\A\[Script Info\]"), PLAIN),
    # file, channel, perhaps speaker, two times, then text
    Refusal("transcript", "a transcript with times (stm or ctm)", _begins(
            r"\A(;;.*\n)*[^\s;]\S*[ \t]+\w{1,2}[ \t]+(\S+[ \t]+)?\d+\.\d+[ \t]+\d+\.\d+[ \t]+"
            r"(?![-+\d])\S"), PLAIN),
    Refusal("gettext", "a catalogue of messages (gettext)", _begins(r'^msgid ".*"\nmsgstr'), PLAIN),
    Refusal("treebank", "a treebank, one word a line",
            _lines(r"^\d+\t\S+\t\S+\t[A-Z_]+\b|^# \w+ = ", least=2), PLAIN),
    Refusal("yaml", "YAML", _is_yaml,
            "write scores as CSV or JSONL with columns such as id, system and score, and texts as "
            "plain lines"),
    Refusal("ruled", "a table drawn with lines, as in Markdown", _is_ruled,
            "write it as CSV or JSONL with columns such as id, system and score"),
    Refusal("markup", "markup such as HTML, TMX or XLIFF", _is_markup,
            "give plain text with one segment a line, mteval SGML or WMT XML"),
)
# fmt: on
