"""What the command line understands: one table of commands, and the options of each.

What needs NumPy is loaded when its command is, so that --help and --version do not wait for it.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from sigtest.cli import habits
from sigtest.data.names import choose
from sigtest.errors import RecipeError
from sigtest.render.drawing import PARTS, PICTURE_FORMATS, check_converter
from sigtest.render.formats import FORMATS
from sigtest.render.pictures import PICTURES
from sigtest.version import __version__

if TYPE_CHECKING:  # requests need pydantic
    from sigtest.requests.model import Option

Argument = tuple[Sequence[str], dict[str, Any]]  # what `add_argument` takes


class UsageError(Exception):
    """Arguments that cannot be understood; the message is for the user."""


class Chosen(argparse.Namespace):
    """The options of a command, as they were chosen; those that it does not have are none."""

    def __getattr__(self, name: str) -> Any:
        return None

    def some(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of some options that were chosen."""
        chosen = {name: getattr(self, name) for name in names}
        return {name: value for name, value in chosen.items() if value is not None}


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviations and leaves messages and exits to its caller.

    Args:
        command: The command.
    """

    # To argparse, everything is optional: the command's own messages say better what is missing.
    def __init__(self, command: Command) -> None:
        # python -OO takes docstrings away
        words = command.options.__doc__ or f"{command.about}\n\nsigtest {command.name} [options]"
        description, usage, *rest = inspect.cleandoc(words).split("\n\n", 2)
        super().__init__(
            prog=f"sigtest {command.name}",
            usage=usage.replace("\n", "\n       "),
            description=description,
            epilog="".join(rest),
            allow_abbrev=False,
            add_help=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.actions: list[argparse.Action] = []
        self._negative_number_matcher = re.compile(r"-\.?\d")  # no option: --scale -25,0
        command.options(self)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].lower()}{message[1:]} (see {self.prog} --help)")

    def add(self, title: str, *arguments: Argument) -> None:
        """Take some arguments, which help lists below a title."""
        group = self.add_argument_group(title) if title else self
        for flags, how in arguments:
            self.actions.append(group.add_argument(*flags, **how))


Register = Callable[[Parser], None]


@dataclass(frozen=True)
class Command:
    """A row of the table of commands.

    Attributes:
        name: What follows `sigtest`.
        about: What the overview says of it.
        options: Gives a parser its options; its docstring is the command's help: what it does, what
            must follow (in brackets, what may; a line for each way of asking), what else to know.
        action: Where its function is.
    """

    name: str
    about: str
    options: Register
    action: str


QUICK = {"look", "plot", "human", "testset", "submit", "leaderboard", "metrics"}  # run no kernels
COMMANDS: dict[str, Command] = {}


def command(about: str, action: str) -> Callable[[Register], Register]:
    """A command that is called as the function that gives it options; see `Command`."""

    def register(options: Register) -> Register:
        name = options.__name__
        COMMANDS[name] = Command(name, about, options, f"sigtest.cli.{action}")
        return options

    return register


# kinds of arguments


class Once(argparse.Action):
    """Keeps the value of an option, and refuses another."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        if getattr(namespace, self.dest) not in (self.default, values):
            earlier = getattr(namespace, self.dest)
            parser.error(f"{self.option_strings[-1]} is given twice: {earlier} and {values}")
        setattr(namespace, self.dest, values)


def once(flags: str, metavar: str | tuple[str, str], words: str, **others: Any) -> Argument:
    """An option that takes a value; `flags` are its spellings."""
    return flags.split(), {"metavar": metavar, "help": words, "action": Once, **others}


def often(flags: str, metavar: str | tuple[str, str], words: str, **others: Any) -> Argument:
    """An option that takes a value each time it is given."""
    return once(flags, metavar, words, **{"action": "append", "default": [], **others})


def switch(flags: str, words: str) -> Argument:
    """An option without a value."""
    return flags.split(), {"action": "store_true", "help": words}


