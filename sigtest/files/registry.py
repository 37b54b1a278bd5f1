"""Formats of files, by name: how each is recognised and read, or why it is not.

A format that people bring is one function and one line here. Documentation and messages are made
of these lines. Of formats that are not read, most are rows of patterns: of nearly all of the first
lines, of the beginning of the file, or of names that the first record or the header of a table has.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sigtest.data.names import choose
from sigtest.data.text import refuse_binary
from sigtest.errors import InputError, LimitError
from sigtest.files import judgements, tables
from sigtest.files.file import PROLOGUE, File
from sigtest.files.formats import columns, evaluations, people, preferences, programs, wmt
from sigtest.files.judgements import JudgedFile
from sigtest.files.material import Material

MAX_ROWS = 1_000_000  # of judgements


Source = TypeVar("Source")  # a file, or the files of a folder or archive
Content = TypeVar("Content")


@dataclass(frozen=True)
class Reader(Generic[Source, Content]):
    """A format that is read, of a file or of several.

    Attributes:
        name: What options and tests call it.
        title: What messages and pages call it.
        sniff: Whether a file is of this format, judged by its content.
        read: Reads it; of several files a second argument says what to do where they do not match.
        suffixes: That such files usually have; they decide nothing.
        general: Whether it takes what no other format recognises.
    """

    name: str
    title: str
    sniff: Callable[[Source], bool]
    read: Callable[..., Content]
    suffixes: tuple[str, ...] = ()
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


def _lines(
    pattern: str | re.Pattern[str], least: int = 1, share: float = 0.9
) -> Callable[[File], bool]:
    """Whether so many of the first lines match, of which there are some."""
    compiled = re.compile(pattern)
    return lambda file: len(file.first_lines) >= least and file.matches(compiled, share)


def _begins(pattern: str) -> Callable[[File], bool]:
    """Whether there is a match in the beginning of a file."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda file: compiled.search(file.head.replace("\r\n", "\n")) is not None


def _names(
    *known: str, kind: str | None = None, header: str | None = None
) -> Callable[[File], bool]:
    """Whether the first record of JSON, an object in it, or a header has all these names.

    Args:
        known: Names with blanks between them; those of one text belong together.
        kind: Which kind of JSON it must be, where that matters.
        header: What stands between names of a table's header, which may have them, too.
    """
    together = [set(names.lower().split()) for names in known]

    def sniff(file: File) -> bool:
        inner = [own for own in file.first.values() if isinstance(own, dict)]
        places: list[Collection[str]] = [file.first, *inner]
        if header is not None and not file.kind:
            places = [re.split(header, judgements.first_line(file))]
        found = [{name.strip(' "').lower() for name in place} for place in places]
        fitting = kind is None or file.kind == kind
        return fitting and any(names <= own for names in together for own in found)

    return sniff


def _any(*sniffers: Callable[[File], bool]) -> Callable[[File], bool]:
    return lambda file: any(sniff(file) for sniff in sniffers)


def _all(*sniffers: Callable[[File], bool]) -> Callable[[File], bool]:
    return lambda file: all(sniff(file) for sniff in sniffers)


JUDGED = re.compile(r'(^|,)"?\[(PASS|FAIL|ERROR)\]')  # an answer may have several lines


# of JSON, CSV or YAML, or of a list of Python's
QUOTED = re.compile(r"""\s*(- )?"([^"\\]|""|\\.)*+",?\s*|\s*'([^'\\]|\\.)*+',?\s*|\]""")
QUOTED_CELL = re.compile(r'"(?=.*(,|""))([^"]|"")*+"')


LIST = re.compile(r"""^\[(['"]).*\1\]$""")


def _is_quoted(file: File) -> bool:
    """Texts between quotation marks: all below the first, or those with commas and no others.

    Or lists of them, as Python prints these: as JSON does where there is an apostrophe.
    """
    if any(line.startswith("['") for line in file.first_lines) and file.matches(LIST):
        return True
    texts = [line for line in file.first_lines if not file.kind and re.search(r"[^\W\d_]", line)]
    cells = [line for line in texts if re.search('[,"]', line)]
    below = len(texts) > 2 and all(map(QUOTED.fullmatch, texts[1:]))
    return below or (len(cells) > 1 and all(map(QUOTED_CELL.fullmatch, cells)))


