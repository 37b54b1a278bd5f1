"""Calls every operation through the client that openapi-python-client made in this folder.

    python generated_calls.py ADDRESS

Bodies are the smallest documented ones, read by the generated models. It prints a line of JSON for
each call: operation, status, and the type that the answer was read as.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

from client import Client  # type: ignore[import-not-found]  # generated

DOCUMENT = json.loads(Path("openapi.json").read_text(encoding="utf-8"))
ORDER = ["post", "put", "get", "patch", "delete"]
SYSTEMS = ("A", "B")
ids: dict[str, str] = {}  # of what was made, by the path of its collection


def smallest(operation: dict[str, Any]) -> Any:
    """The smallest of an operation's documented requests."""
    examples = operation["requestBody"]["content"]["application/json"]["examples"].values()
    return min((entry["value"] for entry in examples), key=lambda value: len(json.dumps(value)))


def read(kinds: object, value: Any) -> object:
    """A body as the generated model that says the same."""
    for kind in get_args(kinds) or (kinds,):
        if hasattr(kind, "from_dict"):
            try:
                body = kind.from_dict(json.loads(json.dumps(value)))
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
            if body.to_dict() == value:
                return body
    raise SystemExit(f"no model of {kinds} reads {value}")


def call(client: Client, path: str, method: str, operation: dict[str, Any], name: str) -> None:
    """Call one operation and say how it went."""
    folder = operation["tags"][0].replace("-", "_")
    module = importlib.import_module(f"client.api.{folder}.{operation['operationId']}")
    hints = get_type_hints(module._get_kwargs)
    collection = path.partition("/{id}")[0]
    team = ids.get("team", name) if "/teams/" in path else name
    places = {"id": ids.get(collection), "name": team, "testset": "track"}
    given: dict[str, Any] = {k: own for k, own in places.items() if f"{{{k}}}" in path}
    for parameter in operation.get("parameters", ()):
        if parameter["name"] == "picture":
            enum = parameter["schema"]["enum"]
            kind = hints["picture"]
            given["picture"] = kind(enum[0]) if isinstance(kind, type) else enum[0]
    if path.endswith(("/segments", "/distribution")):
        given |= dict(zip("ab", SYSTEMS, strict=True))
    if "requestBody" in operation:
        value = smallest(operation)
        if (method, path) == ("post", "/v1/tasks"):
            value["testsets"] = {"track": ids["/v1/testsets"]}
        given["body"] = read(hints["body"], value)
    if "prefer" in hints:
        given["prefer"] = "wait=60"
    if "/systems/{testset}" in path:
        client = Client(base_url=sys.argv[1], headers={"X-API-Key": ids["token"]})
    answer = module.sync_detailed(client=client, **given)
    if path.endswith("/teams") and method == "post":
        ids.update(team=answer.parsed.name, token=answer.parsed.token)
    if method == "post" and path == collection:
        ids[path] = answer.parsed.id
    line = [operation["operationId"], int(answer.status_code), type(answer.parsed).__name__]
    print(json.dumps(line))  # noqa: T201


def main() -> None:
    client = Client(base_url=sys.argv[1])
    calls = [
        (path, method, operation)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    ]

    def place(entry: tuple[str, str, Any]) -> tuple[float, bool, int]:
        path, method, _ = entry
        if path.endswith("/frozen"):  # which needs systems
            return ORDER.index("put") + 0.5, False, 0
        ends = method == "delete"
        return (
            ORDER.index(method),
            path.startswith("/v1/tasks") != ends,
            -len(path) if ends else len(path),
        )

    for path, method, operation in sorted(calls, key=place):
        for name in SYSTEMS if method == "put" else SYSTEMS[:1]:
            call(client, path, method, operation, name)


if __name__ == "__main__":
    main()
