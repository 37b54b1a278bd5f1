"""What the command line understands; what needs NumPy is loaded when its command is."""

from __future__ import annotations

import argparse
import difflib
import os
import textwrap

from sigtest.cli import habits
from sigtest.cli.parser import (
    Parser,
    UsageError,
    add_columns,
    add_distribution,
    add_envelope,
    add_files,
    add_flag,
    add_help,
    add_layout,
    add_missing,
    add_option,
    add_output,
    add_recipe,
    add_repeatable,
    add_server,
    add_style,
)
from sigtest.data.choices import choose
from sigtest.errors import RecipeError
from sigtest.render.converters import PICTURE_FORMATS, check_converter
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import PICTURES
from sigtest.version import __version__

BOARDS = {
    "testset": "make a test set on a service, for systems that arrive over time",
    "submit": "put systems to a test set",
    "leaderboard": "show the leaderboard of a test set",
}
ACTIONS = ("create", "list", "show", "raise", "withdraw", "delete")
TESTSET_EPILOG = """\
actions:
  create               make a test set and print its id; all settings but --resamples are fixed then
  list                 ids and names of your test sets, those with --call and --tag in them
  show ID              a test set and its systems
  raise ID             draw more resamples, as many as --resamples says
  withdraw ID SYSTEM   take a system back; the others stay as they are
  delete ID            delete a test set with its systems

example:
  id=$(sigtest testset create -r ref.en --name news --metric bleu --metric chrf --server URL)
  sigtest submit $id new.en old.en --wait --server URL
  sigtest leaderboard $id --server URL
"""
SUBMIT_EPILOG = """\
A system's name is its file's name without .gz and the last suffix, or NAME. What is submitted again
with the same content changes nothing; other content under the same name needs --replace. Where the
test set was made with --replicas N, every system brings N files: --replicas NAME=FILE,FILE,...
"""