def place(name: str, metavar: str, words: str, **others: Any) -> Argument:
    """What may stand without an option."""
    return [name], {"metavar": metavar, "help": words, "nargs": "?", **others}


def of_fields(fields: Sequence[Option], words: Mapping[str, str]) -> list[Argument]:
    """The options of fields of a request.

    Args:
        fields: Of the request.
        words: What help says of some, by what the shell calls them, where not what the field says.
    """
    made: list[Argument] = []
    for field in fields:
        flags = ("-m", field.flag) if field.word == "metric" else (field.flag,)
        how: dict[str, Any] = {"dest": field.name, "help": words.get(field.word, field.help)}
        if field.kind is bool:
            how |= {"action": "store_true"}
        elif field.several and field.kind is float:
            how |= {"metavar": field.metavar, "action": "extend", "nargs": "+"}
        else:
            how |= {"metavar": field.metavar, "action": "append" if field.repeatable else Once}
        made.append((flags, how))
    return made


# arguments that several commands have

REFERENCES = often("-r --reference", "FILE", "references; repeat for more reference sets")
COLUMNS = (
    once("--documents --clusters", "FILE", "document of each segment, or the cluster of each item"),
    once("--labels", "FILE", "label of each segment, such as its domain"),
)
MISSING = (
    once("--missing", "WAY", "what to do about segments that not all files have: error (default), "
         "or drop them for every system and say so", default="error"),
    often("--without", "NAME", "leave a system out; repeatable"),
    once("--columns", "WHAT", "what columns of numbers are in a table that does not say it: "
         "systems or metrics, or tasks where they are systems and rows are test sets"),
)  # fmt: skip
FILES = (
    place("systems", "[NAME=]SYSTEM", "hypotheses, two systems at least", nargs="*"),
    REFERENCES,
    often("--from", "PATH", "a file, directory or archive of any format in docs/FORMATS.md, which "
          "its content says; repeatable, joined by the ids of segments", dest="imports"),
    once("--testset", "NAME", "references of sacreBLEU's test set, such as wmt17/en-de (downloads "
         "need SIGTEST_ALLOW_DOWNLOADS=1); with --from, one of the test sets that it has"),
    often("--scores", "[LABEL:]NAME=FILE", "scores of system NAME computed elsewhere: numbers, one "
          "line a segment, or a file of any format; NAME and LABEL win over names inside; "
          "repeatable"),
    often("--replicas", "NAME=FILE,FILE,...",
          "outputs or scores of several runs of system NAME instead of one; repeatable"),
    *COLUMNS,
    once("--source", "FILE", "source of each segment, for health checks of outputs"),
    *MISSING,
)  # fmt: skip
OUTPUT = once("--output", "FILE", "write to FILE, whole or not at all")
COMPARED = (
    "systems (in latex one column wide, with a decimal less; in csv a row for each system), pairs, "
    "matrix (p-values of all pairs), row (systems without anything around them) or board (which "
    "ranks are real)"
)
STYLE = (
    once("--width", "LENGTH", "of pictures, such as 16cm; default 8.5cm"),
    once("--title", "TEXT", "of pictures, not their own"),
    once("--omit", "PARTS", f"of pictures, between commas: {', '.join(PARTS)}"),
)
PICTURES_OF_PAIRS = (
    often("--distribution", ("A", "B"), "with --plots: also of the distribution behind this pair's "
          "p-values; repeatable", nargs=2),
    *STYLE,
)  # fmt: skip
HELP = switch("-h --help", "show this and do nothing else")
SERVER = (
    once("--server", "URL", "a running service; SIGTEST_API_KEY holds its key, if it needs one"),
    HELP,
)
NOTES = (
    once("--call", "TITLE", "with --server: title in listings"),
    often("--tag", "TAG", "with --server: a word to find it by; repeatable"),
    often("--metadata", "NAME=VALUE", "with --server: kept for your own programs; repeatable"),
)
UNTIL = "with --server: date until which it lasts, or never; default: the service's retention"
EXPIRES = once("--expires", "DATE", UNTIL)
EVERY_PAIR = switch(
    "--every-pair",
    "list all pairs however many; otherwise, above 30 pairs, text only counts those that every "
    "test finds significant, and html folds them all",
)
JOBS = once("--jobs", "N", "processes to share large work between; default all cores")
NAMES = "what tables call a metric or system, such as 'bleu=BLEU $\\uparrow$'; repeatable"