RULE = (  # below the header of a table in Markdown, or drawn with lines
    r"^\|?(\s*:?-{2,}:?\s*\|)+\s*(:?-{2,}:?\s*)?$|^\+(-+\+)+$|^-{3,}( +-{3,})+\s*$"
)


MATRIX = re.compile(r"^\S+(\s+(-|NA|-?\d[\d.eE+-]*\**))+\s*$")
R_OUTPUT = re.compile(r'^\[1\] ("|-?\d)')


def _is_r_output(file: File) -> bool:
    """What R prints, and matrices that it writes."""
    if file.kind or len(file.first_lines) < 2:
        return False
    if file.matches(R_OUTPUT) or file.first_lines[0].startswith("# ---"):
        return True
    lines = [line for line in file.first_lines if not line.startswith("#")]
    names, *rows = [line.split() for line in lines] or [[]]
    square = bool(rows) and names == [row[0] for row in rows]
    wide = all(len(row) == len(names) + 1 for row in rows)
    return square and wide and all(map(MATRIX.match, lines[1:]))


MARKUP = "html|tmx|xliff|tei|body|table|rss|svg|xml|root|corpus|dataset"
HUMAN = "give it to a human evaluation (`sigtest human`); a comparison needs outputs or scores"
WHOLE = "a comparison needs one score a segment, or the outputs themselves"
ROWS = (
    "write one row a score as CSV or JSONL with the columns id, system, metric and score, which is "
    "1 for right and 0 for wrong; id is that of what was asked, not of a run or a trace"
)
# login, perhaps source, system, item, TGT or BAD, languages, score, ...
APPRAISE = r'^([^,\t]+,){3,4}"?(TGT|BAD|REF|CHK)"?,("?[A-Za-z_-]{2,12}"?,){2}'
SHARED = {"mtme", "preferences", "columns"}  # forms that scores have, too
EXPORTED = "annotator item_type task_type"  # Appraise's JSON Lines
WORD = r"[A-Za-z][\w+.|/-]{0,80}"
FIGURE = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"
# fmt: off
_READERS: tuple[Reader[File, Material], ...] = (
    Reader("wmt-xml", "WMT XML", _begins(wmt.START), wmt.read_wmt, (".xml",)),
    Reader("sgml", "mteval SGML", _begins(wmt.SGML_START), wmt.read_sgml,
           (".sgm", ".sgml", ".xml")),
    Reader("wmt25", "WMT25 JSONL", wmt.sniff_wmt25, wmt.read_wmt25, (".jsonl",)),
    Reader("inspect-json", "a log of Inspect AI (JSON)",
           _names("eval status plan", "eval status stats", kind="object"),
           programs.read_inspect, (".json",)),
    Reader("lm-eval", "samples of lm-evaluation-harness",
           _names("doc_id resps", "doc_id filtered_resps", "doc_id arguments", "doc_id truth",
                  "doc_id prompt_0"), programs.read_lm_eval, (".jsonl", ".json")),
    Reader("promptfoo", "results of promptfoo", evaluations.sniff_promptfoo,
           evaluations.read_promptfoo, (".json", ".jsonl")),
    Reader("deepeval", "a test run of DeepEval", evaluations.sniff_deepeval,
           evaluations.read_deepeval, (".json",)),
    Reader("swe-bench", "a report of SWE-bench",
           _any(_names("resolved_ids", "resolved", kind="object"),
                _names("instance_id test_result")), evaluations.read_swebench, (".json", ".jsonl")),
    Reader("human-eval", "samples that HumanEval's harness ran", _names("task_id passed"),
           evaluations.read_samples, (".jsonl",)),
    Reader("trec-eval", "output of trec_eval -q",
           _lines(rf"^({evaluations.MEASURE.pattern})\s+\S+\s+\S", least=2), evaluations.read_trec,
           (".txt", ".eval")),
    Reader("pytrec-eval", "measures by query of pytrec_eval", evaluations.sniff_pytrec,
           evaluations.read_pytrec, (".json",)),
    Reader("comet-json", "JSON of comet-score", programs.sniff_comet_json,
           programs.read_comet, (".json",)),
    Reader("comet-compare", "JSON of comet-compare",
           _names("statistical_results translations", kind="object"),
           programs.read_comet, (".json",)),
    Reader("trn", "transcripts with ids (NIST's trn)", programs.sniff_trn, programs.read_trn,
           (".trn",)),
    Reader("comet-text", "output of comet-score", _lines(programs.SEGMENT, share=0),
           programs.read_comet_text, (".txt",)),
    Reader("sacrebleu-sentences", "output of sacrebleu -sl", programs.sniff_sentences,
           programs.read_sentences, (".txt",)),
    Reader("meteor", "segment scores of METEOR or mteval (.scr)", programs.sniff_meteor,
           programs.read_meteor, (".scr",)),
    Reader("seg-score", "segment scores of mt-metrics-eval (.seg.score)",
           programs.sniff_seg_scores, programs.read_seg_scores, (".seg.score",)),
    Reader("split", "a table of W&B or MLflow, columns apart from rows", tables.is_split,
           columns.read, (".json",)),
    Reader("columns", "a table with named columns", columns.sniff, columns.read,
           (".csv", ".tsv", ".jsonl", ".json"), general=True),
    Reader("numbers", "numbers, one line a segment", columns.sniff_numbers, columns.read_numbers,
           (".txt", ".num"), general=True),
    Reader("text-columns", "columns of text between tabs",
           _all(_lines("\t", least=columns.TABULAR), lambda file: not file.kind),
           columns.read_columns, (".tsv",), general=True),
    Reader("text", "plain text, one line a segment", lambda file: True, columns.read_text,
           (".txt",), general=True),
)
_JUDGED: tuple[Reader[File, JudgedFile], ...] = (
    Reader("wmt_da", "WMT direct assessment, raw or standardised (HITId WorkerId ... score time)",
           _names("workerid sys_id sid score", header=r"\s+"), people.read_da),
    Reader("wmt_da_segments", "WMT direct assessment, means by segment (SYS SID RAW.SCR Z.SCR N)",
           _names("sid raw.scr", "sid z.scr", "sid human", header=r"\s+"), people.read_da_segments),
    Reader("mqm", "MQM, one row an error (Google's TSV)",
           _names("system rater category severity", header="\t"), people.read_mqm),
    Reader("rnk", "WMT rankings of outputs (CSV)",
           _names("system1id system1rank judgeid", header=","), people.read_rankings),
    Reader("esa", "Appraise export", _any(_lines(APPRAISE, share=0.5), _names(EXPORTED)),
           people.read_esa),
    Reader("mtme", "mt-metrics-eval .seg.score", people.sniff_mtme, people.read_mtme),
    Reader("wmt25", "human evaluation of WMT25 (JSON Lines)", _names("doc_id tgt_text scores"),
           people.read_waves),
    Reader("pearmut", "Pearmut's log of a campaign (JSON Lines)",
           _names("annotation item user_id"), people.read_pearmut),
    Reader("games", "pairs of games of FastChat (MT-bench) or Arena-Hard (JSON Lines)",
           _names("model_1 model_2 g1_winner g2_winner", "model judge games"),
           preferences.read_preferences),
    Reader("preferences",
           "comparisons of two systems, such as battles of arenas or annotations of AlpacaEval",
           lambda file: preferences.sniff_preferences(file, decided=False),
           preferences.read_preferences),
    Reader("columns", "CSV, TSV or JSON with named columns",
           judgements.sniff_judged_columns,
           judgements.read_judged_columns, general=True),
)
KNOWN = "; ".join(reader.title for reader in _READERS)
_REFUSED = (
    Refusal("lm-eval-results", "the averages of a run of lm-evaluation-harness",
            _names("results configs versions", kind="object"),
            "give the samples_*.jsonl of the same run (--log_samples writes them); results are "
            "read beside them"),
    Refusal("averages", "scores of whole outputs or domains, as sacreBLEU, comet-score "
            "--only_system, comet-compare and mt-metrics-eval write them", _any(
            programs.sniff_corpus, lambda file: programs.LEVEL.search(file.base) is not None,
            _all(lambda file: file.base.endswith(".scr"), _lines(r"^([^\t]*\t){2,3}[^\t]*$")),
            _lines(r"^[^\t]+\tscore: \S+$"),
            _begins(r"^Paired T-Test Results|^x_name: .*\ny_name: ")),
            f"{WHOLE}: the .seg.score or -seg.scr file beside it, or comet-score without "
            "--only_system (--to_json has all digits)"),
    Refusal("judgements", "a table of people's judgements or preferences, or a campaign of "
            "Appraise", _any(
                *(own.sniff for own in _JUDGED if own.name not in SHARED),
                preferences.sniff_preferences,
                _lines(r"^-?[\d.]+\s+-?[\d.]+\s+\d+\s+\d+\s+\S+\s*$"),
                # also what WMT's scripts make of judgements, and Label Studio
                _all(lambda file: not file.kind,
                     _names("workerid score", "lp human", "annotator criterion",
                            header=r"[\s,;]+")),
                _names("annotations data", "model_1 g1_winner"),
                _names("annotator annotation_id lead_time", header=r"[,;\t]")), HUMAN),
    Refusal("evaluations", "a log of Langfuse, promptfoo, HELM or every_eval_ever", _any(
                _lines(JUDGED, share=0.3), _begins(r"^<promptfoo>|^evalId: |,Grader Reason\b"),
                _names("promptIdx testIdx", "traceId name value", "trace_id name value",
                       "schema_version evaluation_id", "input references split", header=r"[,;\t]")),
            f"{ROWS}; of promptfoo give the JSON (--output results.json)"),
    # decoders: fairseq and OpenNMT; bars of Moses and Marian; fairseq's hypo.word;
    # alignments; numbers of lines, as language models write them
    Refusal("foreign", "neither plain text nor a table with named columns, but what a program "
            "prints (a decoder, METEOR, Python or R), YAML, LaTeX, lines drawn round cells, lines "
            "between quotation marks, subtitles, a transcript (stm or ctm), a treebank, a "
            "catalogue of messages or RTF", _any(
                _begins(r"^[HD]-\d+\t-\d+\.\d\S*+\t.*[^\W\d_]|^PRED \d+: .*\nPRED SCORE: "),
                _lines(r" \|\|\| |\s\(None-\d+\)\s*$|^\d+-\d+( \d+-\d+)+\s*$", least=2),
                _lines(r"^\d{1,9}[.:)]\s", least=5),
                # score: 0.5, or BLEU = 20.1, or P: 0.9 R: 0.8, or 0.5 with a comma or a remark
                _begins(r"\AMeteor version: |^Segment \d+ score:\t"),
                _lines(rf"^\s*({WORD}\s*[:=]\s*{FIGURE}[,;%]?(\s+|$))+$"
                       rf"|^\s*{FIGURE}\s*([,;]\s*$|\s(#|//))", least=2),
                _begins(r"\\begin\{(tabular|itemize|enumerate|document)|\\documentclass"),
                _begins(rf"\A\s*+(.*\n){{1,4}}({RULE})"), _is_r_output, _is_quoted,
                _all(_begins(r"\A\s*(- \{?\w+:|---\s*$|\w+:\s*$)|^\w+:\s*\n\s+(- )?\w+:(\s|$)"),
                     _lines(r"^\s*(- )*\{?\w+:(\s|$)|^---$", least=3, share=0.7)),
                _lines(r"^\[?\{'[^']*': .*\}\]?$"),
                # SubRip and WebVTT, YouTube's SBV, SubStation Alpha: times, then text
                _begins(r"^(\d+:)?\d+:\d\d[.,]\d{3}( --> |,(\d+:)?\d+:\d\d\.\d{3}$)"
                        r"|\A\[Script Info\]|\A\{\\rtf\d|" r'^msgid ".*"\nmsgstr'),
                # stm and ctm: file, channel, perhaps speaker, two times, then text
                _begins(r"\A(;;.*\n)*[^\s;]\S*[ \t]+\w{1,2}[ \t]+(\S+[ \t]+)?\d+\.\d+[ \t]+"
                        r"\d+\.\d+[ \t]+(?![-+\d])\S"),
                _lines(r"^\d+\t\S+\t\S+\t[A-Z_]+\b|^# \w+ = ", least=2)),
            "write scores as CSV or JSONL with the columns id, system, metric and score, records "
            "by json.dumps, and texts as plain lines, one a segment"),
    Refusal("markup", "markup such as HTML, TMX or XLIFF", _begins(
            rf"(?is)\A{PROLOGUE}<(!doctype\s|({MARKUP})(?![\w:.-]))|\A\s*<(\?xml|!doctype\s)"),
            "give plain text with one segment a line, mteval SGML or WMT XML"),
)
_UNKNOWN = (
    Refusal("other-json", "JSON of a kind that is not known", columns.is_json,
            f"{ROWS}; and texts as plain lines"),
    Refusal("other-markup", "markup of a kind that is not known",
            # lines that are nothing but tags, or end with one; or nearly all begin with one
            _any(_lines(columns.TAG_ONLY, share=columns.MARKUP_SHARE), _lines(columns.TAGGED)),
            f"give plain text with one segment a line, mteval SGML or WMT XML. Known are: {KNOWN}"),
)
# fmt: on

