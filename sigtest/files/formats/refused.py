"""Formats that are known and not read: what each is, and what to give instead."""

from __future__ import annotations

import re
from collections.abc import Callable

from sigtest.files.file import PROLOGUE, File, record_in
from sigtest.files.formats.programs import LEVEL

HUMAN_COLUMNS = re.compile(
    r"RAW\.SCR|\bHITId\b|\bWorkerId\b|judgeId|system1rank|\brater\b", re.IGNORECASE
)
HUMAN_PAIRS = ({"lp", "human"}, {"annotator", "criterion"})  # of columns, in one header
PAIRED = tuple(
    {f"{what}_{a}", f"{what}_{b}"}
    for what in ("model", "system", "generator")
    for a, b in ("ab", "12")
)
WORDS = re.compile(r"\w+")
PREFERRED = re.compile(r"(\b|_)(winner|preference|preferred)(\b|_)")
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
EVALUATIONS = (  # fields of one object
    {"accuracy", "details"},  # OpenCompass
    {"config_general", "results"},  # lighteval
    {"eval", "hash", "date"},  # EvalPlus
    {"resolved_ids", "total_instances"},  # SWE-bench
    {"testCases"}, {"test_cases"},  # DeepEval
)  # fmt: skip
EVENTS = ({"run_id", "event_id", "type"}, {"datasource_item_id", "results"})  # of OpenAI evals
ANNOTATED = (  # fields of one record
    {"scores", "tgt_text", "doc_id"},  # of WMT25
    {"item", "annotation"},  # of Pearmut
    {"annotations", "data"},  # of Label Studio
)
ITEMS = ({"origin_prompt", "prediction"}, {"patch_exists", "resolved"})  # in one field an item
NUMBERED = re.compile(r"(\d{1,9})[.:)]\s")
MANY = 5  # lines that are numbered by no chance
LETTER = re.compile(r"[^\W\d_]")
NEEDS_QUOTES = re.compile(r'[,"]')
QUOTED_CELL = re.compile(r'"(?=.*(,|""))([^"]|"")*+"')
# of JSON, CSV or YAML, or of a list of Python's
QUOTED = re.compile(r"""\s*(- )?"([^"\\]|""|\\.)*+",?\s*|\s*'([^'\\]|\\.)*+',?\s*|\]""")
WORD = r"[A-Za-z][\w+.|/-]{0,80}"
NUMBER = r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?"


def _lines(pattern: str, least: int = 1) -> Callable[[File], bool]:
    """Whether nearly all of the first lines match, of which there are some."""
    wanted = re.compile(pattern)
    return lambda file: len(file.first_lines) >= least and file.matches(wanted)


def _begins(pattern: str) -> Callable[[File], bool]:
    """Whether there is a match in the beginning of a file."""
    wanted = re.compile(pattern, re.MULTILINE)
    return lambda file: wanted.search(file.head.replace("\r\n", "\n")) is not None


# Appraise's campaigns: login, perhaps source, system, item, TGT or BAD, languages, score, ...
is_appraise = _lines(r"^([^,\t]+,){2,3}\d+,(TGT|BAD|REF|CHK),[A-Za-z_-]{2,12},[A-Za-z_-]{2,12},")
# The lines of comet-score --only_system.
is_comet_systems = _lines(r"^[^\t]+\tscore: \S+$")
# score: 0.5, or BLEU = 20.1, or P: 0.9 R: 0.8, or 0.5 with a comma or a remark behind it.
is_named_numbers = _lines(
    rf"^\s*({WORD}\s*[:=]\s*{NUMBER}[,;%]?(\s+|$))+$|^\s*{NUMBER}\s*([,;]\s*$|\s(#|//))", least=2
)
# A word a line, as CoNLL-U has them.
is_treebank = _lines(r"^\d+\t\S+\t\S+\t[A-Z_]+\b|^# \w+ = ", least=2)
is_rich_text = _begins(r"\A\{\\rtf\d")
# NIST's stm and ctm: file, channel, perhaps speaker, two times, then text.
is_transcript = _begins(
    r"\A(;;.*\n)*[^\s;]\S*[ \t]+\w{1,2}[ \t]+(\S+[ \t]+)?\d+\.\d+[ \t]+\d+\.\d+[ \t]+(?![-+\d])\S"
)
# METEOR's standard output, which names no system.
is_meteor_output = _begins(r"\AMeteor version: |^Segment \d+ score:\t")
# SubRip and WebVTT, YouTube's SBV, SubStation Alpha: times, then text.
is_subtitles = _begins(
    r"^(\d+:)?\d+:\d\d[.,]\d{3}( --> |,(\d+:)?\d+:\d\d\.\d{3}$)|\A\[Script Info\]"
)
# Messages of gettext.
is_catalogue = _begins(r'^msgid ".*"\nmsgstr')
is_latex = _begins(r"\\begin\{(tabular|itemize|enumerate|document)|\\documentclass")