def of_report() -> tuple[Argument, ...]:
    """The options of what shows a report, with the formats that there are."""
    return (
        once("--format", "NAME", f"{', '.join(FORMATS)}; default by --output, or text"),
        OUTPUT,
        once("--plots", "DIR", "write pictures of the report to DIR"),
        once("--plots-as", "NAME", f"of those pictures: {', '.join(PICTURE_FORMATS)}; default svg"),
    )


def layout(tables: str = COMPARED) -> tuple[Argument, ...]:
    """How a report is laid out, and which tables there are."""
    return (
        once("--table", "NAME", f"only one table, for papers: {tables}"),
        once("--caption", "TEXT", "of --table, not its own"),
        once("--label", "NAME", "of --table, for latex to refer to"),
        often("--names", "NAME=SHOWN", NAMES),
    )


def shown(*layout: Argument) -> tuple[Argument, ...]:
    """What to show of a comparison, and where it is made."""
    return (*of_report(), EVERY_PAIR, *layout, *PICTURES_OF_PAIRS, JOBS, *SERVER, *NOTES, EXPIRES)


def recipe(without: Sequence[str] = (), **words: str) -> list[Argument]:
    """How to compare.

    Args:
        without: Options that the command has no use for, by their words.
        **words: What help says of options, by their words, where not what the recipe says.
    """
    from sigtest.requests.recipe import OPTIONS  # late: metrics and tests need NumPy

    return of_fields([field for field in OPTIONS if field.word not in without], words)


def people(words: str) -> list[Argument]:
    """Judgements, and the choices that say what becomes of them."""
    from sigtest.requests.model import options  # late, as in `recipe`
    from sigtest.requests.people import Judging

    return [often("--human", "FILE", words), *of_fields(options(Judging), {})]


def add_kind(parser: Parser, path: str, without: str = "") -> None:
    """The fields of a kind of question but one, for which another option stands."""
    from sigtest.kinds import KINDS  # late: kinds of questions need NumPy

    kind = KINDS[path]
    parser.description = kind.summary
    fields = [field for field in kind.fields if field.name != without]
    parser.set_defaults(kind=kind, fields=fields)
    parser.add("what to ask", *of_fields(fields, {}))
    parser.add("what to show", *of_report(), *layout(", ".join(kind.tables)))
    parser.add("where", *SERVER, *NOTES, EXPIRES)


# the commands; their docstrings are what --help says


@command("compare systems on a test set", "compare:compare")
def compare(parser: Parser) -> None:
    """Compare systems on a test set.

    sigtest compare -r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    sigtest compare --from PATH [options]
    sigtest compare --scores NAME=FILE --scores NAME=FILE ... [options]

    Files have one segment a line, in UTF-8; gzip is recognised; - is standard input.
    A system's name is its file's name without .gz and the last suffix, or NAME.

    examples:
      sigtest compare -r ref.en new.en old.en
      sigtest compare -r ref.zh --metric bleu:tokenize=zh --metric chrf new=a.txt old=b.txt
      sigtest compare -r ref.en --baseline old --alternative greater new.en newer.en old.en
      sigtest compare --scores comet:new=new.comet --scores comet:old=old.comet

    `sigtest metrics` lists metrics, tests and corrections.
    """  # noqa: D405
    parser.add("what to compare", *FILES)
    parser.add("how to compare", *recipe())
    parser.add("what to show", *shown(*layout()))


