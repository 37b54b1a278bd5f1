"""`sigtest testset`, `submit` and `leaderboard`: test sets on a running service."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from sigtest.cli import compare, files
from sigtest.cli.options import ACTIONS, Chosen, UsageError
from sigtest.client import Client
from sigtest.errors import InputError, ServiceError, SigtestError
from sigtest.files.join import STRICT
from sigtest.files.material import in_order, outputs_of
from sigtest.render.drawing import STYLE
from sigtest.render.pictures import Picture
from sigtest.render.words import printable
from sigtest.report import ENVELOPE, Report
from sigtest.requests.recipe import Recipe


def testset(options: Chosen) -> None:
    """Make, list, show, raise or delete test sets, or withdraw a system.

    Raises:
        UsageError: No such action, or no id.
        SigtestError: Bad input, or a service that refuses.
    """
    if options.action not in ACTIONS:
        raise UsageError(f"choose one of {', '.join(ACTIONS)} (see sigtest testset --help)")
    _refuse_unused(options)
    body = _testset_of(options) if options.action == "create" else {}
    if options.action not in ("create", "list") and options.id is None:
        raise UsageError(f"{options.action} which test set? Give its id")
    with _client(options) as client:
        _act(client, options, body)


def _act(client: Client, options: Chosen, body: dict[str, Any]) -> None:
    match options.action:
        case "create":
            _say(client.create_testset(body)["id"])
        case "list":
            for found in client.testsets(title=options.call or "", tag=options.tag):
                _say(f"{found['id']}  {found['systems']:3} systems  {found['name']}")
        case "show":
            _show(client, options.id)
        case "raise" if options.resamples is None:
            raise UsageError("raise to how many --resamples?")
        case "raise":
            resamples = files.number(options.resamples, "--resamples", int)
            client.raise_resamples(options.id, resamples)
        case "withdraw" if options.system is None:
            raise UsageError("withdraw which system? Give its name after the id")
        case "withdraw":
            client.remove_system(options.id, options.system)
        case "delete":
            client.delete_testset(options.id)


def _show(client: Client, testset_id: str) -> None:
    found = client.testset(testset_id)
    _say(f"{found['name']}: {found['testset']['segments']} segments, expires {found['expires_at']}")
    for name, value in found["settings"].items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        _say(f"  {name}: {shown}")
    for system in client.systems(testset_id):
        _say(f"  {system['status']:8}  {system['name']}")


def submit(options: Chosen) -> None:
    """Put systems to a test set, each on a line of its own what became of it.

    Raises:
        UsageError: No id or no systems.
        SigtestError: Bad input, or a service that refuses or cannot measure a system.
    """
    entries = files.systems_of(options)
    if options.id is None or not entries:
        raise UsageError("submit takes the id of a test set and files (see sigtest submit --help)")
    written = compare.notes_of(options).as_json()
    outputs = outputs_of(files.read(entries, STRICT))
    states: dict[str, dict[str, Any]] = {}
    failed = []
    with _client(options) as client:
        # first all of them, so that every worker has something to do
        for name, body in outputs.items():
            try:
                states[name] = client.put_system(
                    options.id, name, {**body, **written}, options.replace
                )
            except SigtestError as error:
                if states:
                    error.message += f" Submitted before that: {', '.join(states)}."
                    error.args = (error.message,)
                raise
        for name, state in states.items():
            if options.wait:
                state = client.measured(options.id, name)
            _say(f"{name}: {state['status']}")
            if state["status"] == "failed":
                failed.append(f"{name}: {state['error']}")
    if failed:
        raise ServiceError(f"The service cannot measure {'; '.join(failed)}")


def leaderboard(options: Chosen) -> None:
    """Show a leaderboard, and draw it.

    Raises:
        UsageError: No id.
        SigtestError: A service that refuses, or pictures that cannot be drawn.
        OSError: A file that cannot be written.
    """
    if options.id is None:
        raise UsageError("leaderboard takes the id of a test set (see sigtest leaderboard --help)")
    files.check_output(options.output)
    compare.require_folder(options)
    chosen = options.some(("metric", "test", "alpha", "correction"))
    layout = options.some(("table", "caption", "label", "names"))
    with _client(options) as client:
        content = client.leaderboard(options.id, options.format, **chosen, **layout)
        if options.plots is not None:
            _draw(client, options, chosen)
    files.write(content, options.output)


def _draw(client: Client, options: Chosen, chosen: dict[str, Any]) -> None:
    """Write the pictures of a leaderboard as it is now."""
    stored = client.leaderboard(options.id, **chosen)
    body = json.loads(stored)
    # the report of one metric may call it by a shorter name
    named = {"metric": body["metric"], "test": body["test"], **options.some(STYLE)}

    def draw_pair(picture: Picture, pair: Mapping[str, str]) -> str:
        params = {**pair, **named}
        return client.leaderboard_plot(options.id, picture.name, **params).decode()

    def report(body: Mapping[str, Any]) -> Report:
        return Report.from_json({k: v for k, v in body.items() if k not in ENVELOPE})

    compare.write_board_plots(compare.understood(stored, report), options, draw_pair)


def _testset_of(options: Chosen) -> dict[str, Any]:
    if options.name is None:
        raise UsageError("create needs a --name")
    if not options.reference and options.segments is None:
        raise InputError("No references: give them with -r FILE, or --segments for scores alone.")
    choices = files.choices_of(options, ["bleu"])
    Recipe.of(choices)  # a wrong option is cheaper to find than a wrong file
    content = in_order(
        files.read([*files.references_of(options), *files.columns_of(options)], STRICT)
    ).as_json()
    del content["systems"]
    body = {"name": options.name, **content, **choices, **compare.notes_of(options).as_json()}
    for field, number in options.some(("segments", "replicas", "capacity")).items():
        body[field] = files.number(number, field, int)
    return body


def _refuse_unused(options: Chosen) -> None:
    """What would change nothing is an error: an id where none is meant, settings of `create`."""
    if options.id is not None and options.action in ("create", "list"):
        raise UsageError(f"{options.action} takes no id, such as {options.id!r}")
    if options.system is not None and options.action != "withdraw":
        raise UsageError(f"{options.action} takes no system, such as {options.system!r}")
    used = {"command", "action", "id", "system", "server"}
    if options.action == "raise":
        used.add("resamples")
    if options.action == "list":
        used |= {"call", "tag"}
    unused = [name for name, given in vars(options).items() if given and name not in used]
    if unused and options.action != "create":
        raise UsageError(f"{options.action} takes no --{unused[0]}; settings are fixed by create")


def _client(options: Chosen) -> Client:
    if options.server is None:
        raise UsageError(f"{options.command} needs a running service: --server URL")
    return compare.client_of(options)


def _say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