# What fairseq and OpenNMT print: hypotheses with their scores, among other lines.
_is_printed = _begins(r"^[HD]-\d+\t-\d+\.\d\S*+\t.*[^\W\d_]|^PRED \d+: .*\nPRED SCORE: ")
# Bars of Moses and Marian; ids of fairseq's hypo.word files and NIST's trn; word alignments.
_has_more = _lines(
    r" \|\|\| |\s\((?=[A-Za-z][^\s()_-]*+[-_])[^\s()]++(?<=\d)\)\s*$|^\d+-\d+( \d+-\d+)+\s*$",
    least=2,
)


def is_decoded(file: File) -> bool:
    """Output of a decoder with more than the text, such as n-best lists."""
    return _is_printed(file) or _has_more(file) or _is_numbered(file)


def _is_numbered(file: File) -> bool:
    """Whether lines begin with their number, as language models number what they translate."""
    found = [NUMBERED.match(line) for line in file.first_lines]
    numbers = [int(match[1]) for match in found if match]
    count = len(found)
    return count >= MANY and numbers in ([*range(count)], [*range(1, count + 1)])


def is_quoted(file: File) -> bool:
    """Texts between quotation marks: all below the first, or those with commas and no others."""
    if file.kind:
        return False
    texts = [line for line in file.first_lines if LETTER.search(line)]
    cells = [line for line in texts if NEEDS_QUOTES.search(line)]
    return (len(texts) > 2 and all(map(QUOTED.fullmatch, texts[1:]))) or (
        len(cells) > 1 and all(map(QUOTED_CELL.fullmatch, cells))
    )


# Python quotes as JSON does where there is an apostrophe.
_is_dictionary = _lines(r"^\[?\{'[^']*': .*\}\]?$")
_is_list = _lines(r"""^\[(['"]).*\1\]$""")


def is_python(file: File) -> bool:
    """Dictionaries, or lists of strings, as Python prints them."""
    single = any(line.startswith("['") for line in file.first_lines)
    return _is_dictionary(file) or (single and _is_list(file))


def _has(*names: str) -> Callable[[File], bool]:
    """Whether the first record, or the header of a table, has all these names."""
    wanted = set(names)
    return lambda file: wanted <= set(file.first or _cells(next(iter(file.first_lines), "")))


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in re.split(r"[,;\t]", line)]


is_promptfoo_row = _has("promptIdx", "testIdx")
is_label_studio = _has("annotator", "annotation_id", "lead_time")


def is_promptfoo(file: File) -> bool:
    """Results of promptfoo: of several models, each with an id of its own, or answers judged."""
    results = record_in(file.first, "results").get("results")
    packed = isinstance(results, list) and {"evalId", "version"} & set(file.first)
    return bool(packed) or is_promptfoo_row(file) or file.matches(JUDGED, JUDGED_SHARE)


def is_langfuse(file: File) -> bool:
    """Scores of several names, each with an id of its own."""
    return any(_has(trace, "name", "value")(file) for trace in ("traceId", "trace_id"))


def is_helm(file: File) -> bool:
    """HELM's statistics of instances or runs, and what it writes beside them."""
    fields = set(file.first)
    return (
        {"instance_id", "stats"} <= fields
        or {"instance_id", "request"} <= fields
        or {"adapter_spec", "request_states"} <= fields
        or {"input", "references", "split"} <= fields
        or ({"name", "count", "sum"} <= fields and isinstance(file.first["name"], dict))
        or {"scenario_spec", "adapter_spec"} <= fields
        or {"name", "description", "tags"} <= fields
    )