@command("say which ranks of a board are real", "compare:compare")
def board(parser: Parser) -> None:
    """Say which ranks of a board are real.

    sigtest board FILE [options]

    FILE, and what else may be compared, are those of `sigtest compare`; columns of numbers are systems
    unless --columns says otherwise. Rows may be tasks: below a column `task`, or with --columns tasks.
    Of each system: its
    ranks under the correction for all pairs, whether the first is told from it (behind, tied, undecided,
    or untestable: so few units can never show a difference), and whether it may be the best (comparisons
    with the best, from bootstrap resamples). --format csv has columns to join to the board.

    example:
      sigtest board scores.tsv --format markdown
    """  # noqa: D405, E501
    compare(parser)
    words = "write a badge (SVG) with the place of this system instead"
    parser.add("", once("--badge", "NAME", words))
    parser.set_defaults(columns="systems")


@command("say what files are, and what can be asked of them", "checks:look")
def look(parser: Parser) -> None:
    """Say what files are, what can be asked of them (commands to type), and what is missing.

    sigtest look FILE ...

    example:
      sigtest look *.jsonl
    """  # noqa: D405
    words = "a file, folder or archive of docs/FORMATS.md"
    parser.add("", place("files", "FILE", words, nargs="+"), HELP)


@command("draw a picture of a JSON report", "compare:plot")
def plot(parser: Parser) -> None:
    """Draw a picture of a JSON report as SVG, PDF or PNG.

    sigtest plot KIND [REPORT] [options]
    """
    known = ", ".join(name for name, entry in PICTURES.items() if entry.needs == "report")
    kinds = f"{known}, or what else `sigtest metrics` lists"
    parser.add(
        "",
        place("kind", "KIND", kinds, default=""),
        place("report", "REPORT", "of --format json; standard input by default", default="-"),
        once("-m --metric", "NAME", "default: the report's first"),
        once("--test", "NAME", "default: the report's first that keeps its level"),
        once("--testset", "NAME", "one of several; default: all of them together"),
        once("--criterion", "NAME", "of a human evaluation"),
        once("--alpha", "LEVEL", "of accuracy of tests"),
        *STYLE,
        OUTPUT,
        HELP,
    )


@command("compare systems on several test sets, one by one and together", "compare:suite")
def suite(parser: Parser) -> None:
    """Compare systems on several test sets.

    sigtest suite [NAME=]FOLDER [NAME=]FOLDER ... [options]

    Every FOLDER is a test set, named like the folder or NAME, with these files:
      reference*              references, one file a reference set
      systems/NAME.txt        hypotheses of a system; systems/NAME/ has a file for each training replica
      documents*, labels*     document and label of each segment, if there are any
    or any other files or archives of docs/FORMATS.md, named without suffix. Every test set needs the
    same systems and every metric; where their scores are called differently, --metric scores takes
    the only ones of each. Scores of all together are means over the test sets.

    example:
      sigtest suite news=data/news talks=data/talks --metric chrf --baseline old
    """  # noqa: D405, E501
    folders = place("folders", "[NAME=]FOLDER", "two test sets at least", nargs="*")
    pooled = "all together are one test set: only where they share a language"
    parser.add("what to compare", folders, *MISSING)
    parser.add("how to compare", *recipe(), switch("--pooled", pooled))
    parser.add("what to show", *shown(*layout()))