FORMATS_READ: dict[str, Reader[File, Material]] = {reader.name: reader for reader in _READERS}
FORMATS_REFUSED: dict[str, Refusal] = {own.name: own for own in (*_REFUSED, *_UNKNOWN)}
FORMATS_JUDGED = {reader.name: reader for reader in _JUDGED}


def format_of(file: File) -> Reader[File, Material]:
    """The format of a file.

    Raises:
        InputError: One that is known and not read; the message says what it is and what to give.
    """
    refuse_binary(file.data, file.name)
    readers, text = [*FORMATS_READ.values()], FORMATS_READ["text"]
    special = [reader for reader in readers if not reader.general]
    general = [reader for reader in readers if reader.general and reader != text]
    candidates: list[Reader[File, Material] | Refusal] = [*special, *_REFUSED, *general, *_UNKNOWN]
    for candidate in candidates:
        if candidate.sniff(file):
            if isinstance(candidate, Reader):
                return candidate
            raise InputError(
                f"{file.name} is not read: it is {candidate.title}; {candidate.advice}.",
                field=file.name,
            )
    return text  # what nothing else recognises


def read_file(file: File) -> Material:
    """What a file brings, whatever its format.

    Raises:
        InputError: A format that is not read, or something in it that cannot be used.
    """
    if not file.data.strip():
        raise InputError(f"{file.name} is empty; one line a segment is expected.", field=file.name)
    known = format_of(file)
    return replace(known.read(file), format=known.title)