def testset_parser() -> Parser:
    """`sigtest testset`."""
    takes = (
        "create --name NAME -r FILE --server URL [options]",
        "list [--call WORDS] [--tag TAG] --server URL",
        "show ID --server URL",
        "raise ID --resamples N --server URL",
        "withdraw ID SYSTEM --server URL",
        "delete ID --server URL",
    )
    about = "Make and change test sets on a service."
    parser = Parser("sigtest testset", takes, about, TESTSET_EPILOG)
    parser.add_argument("action", nargs="?", default="", metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("id", nargs="?", metavar="ID", help="of the test set")
    parser.add_argument("system", nargs="?", metavar="SYSTEM", help="name of what is withdrawn")
    group = parser.add_argument_group("what to measure against")
    add_option(group, "--name", "NAME", "what to call the test set")
    add_repeatable(group, "-r --reference", "FILE", "references; repeat for more reference sets")
    add_columns(group)
    add_option(group, "--segments", "N", "how many, where there are no references but only scores")
    add_option(group, "--replicas", "N", "training replicas that every system brings; default 1")
    add_option(
        group, "--capacity", "N",
        "systems that may be submitted, first to last: all their pairs are corrected for; "
        "default 64",
    )  # fmt: skip
    without = ("--baseline", "--family", "--interval")
    add_recipe(parser.add_argument_group("how to compare"), without)
    parser.set_defaults(baseline=None, family=None, interval=None)
    where = parser.add_argument_group("where")
    add_server(where)
    add_envelope(where)
    return parser


def submit_parser() -> Parser:
    """`sigtest submit`."""
    takes = ["ID [NAME=]FILE ... --server URL [options]"]
    about = "Put systems to a test set on a service."
    parser = Parser("sigtest submit", takes, about, SUBMIT_EPILOG)
    parser.add_argument("id", nargs="?", metavar="ID", help="of the test set")
    parser.add_argument("systems", nargs="*", metavar="[NAME=]FILE", help="hypotheses")
    add_repeatable(
        parser, "--scores", "[LABEL:]NAME=FILE",
        "scores of system NAME computed elsewhere; repeatable",
    )  # fmt: skip
    add_repeatable(
        parser, "--replicas", "NAME=FILE,FILE,...",
        "outputs of several training runs of system NAME instead of one; repeatable",
    )  # fmt: skip
    add_flag(parser, "--replace", "replace systems of the same names")
    add_flag(parser, "--wait", "return when the leaderboard has the systems")
    where = parser.add_argument_group("where")
    add_server(where)
    add_envelope(where)
    return parser


def leaderboard_parser() -> Parser:
    """`sigtest leaderboard`."""
    takes = ["ID --server URL [options]"]
    parser = Parser("sigtest leaderboard", takes, "Show the leaderboard of a test set.")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the test set")
    add_option(parser, "-m --metric", "NAME", "default: the test set's first")
    add_option(parser, "--test", "NAME", "significance test; default: the test set's first")
    add_option(parser, "--alpha", "LEVEL", "of decisions and intervals; default: the test set's")
    add_option(parser, "--correction", "NAME", "for multiple comparisons; default: the test set's")
    add_output(parser)
    add_layout(parser)
    add_distribution(parser)
    parser.set_defaults(baseline=None)
    add_server(parser.add_argument_group("where"))
    return parser


COMMANDS = {
    "compare": "compare systems on a test set",
    "plot": "draw a picture of a JSON report",
    "suite": "compare systems on several test sets, one by one and together",
    "gate": "let systems pass that are not worse than a baseline by a margin",
    "verify": "compute a JSON report again from its files, and say what differs",
    "classify": "compare labels with gold labels, or scores over data sets",
    "human": "say what people's judgements of systems say, and whether people agree",
    "meta": "compare metrics with people: which agree, and which better than others",
    "accuracy": "compare significance tests with people: how often they conclude the same",
    "plan": "from a pilot, say what differences test sets of other sizes would show",
    **BOARDS,
    "metrics": "list metrics with their options, tests, corrections, formats and pictures",
}
EPILOG = """\
Files have one segment a line, in UTF-8; gzip is recognised; - is standard input.
A system's name is its file's name without .gz and the last suffix, or NAME.

examples:
  sigtest compare -r ref.en new.en old.en
  sigtest compare -r ref.zh --metric bleu:tokenize=zh --metric chrf new=a.txt old=b.txt
  sigtest compare -r ref.en --baseline old --alternative greater new.en newer.en old.en
  sigtest compare --scores comet:new=new.comet --scores comet:old=old.comet

`sigtest metrics` lists metrics, tests and corrections.
"""

CLASSIFY_EPILOG = """\
Labels are compared by accuracy and McNemar's exact test, unless --metric and --test say otherwise:
accuracy, precision:positive=LABEL, recall:positive=LABEL, f1:positive=LABEL, macro_f1. One system
alone gets the exact interval of its accuracy. Scores over data sets are compared by the sign test,
Wilcoxon's signed-rank test and the paired t-test.

examples:
  sigtest classify --gold gold.txt new.txt old.txt --metric accuracy --metric macro_f1
  sigtest classify --table scores.tsv
  sigtest classify --correct 93 --n 100
"""
GATE_EPILOG = """\
Exit status 0: all systems pass; 1: one fails; 3: the test set cannot tell; 2: bad usage or input.
A system passes where data reject that it is worse by the margin or more (bootstrap-t, one-sided at
alpha), and fails where they show that it is. The power says how likely a system passes that does
not differ at all: below .8, take more segments or a wider margin. --test, --interval, --alternative
and --exact are decided already, and refused.

example:
  sigtest gate -r ref.en --baseline main --margin 0.3 main.en candidate.en
"""
VERIFY_EPILOG = """\
The recipe is read off the report's signature; files are those that were compared, in any order.
Exit status 0: every byte is the same; 1: something differs; 2: bad usage or input.

example:
  sigtest compare -r ref.en new.en old.en --format json --output report.json
  sigtest verify report.json -r ref.en new.en old.en
"""
SUITE_EPILOG = """\
Every FOLDER is a test set, named like the folder or NAME, with these files:
  reference*              references, one file a reference set
  systems/NAME.txt        hypotheses of a system; systems/NAME/ has a file for each training replica
  documents*, labels*     document and label of each segment, if there are any
or any other files or archives of docs/FORMATS.md, named without suffix. Every test set needs the
same systems and every metric; where their scores are called differently, --metric scores takes
the only ones of each. Scores of all together are means over the test sets.

example:
  sigtest suite news=data/news talks=data/talks --metric chrf --baseline old
"""


OTHERS = (*PICTURE_FORMATS, "xlsx", "docx", "ods", "tsv")  # suffixes that no report has
PATHS = ("FILE", "FILE,...", "PATH", "REPORT", "DIR", "FOLDER", "]SYSTEM")  # ends of metavars


def parse(arguments: list[str]) -> argparse.Namespace | str:
    """Read the arguments.

    Returns:
        The options of a command, named in `command`; or text to print and nothing else to do.

    Raises:
        UsageError: The arguments make no sense.
    """
    command = arguments[0] if arguments else "--help"
    if command in {"-h", "--help"}:
        return _overview()
    if command == "--version":
        return f"sigtest {__version__}\n"
    if command not in COMMANDS:
        near = difflib.get_close_matches(command, COMMANDS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        hint = f" {habits.COMMANDS[command]}" if command in habits.COMMANDS else hint
        hint = f" {habits.FILES}" if command.startswith("-") or os.path.exists(command) else hint
        raise UsageError(f"unknown command {command!r}; choose one of {', '.join(COMMANDS)}.{hint}")
    parser = PARSERS[command]() if command in PARSERS else _kind_parser(command)
    if {"-h", "--help"} & set(arguments[1:]):
        return parser.format_help()
    options, unknown = parser.parse_known_intermixed_args(arguments[1:])
    if unknown:
        raise UsageError(_unknown(parser, unknown[0]))
    _check_paths(parser, options)
    _settle_format(options)
    options.command = command
    return options


def _check_paths(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Complain about empty paths, as unset variables are, and a result in the place of its source.

    Raises:
        UsageError: There is one.
    """
    said = {action: getattr(options, action.dest) for action in parser._actions}
    given = {
        action: value if isinstance(value, list) else [value]
        for action, value in said.items()
        if value is not None and str(action.metavar).endswith(PATHS)
    }
    for action, values in given.items():
        if "" in values:
            named = " or ".join(action.option_strings) or action.metavar
            raise UsageError(f"{named} needs the name of a file, and is empty")
    output = getattr(options, "output", None)
    if output is None or not os.path.isfile(output):
        return
    spelled = [own for action in given if action.dest != "output" for own in given[action]]
    for path in (part for own in spelled for part in (own, *own.partition("=")[2].split(","))):
        if path and os.path.exists(path) and os.path.samefile(path, output):
            raise UsageError(f"--output would overwrite {path}, which is read; name another file")


def _settle_format(options: argparse.Namespace) -> None:
    """The format of the name that is given, or of the suffix of the file that it goes to.

    Raises:
        UsageError: They are not the same, or nothing is written with that suffix.
    """
    names = {own.suffix: own.name for own in FORMATS.values() if own.suffix != "txt"}
    output = getattr(options, "output", None) or ""
    suffix = os.path.splitext(output)[1][1:].lower()
    if not hasattr(options, "format"):
        if hasattr(options, "output"):  # a picture
            options.suffix = suffix or "svg"
            if options.suffix not in PICTURE_FORMATS:
                known = " or ".join(f".{own}" for own in PICTURE_FORMATS)
                raise UsageError(f"--output {output}: name a file {known}")
            check_converter(options.suffix)
        return
    if hasattr(options, "plots"):
        _settle_pictures(options)
    named = names.get(options.format, options.format)
    if suffix in OTHERS or named not in (None, names.get(suffix, named)):
        raise UsageError(f"--output {output} has no suffix of {named or ', '.join(names)}")
    options.format = named or names.get(suffix, "text")


def _settle_pictures(options: argparse.Namespace) -> None:
    """The format of pictures, which must be known here and go somewhere."""
    if options.plots_as is not None and options.plots is None:
        raise RecipeError("--plots-as is about pictures; it needs --plots DIR, where they go.")
    name = options.plots_as or "svg"
    options.plots_as = str(choose(name, PICTURE_FORMATS, "plots_as", "format of pictures"))
    check_converter(options.plots_as)


def _unknown(parser: argparse.ArgumentParser, option: str) -> str:
    known = [name for action in parser._actions for name in action.option_strings]
    name = option.partition("=")[0]
    near = difflib.get_close_matches(name, known, 1)
    hint = f". Did you mean {near[0]}?" if near else ""
    hint = f". {habits.OPTIONS[name]}" if name in habits.OPTIONS else hint
    return f"unknown option {option!r}{hint} (see {parser.prog} --help)"


def _overview() -> str:
    commands = "\n".join(f"  {name:11} {what}" for name, what in COMMANDS.items())
    return textwrap.dedent(
        """\
        usage: sigtest COMMAND ... | --help | --version

        Calibrated significance tests for machine translation and other NLP systems.

        commands:
        {}

        `sigtest COMMAND --help` describes a command.
        """
    ).format(commands)


def _metrics_parser() -> Parser:
    parser = Parser(
        "sigtest metrics", [""], "List metrics, tests, corrections, formats and pictures."
    )
    add_help(parser)
    return parser


def _compare_parser() -> Parser:
    takes = (
        "-r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        "--from PATH [options]",
        "--scores NAME=FILE --scores NAME=FILE ... [options]",
    )
    parser = Parser("sigtest compare", takes, "Compare systems on a test set.", EPILOG)
    add_files(parser.add_argument_group("what to compare"))
    add_recipe(parser.add_argument_group("how to compare"))
    _add_output(parser.add_argument_group("what to show"))
    return parser


def _gate_parser() -> Parser:
    takes = (
        "-r FILE --baseline NAME --margin M [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        "-r FILE --baseline NAME --aa [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
    )
    about = "Let systems pass that are not worse than a baseline by a margin."
    parser = Parser("sigtest gate", takes, about, GATE_EPILOG)
    add_files(parser.add_argument_group("what to compare"))
    group = parser.add_argument_group("what may pass")
    add_option(group, "--margin", "M", "how much worse a system may be, in units of the metric")
    add_flag(group, "--equivalent", "nor may it be better by as much: equivalence")
    add_flag(
        group, "--aa", "instead: the systems are runs of the baseline, and pass unless they differ"
    )
    decided = ("--test", "--interval", "--alternative", "--exact")
    add_recipe(
        parser.add_argument_group("how to compare"),
        hidden=decided,
        metric="one; default bleu where there are references, otherwise the only label of scores",
        alpha="of each one-sided test; intervals have level 1 - 2 alpha, of --aa 1 - alpha; "
        "default 0.05",
    )
    group = parser.add_argument_group("what to show")
    add_option(group, "--format", "NAME", "text (default) or json")
    add_option(group, "--output", "FILE", "write to FILE, whole or not at all")
    add_help(group)
    return parser


def _verify_parser() -> Parser:
    takes = (
        "REPORT -r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]",
        "REPORT [NAME=]FOLDER [NAME=]FOLDER ...  (of sigtest suite)",
    )
    about = "Compute a JSON report again from its files, and say what differs."
    parser = Parser("sigtest verify", takes, about, VERIFY_EPILOG)
    parser.add_argument("report", nargs="?", metavar="REPORT", help="of --format json")
    add_files(parser.add_argument_group("what was compared"))
    add_help(parser.add_argument_group("what to show"))
    return parser


def _suite_parser() -> Parser:
    takes = ["[NAME=]FOLDER [NAME=]FOLDER ... [options]"]
    parser = Parser("sigtest suite", takes, "Compare systems on several test sets.", SUITE_EPILOG)
    group = parser.add_argument_group("what to compare")
    group.add_argument("folders", nargs="*", metavar="[NAME=]FOLDER", help="two test sets at least")
    add_missing(group)
    group = parser.add_argument_group("how to compare")
    add_recipe(group)
    add_flag(group, "--pooled", "all together are one test set: only where they share a language")
    _add_output(parser.add_argument_group("what to show"))
    return parser


def _classify_parser() -> Parser:
    takes = (
        "--gold FILE [NAME=]FILE [NAME=]FILE ... [options]",
        "--table FILE [options]",
        "--correct K --n N [options]",
    )
    about = "Compare labels with gold labels, or scores over data sets."
    parser = Parser("sigtest classify", takes, about, CLASSIFY_EPILOG)
    group = parser.add_argument_group("what to compare")
    group.add_argument(
        "systems", nargs="*", metavar="[NAME=]FILE", help="labels of a system, one a line"
    )
    add_option(group, "--gold", "FILE", "what is right, one label a line")
    words = "instead: scores, a row for each data set and a column for each system (TSV or CSV)"
    add_option(group, "--table", "FILE", words, dest="wide")
    add_option(group, "--documents", "FILE", "document of each label")
    add_option(group, "--correct", "K", "instead: how many of one system are right")
    add_option(group, "--n", "N", "of so many")
    add_recipe(
        parser.add_argument_group("how to compare"),
        metric="repeatable; default accuracy, or the scores of --table",
        test="significance test; repeatable; default mcnemar for accuracy alone, "
        "approximate_randomization for others; for --table sign_test, signed_rank and paired_t",
    )
    group = parser.add_argument_group("what to show")
    _add_output(group, layout=False)
    usual = _compare_parser().parse_args([])
    parser.set_defaults(**{k: v for k, v in vars(usual).items() if k not in {"systems", "metrics"}})
    return parser


def _plot_parser() -> Parser:
    takes = ["KIND [REPORT] [options]"]
    parser = Parser("sigtest plot", takes, "Draw a picture of a JSON report as SVG, PDF or PNG.")
    known = [name for name, entry in PICTURES.items() if entry.needs == "report"]
    kinds = f"{', '.join(known)}, or what else `sigtest metrics` lists"
    parser.add_argument("kind", nargs="?", default="", metavar="KIND", help=kinds)
    parser.add_argument(
        "report", nargs="?", default="-", metavar="REPORT",
        help="of --format json; standard input by default",
    )  # fmt: skip
    add_option(parser, "-m --metric", "NAME", "default: the report's first")
    add_option(parser, "--test", "NAME", "default: the report's first that keeps its level")
    add_option(parser, "--testset", "NAME", "one of several; default: all of them together")
    add_option(parser, "--criterion", "NAME", "of a human evaluation")
    add_option(parser, "--alpha", "LEVEL", "of accuracy of tests")
    add_style(parser)
    add_option(parser, "--output", "FILE", "write to FILE, whole or not at all")
    add_help(parser)
    return parser


def _kind_parser(command: str) -> Parser:
    from sigtest.cli import kinds  # late: kinds of questions need NumPy

    return kinds.parser(command)


PARSERS = {
    "compare": _compare_parser,
    "plot": _plot_parser,
    "suite": _suite_parser,
    "gate": _gate_parser,
    "verify": _verify_parser,
    "classify": _classify_parser,
    "testset": testset_parser,
    "submit": submit_parser,
    "leaderboard": leaderboard_parser,
    "metrics": _metrics_parser,
}


def _add_output(group: argparse._ArgumentGroup, layout: bool = True) -> None:
    add_output(group)
    add_flag(
        group, "--every-pair",
        "list all pairs however many; otherwise, above 30 pairs, text only counts those that "
        "every test finds significant, and html folds them all",
    )  # fmt: skip
    if layout:
        add_layout(group)
    add_distribution(group)
    add_option(group, "--jobs", "N", "processes to share large work between; default all cores")
    add_server(group)
    add_envelope(group)