@command("let systems pass that are not worse than a baseline by a margin", "checks:gate")
def gate(parser: Parser) -> None:
    """Let systems pass that are not worse than a baseline by a margin.

    sigtest gate -r FILE --baseline NAME --margin M [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    sigtest gate -r FILE --baseline NAME --aa [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    sigtest gate --from PATH --baseline NUMBER [--margin M] [options]

    Exit status 0: all systems pass; 1: one fails; 3: the test set cannot tell; 2: bad usage or input.
    A system passes where data reject that it is worse by the margin or more (bootstrap-t, one-sided at
    alpha), and fails where they show that it is. The power says how likely a system passes that does
    not differ at all: below .8, take more segments or a wider margin. --test, --interval, --alternative
    and --exact are decided already, and refused. Against a number, means of scores pass that are shown
    to reach it. Where every item is right or wrong, a system passes where the interval of the difference
    says so; nothing is resampled.

    examples:
      sigtest gate -r ref.en --baseline main --margin 0.3 main.en candidate.en
      sigtest gate --from answers.csv --baseline 0.88
    """  # noqa: D405, E501
    parser.add("what to compare", *FILES)
    parser.add(
        "what may pass",
        once("--margin", "M", "how much worse a system may be, in units of the metric"),
        switch("--equivalent", "nor may it be better by as much: equivalence"),
        switch(
            "--aa", "instead: the systems are runs of the baseline, and pass unless they differ"
        ),
    )
    # refused with a reason, so that help leaves them out
    refused = dict.fromkeys(("test", "interval", "alternative", "exact"), argparse.SUPPRESS)
    how = recipe(
        metric="one; default bleu where there are references, otherwise the only label of scores",
        alpha="of each one-sided test; intervals have level 1 - 2 alpha, of --aa 1 - alpha; "
        "default 0.05",
        **refused,
    )
    parser.add("how to compare", *how)
    formats = f"{', '.join(FORMATS)}; default text, markdown for a pull request"
    parser.add("what to show", once("--format", "NAME", formats), OUTPUT, HELP)


@command("compute a JSON report again from its files, and say what differs", "checks:verify")
def verify(parser: Parser) -> None:
    """Compute a JSON report again from its files, and say what differs.

    sigtest verify REPORT -r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    sigtest verify REPORT [NAME=]FOLDER [NAME=]FOLDER ...  (of sigtest suite)

    The recipe is read off the report's signature; files are those that were compared, in any order.
    Exit status 0: every byte is the same; 1: something differs; 2: bad usage or input.

    example:
      sigtest compare -r ref.en new.en old.en --format json --output report.json
      sigtest verify report.json -r ref.en new.en old.en
    """  # noqa: D405
    parser.add("", place("report", "REPORT", "of --format json"))
    parser.add("what was compared", *FILES)
    parser.add("what to show", HELP)


@command("compare labels with gold labels, or scores over data sets", "checks:classify")
def classify(parser: Parser) -> None:
    """Compare labels with gold labels, or scores over data sets.

    sigtest classify --gold FILE [NAME=]FILE [NAME=]FILE ... [options]
    sigtest classify --table FILE [options]
    sigtest classify --correct K --n N [--correct K --n N ...] [options]

    Labels are compared by accuracy and McNemar's exact test, unless --metric and --test say otherwise:
    accuracy, precision:positive=LABEL, recall:positive=LABEL, f1:positive=LABEL, macro_f1. One system
    alone gets the exact interval of its accuracy; systems on items of their own are compared by Fisher's
    exact test. Scores over data sets are compared by the sign test,
    Wilcoxon's signed-rank test and the paired t-test.

    examples:
      sigtest classify --gold gold.txt new.txt old.txt --metric accuracy --metric macro_f1
      sigtest classify --table scores.tsv
      sigtest classify --correct 93 --n 100
      sigtest classify --correct 9 --n 10 --correct 6 --n 10
    """  # noqa: D405, E501
    table = "instead: scores, a row for each data set and a column for each system (TSV or CSV)"
    parser.add(
        "what to compare",
        place("systems", "[NAME=]FILE", "labels of a system, one a line", nargs="*"),
        once("--gold", "FILE", "what is right, one label a line"),
        once("--table", "FILE", table, dest="wide"),
        once("--documents", "FILE", "document of each label"),
        *MISSING,
        often("--correct", "K", "instead: how many of one system are right; repeatable"),
        often("--n", "N", "of so many items; of each system its own"),
    )
    how = recipe(
        metric="repeatable; default accuracy, or the scores of --table",
        test="significance test; repeatable; default mcnemar for accuracy alone, "
        "approximate_randomization for others; for --table sign_test, signed_rank and paired_t",
    )
    parser.add("how to compare", *how)
    parser.add("what to show", *shown())