def is_evaluation(file: File) -> bool:
    """Logs of other programs, each of which names its items in a way of its own."""
    fields = set(file.first)
    if file.kind != "object":
        return fields == {"spec"} or any(known <= fields for known in EVENTS)
    item = next(iter(file.first.values()), None)
    of_item = set(item) if isinstance(item, dict) else set()
    return any(known <= fields for known in EVALUATIONS) or any(known <= of_item for known in ITEMS)


def is_every_eval_ever(file: File) -> bool:
    """Records of every_eval_ever, or their schemas."""
    fields = set(file.first)
    return {"schema_version", "evaluation_id"} <= fields or {"$schema", "properties"} <= fields


def is_solutions(file: File) -> bool:
    """GSM8K's solutions: `{is_correct, solution}` of several models in one row."""
    return any(
        isinstance(value, dict) and {"is_correct", "solution"} <= set(value)
        for value in file.first.values()
    )


def is_preferences(file: File) -> bool:
    """Which of two systems is preferred, a row a comparison: `model_a`, `model_b`, `winner`."""
    named = " ".join(file.first) if file.kind else next(iter(file.first_lines), "")
    words = set(WORDS.findall(named))
    return PREFERRED.search(named) is not None and any(pair <= words for pair in PAIRED)


def is_human(file: File) -> bool:
    """Tables of judgements, and what WMT's scripts make of them."""
    if is_label_studio(file) or any(known <= set(file.first) for known in ANNOTATED):
        return True
    if file.kind or not file.first_lines:
        return False
    first = file.first_lines[0]
    cells = re.split(r"[\s,]+", first.strip())
    words = set(WORDS.findall(first.lower()))
    named = HUMAN_COLUMNS.search(first) is not None or any(pair <= words for pair in HUMAN_PAIRS)
    return (len(cells) > 3 and named) or file.matches(RANKING)


def is_comet_compare(file: File) -> bool:
    """The text of comet-compare."""
    return "Paired T-Test Results" in file.head and "x_name:" in file.head


def is_averages(file: File) -> bool:
    """Scores of whole outputs or of domains, beside those of segments."""
    rows = [line.split("\t") for line in file.first_lines]
    scr = file.base.endswith(".scr") and all(len(row) in {3, 4} for row in rows)
    return LEVEL.search(file.base) is not None or scr


def is_yaml(file: File) -> bool:
    """Fields, a line each."""
    begins = len(file.first_lines) > 2 and FIELDS_BEGIN.match(file.first_lines[0].rstrip())
    return bool(begins) and file.matches(FIELD)


def is_ruled(file: File) -> bool:
    """A table of Markdown, or drawn with lines."""
    return len(file.first_lines) > 2 and RULE.search("\n".join(file.first_lines[:5])) is not None


def is_r_output(file: File) -> bool:
    """What R prints, and matrices that it writes."""
    if file.kind or len(file.first_lines) < 2:
        return False
    if file.matches(R_OUTPUT):
        return True
    body = [line for line in file.first_lines if not line.startswith("#")]
    rows = body[1:] if len(body) > 1 else body
    square = len(body) > 1 and len({len(line.split()) for line in rows}) == 1
    names = [line.split()[0] for line in rows]
    return (
        square
        and all(map(MATRIX.match, rows))
        and len(rows[0].split()) == len(body[0].split()) + 1
        and body[0].split() == names
    ) or file.first_lines[0].startswith("# ---")


def is_other_markup(file: File) -> bool:
    """HTML, TMX, XLIFF and other XML that is no WMT data set."""
    head = file.head.lstrip()[:2000].lower()
    named = re.match(rf"{PROLOGUE}<(!doctype\s+)?([a-z][\w:.-]*)", head, re.S)
    if named is None:
        return False
    known = {"html", "tmx", "xliff", "tei", "body", "table", "rss", "svg", "xml", "root", "corpus",
             "dataset"}  # fmt: skip
    return head.startswith(("<?xml", "<!doctype")) or named[2] in known
