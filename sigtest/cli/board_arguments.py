"""What the commands for leaderboards understand."""

from __future__ import annotations

from sigtest.cli.parser import (
    Parser,
    add_columns,
    add_distribution,
    add_envelope,
    add_flag,
    add_layout,
    add_option,
    add_output,
    add_recipe,
    add_repeatable,
    add_server,
)

COMMANDS = {
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


PARSERS = {
    "testset": testset_parser,
    "submit": submit_parser,
    "leaderboard": leaderboard_parser,
}