@command("say what people's judgements of systems say, and whether people agree", "compare:ask")
def human(parser: Parser) -> None:
    """Judgements of people.

    sigtest human FILE ... [options]
    """
    files = place("files", "FILE", "judgements, one file or more", nargs="*")
    parser.add("what to ask about", files)
    add_kind(parser, "human-evaluations")


@command("compare metrics with people: which agree, and which better than others", "compare:ask")
def meta(parser: Parser) -> None:
    """Scores of metrics and people.

    sigtest meta --evalset PATH --lp PAIR --gold NAME [options]
    sigtest meta --human FILE --scores LABEL=FILE LABEL=FILE ... [options]
    """
    many: dict[str, Any] = {"action": "extend", "nargs": "+"}
    scores = "scores by a metric: lines of system and score, a system once or once for each segment"
    judged = "judgements, or scores by people in a file like a metric's; repeatable"
    parser.add(
        "what to ask about",
        once("--evalset", "PATH", "directory or archive of mt-metrics-eval"),
        often("--lp", "PAIR", "which pair of languages, such as en-de; or several", **many),
        often("-m --metric", "LABEL", "which metrics, called as their files; default all", **many),
        often("--scores", "LABEL=FILE", scores, **many),
        often("--lower", "LABEL", "metrics for which less is better", **many),
        once("--gold", "NAME", "which human scores, such as mqm"),
        *people(judged),
    )
    add_kind(parser, "metric-evaluations")


UNUSED = ("alternative", "alpha", "correction", "family", "baseline", "interval")


@command("compare significance tests with people: how often they conclude the same", "compare:ask")
def accuracy(parser: Parser) -> None:
    """Judgements, and outputs of the systems that are judged.

    sigtest accuracy --human FILE --from PATH [options]
    sigtest accuracy --human FILE -r FILE --metric NAME [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    """
    parser.add("what to ask about", *people("judgements; repeatable"), *FILES, *recipe(UNUSED))
    add_kind(parser, "test-accuracy")


@command("from a pilot, say what differences test sets of other sizes would show", "compare:ask")
def plan(parser: Parser) -> None:
    """Outputs of a pilot.

    sigtest plan -r FILE [NAME=]SYSTEM [NAME=]SYSTEM ... [options]
    sigtest plan --from PATH [options]
    """
    words = "one; default bleu where there are references, otherwise the first label of scores"
    parser.add("what to ask about", *FILES, *recipe(metric=words))
    add_kind(parser, "plans", "metric")


@command("say which pairs of a running evaluation are decided, and who may stop", "compare:ask")
def race(parser: Parser) -> None:
    """Scores by item of several systems, in the order in which they came.

    sigtest race FILE [options]
    sigtest race --human FILE [options]

    FILE has a row an item and a column a system, or what else docs/FORMATS.md has with scores; an
    empty cell is an item that a system has no score of.

    example:
      sigtest race scores.tsv --scale 0,1
    """  # noqa: D405
    parser.add(
        "what to ask about",
        place("file", "FILE", "scores, in the order of arrival"),
        often("--human", "FILE", "judgements instead, in that order; repeatable"),
        switch("--follow", "wait for rows that FILE is still to get, until the race is over"),
    )
    add_kind(parser, "sequential-comparisons", "metric")


ACTIONS = ("create", "list", "show", "raise", "withdraw", "delete")