def read_judgements(data: bytes, name: str, input: str | None = None) -> JudgedFile:  # noqa: A002
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
            choose(input, FORMATS_JUDGED, "input", "format of judgements")
        known = _format_of_judgements(file) if input is None else FORMATS_JUDGED[input]
        return known.read(file)
    except InputError as error:
        error.field = error.field or name
        raise


def is_judged(data: bytes, name: str) -> bool:
    """Whether a file is in a format of judgements."""
    file = File(name, data)
    return bool(file.lines) and any(known.sniff(file) for known in _JUDGED)


def _format_of_judgements(file: File) -> Reader[File, JudgedFile]:
    """The format of a file of judgements.

    Raises:
        InputError: None that is known; the header of a table that lacks a column.
    """
    for known in _JUDGED:
        if known.sniff(file):
            return known
    if len(judgements.judged_roles(file)) >= len(judgements.NEEDED):
        return FORMATS_JUDGED["columns"]  # which says what it lacks
    titles = "; ".join(f"{known.name}: {known.title}" for known in _JUDGED)
    raise InputError(
        f"{file.name} is in no format of judgements that is known ({titles}). Its first line is "
        f"{judgements.first_line(file)[:60]!r}. Write a judgement a row: CSV with the columns "
        "system, segment, score and annotator; or a comparison a row: a, b, winner, item, judge.",
        line=1,
    )