@command("make a test set on a service, for systems that arrive over time", "boards:testset")
def testset(parser: Parser) -> None:
    """Make and change test sets on a service.

    sigtest testset create --name NAME -r FILE --server URL [options]
    sigtest testset list [--call WORDS] [--tag TAG] --server URL
    sigtest testset show ID --server URL
    sigtest testset raise ID --resamples N --server URL
    sigtest testset withdraw ID SYSTEM --server URL
    sigtest testset delete ID --server URL

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
    """  # noqa: D405, E501
    parser.add(
        "",
        place("action", "ACTION", ", ".join(ACTIONS), default=""),
        place("id", "ID", "of the test set"),
        place("system", "SYSTEM", "name of what is withdrawn"),
    )
    capacity = "systems that may be submitted, first to last: all their pairs are corrected for; "
    parser.add(
        "what to measure against",
        once("--name", "NAME", "what to call the test set"),
        REFERENCES,
        *COLUMNS,
        once("--segments", "N", "how many, where there are no references but only scores"),
        once("--replicas", "N", "training replicas that every system brings; default 1"),
        once("--capacity", "N", f"{capacity}default 64"),
    )
    parser.add("how to compare", *recipe(("baseline", "family", "interval")))
    parser.add("where", *SERVER, *NOTES, EXPIRES)


@command("put systems to a test set", "boards:submit")
def submit(parser: Parser) -> None:
    """Put systems to a test set on a service.

    sigtest submit ID [NAME=]FILE ... --server URL [options]

    A system's name is its file's name without .gz and the last suffix, or NAME. What is submitted again
    with the same content changes nothing; other content under the same name needs --replace. Where the
    test set was made with --replicas N, every system brings N files: --replicas NAME=FILE,FILE,...
    """  # noqa: E501
    runs = "outputs of several training runs of system NAME instead of one; repeatable"
    scores = "scores of system NAME computed elsewhere; repeatable"
    parser.add(
        "",
        place("id", "ID", "of the test set"),
        place("systems", "[NAME=]FILE", "hypotheses", nargs="*"),
        often("--scores", "[LABEL:]NAME=FILE", scores),
        often("--replicas", "NAME=FILE,FILE,...", runs),
        switch("--replace", "replace systems of the same names"),
        switch("--wait", "return when the leaderboard has the systems"),
    )
    parser.add("where", *SERVER, *NOTES)


@command("show the leaderboard of a test set", "boards:leaderboard")
def leaderboard(parser: Parser) -> None:
    """Show the leaderboard of a test set.

    sigtest leaderboard ID --server URL [options]
    """
    parser.add(
        "",
        place("id", "ID", "of the test set"),
        once("-m --metric", "NAME", "default: the test set's first"),
        once("--test", "NAME", "significance test; default: the test set's first"),
        once("--alpha", "LEVEL", "of decisions and intervals; default: the test set's"),
        once("--correction", "NAME", "for multiple comparisons; default: the test set's"),
        *of_report(),
        *layout(),
        *PICTURES_OF_PAIRS,
    )
    parser.add("where", *SERVER)


@command(
    "list metrics with their options, tests, corrections, formats and pictures",
    "compare:metrics",
)
def metrics(parser: Parser) -> None:
    """List metrics, tests, corrections, formats and pictures.

    sigtest metrics
    """
    parser.add("", HELP)


# what is said on the command line


OVERVIEW = """\
usage: sigtest COMMAND ... | --help | --version

Calibrated significance tests for machine translation and other NLP systems.

commands:
{}

`sigtest COMMAND --help` describes a command.
"""
OTHERS = (*PICTURE_FORMATS, "xlsx", "docx", "ods", "tsv")  # suffixes that no report has
PATHS = ("FILE", "FILE,...", "PATH", "REPORT", "DIR", "FOLDER", "]SYSTEM")  # ends of metavars


def parse(arguments: list[str]) -> Chosen | str:
    """Read the arguments.

    Returns:
        The options of a command, named in `command`; or text to print and nothing else to do.

    Raises:
        UsageError: The arguments make no sense.
    """
    name = arguments[0] if arguments else "--help"
    if name in {"-h", "--help"}:
        rows = "\n".join(f"  {name:11} {entry.about}" for name, entry in COMMANDS.items())
        return OVERVIEW.format(rows)
    if name == "--version":
        return f"sigtest {__version__}\n"
    if name not in COMMANDS:
        hint = _near(name, COMMANDS, "{!r}")
        hint = habits.COMMANDS.get(name, hint)
        hint = habits.FILES if name.startswith("-") or os.path.exists(name) else hint
        raise UsageError(
            f"unknown command {name!r}; choose one of {', '.join(COMMANDS)}. {hint}".rstrip()
        )
    parser = Parser(COMMANDS[name])
    if {"-h", "--help"} & set(arguments[1:]):
        return parser.format_help()
    words, unknown = parser.parse_known_intermixed_args(arguments[1:])
    if unknown:
        word = unknown[0].partition("=")[0]
        known = [flag for action in parser.actions for flag in action.option_strings]
        hint = habits.OPTIONS.get(word, _near(word, known, "{}"))
        hint = f". {hint}" if hint else ""
        raise UsageError(f"unknown option {unknown[0]!r}{hint} (see {parser.prog} --help)")
    options = Chosen(**vars(words))
    _check_paths(parser, options)
    _settle_format(options)
    if name == "board" and options.format != "json":  # which has no tables
        options.table = options.table or "board"
    options.command = name
    return options


def _near(word: str, known: Sequence[str] | dict[str, Command], shown: str) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f"Did you mean {shown.format(near[0])}?" if near else ""


def _check_paths(parser: Parser, options: Chosen) -> None:
    """Complain about empty paths, as unset variables are, and a result in the place of its source.

    Raises:
        UsageError: There is one.
    """
    output, sources = options.output, list[str]()
    for action in parser.actions:
        value = getattr(options, action.dest)
        if value is None or not str(action.metavar).endswith(PATHS):
            continue
        values = value if isinstance(value, list) else [value]
        if "" in values:
            named = " or ".join(action.option_strings) or action.metavar
            raise UsageError(f"{named} needs the name of a file, and is empty")
        sources += values if action.dest != "output" else []
    if output is None or not os.path.isfile(output):
        return
    for path in (p for own in sources for p in (own, *own.partition("=")[2].split(","))):
        if path and os.path.exists(path) and os.path.samefile(path, output):
            raise UsageError(f"--output would overwrite {path}, which is read; name another file")


def _settle_format(options: Chosen) -> None:
    """The format of the name that is given, or of the suffix of the file that it goes to.

    Raises:
        UsageError: They are not the same, or nothing is written with that suffix.
        RecipeError: No format of pictures, or one of pictures that go nowhere.
    """
    if "output" not in options:
        return
    output = ("" if options.badge else options.output) or ""  # a badge is always SVG
    suffix = os.path.splitext(output)[1][1:].lower()
    if "format" not in options:  # a picture
        options.suffix = suffix or "svg"
        if options.suffix not in PICTURE_FORMATS:
            known = " or ".join(f".{own}" for own in PICTURE_FORMATS)
            raise UsageError(f"--output {output}: name a file {known}")
        check_converter(options.suffix)
        return
    if "plots" in options:
        if options.plots_as is not None and options.plots is None:
            raise RecipeError("--plots-as is about pictures; it needs --plots DIR, where they go.")
        name = options.plots_as or "svg"
        options.plots_as = str(choose(name, PICTURE_FORMATS, "plots_as", "format of pictures"))
        check_converter(options.plots_as)
    names = {own.suffix: own.name for own in FORMATS.values() if own.suffix != "txt"}
    named = names.get(options.format, options.format)
    if suffix in OTHERS or named not in (None, names.get(suffix, named)):
        raise UsageError(f"--output {output} has no suffix of {named or ', '.join(names)}")
    options.format = named or names.get(suffix, "text")
