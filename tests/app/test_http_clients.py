"""Clients that are generated from the OpenAPI document compile strictly, and work.

Each operation is called with its smallest documented request, by a program in TypeScript whose
types `openapi-typescript` makes, and through the functions that `openapi-python-client` makes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

WEB = Path(__file__).parents[1] / "web"
CALLS = Path(__file__).with_name("generated_calls.py")
# answers that are streams, or empty
WITHOUT_MODEL = {"delete", "follow"}
OVERRIDES = """\
content_type_overrides:
  image/svg+xml: text/plain
  application/gzip: application/octet-stream
"""
PREFER = {"Prefer": "wait=60"}
HEAD = """\
import createClient from "openapi-fetch";
import type { paths } from "./api.js";
const client = createClient<paths>({ baseUrl: BASE });
const told = (name: string, answer: { response: Response }): void =>
  console.log(JSON.stringify([name, answer.response.status]));
"""
CONFIG = {
    "compilerOptions": {
        "strict": True,
        "exactOptionalPropertyTypes": True,
        "noUncheckedIndexedAccess": True,
        "skipLibCheck": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2022", "dom"],
        "types": [],
        "outDir": "out",
    },
    "files": ["client.mts"],
}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs that make and compile clients."""
    for program in (
        "node",
        WEB / "node_modules/.bin/tsc",
        WEB / "node_modules/.bin/openapi-typescript",
    ):
        if shutil.which(str(program)) is None:
            pytest.skip(f"no {program}; npm install --no-package-lock in tests/web brings it")
    folder = tmp_path_factory.mktemp("client")
    (folder / "node_modules").symlink_to(WEB / "node_modules")
    return folder


def smallest(operation: dict[str, Any]) -> Any:
    """The smallest of an operation's documented requests."""
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    return min((entry["value"] for entry in examples.values()), key=lambda v: len(json.dumps(v)))


def call(method: str, path: str, **options: Any) -> str:
    """A call in TypeScript; `$name` in options are names of variables."""
    text = json.dumps({k: v for k, v in options.items() if v}).replace('"$id"', "id")
    return f'await client.{method.upper()}("{path}", {text} as const)'


def of_kind(path: str, document: dict[str, Any]) -> list[str]:
    """Ask the smallest question of a kind, and everything about it."""
    operations = document["paths"]
    post = call("post", path, params={"header": PREFER}, body=smallest(operations[path]["post"]))
    lines = [
        "{",
        f"const made = {post.replace(' as const', '')};",
        f'told("POST {path}", made);',
        "if (made.data === undefined) throw new Error(JSON.stringify(made.error));",
        "const id: string = made.data.id;",
        "const phase: string = made.data.progress.phase + made.data.links.report;",
    ]
    pictures: dict[str, Any] = {}
    for other, methods in operations.items():
        if not other.startswith(f"{path}/{{id}}"):
            continue
        given: dict[str, Any] = {"path": {"id": "$id"}}
        if "{picture}" in other:
            parameters = methods["get"]["parameters"]
            pictures = next(p for p in parameters if p["name"] == "picture")
            given["path"]["picture"] = pictures["schema"]["enum"][0]
        if other.endswith(("/segments", "/distribution")):
            given["query"] = {"a": "A", "b": "B"}
        parsed = {} if other.endswith("}") else {"parseAs": "text"}
        get = call("get", other, params=given, **parsed).replace(" as const", "")
        lines.append(f'told("GET {other}", {get});')
    delete = call("delete", f"{path}/{{id}}", params={"path": {"id": "$id"}})
    return [*lines, f'told("DELETE", {delete.replace(" as const", "")});', "}"]


def of_board(document: dict[str, Any]) -> list[str]:
    """Make a test set, submit systems, read its leaderboard."""
    operations = document["paths"]
    path = "/v1/testsets"
    system = f"{path}/{{id}}/systems/{{name}}"
    post = call("post", path, body=smallest(operations[path]["post"])).replace(" as const", "")
    lines = [
        "{",
        f"const made = {post};",
        f'told("POST {path}", made);',
        "if (made.data === undefined) throw new Error(JSON.stringify(made.error));",
        "const id: string = made.data.id;",
    ]
    body = {"hypotheses": ["The cat sat on the mat .", "It rains .", "We go home ."]}
    for name in ("A", "B"):
        named = {"path": {"id": "$id", "name": name}, "header": PREFER}
        put = call("put", system, params=named, body=body).replace(" as const", "")
        lines.append(f'told("PUT {name}", {put});')
    for other in (path, f"{path}/{{id}}", f"{path}/{{id}}/systems", f"{path}/{{id}}/leaderboard"):
        get = call("get", other, params={"path": {"id": "$id"}} if "{" in other else {})
        lines.append(f'told("GET {other}", {get.replace(" as const", "")});')
    more = call("patch", f"{path}/{{id}}", params={"path": {"id": "$id"}},
                body=smallest(operations[f"{path}/{{id}}"]["patch"]))  # fmt: skip
    lines.append(f'told("PATCH", {more.replace(" as const", "")});')
    return [*lines, "}"]


def of_webhooks(document: dict[str, Any]) -> list[str]:
    """Add a webhook, look at it, try it, delete it."""
    path = "/v1/webhooks"
    post = call("post", path, body=smallest(document["paths"][path]["post"]))
    lines = [
        "{",
        f"const made = {post.replace(' as const', '')};",
        f'told("POST {path}", made);',
        "if (made.data === undefined) throw new Error(JSON.stringify(made.error));",
        "const id: string = made.data.id + made.data.secret.slice(0, 0);",
    ]
    own = {"path": {"id": "$id"}}
    for method, other in (("get", "/{id}"), ("post", "/{id}/test"), ("delete", "/{id}")):
        told = call(method, path + other, params=own).replace(" as const", "")
        lines.append(f'told("{method} {other}", {told});')
    return [*lines, "}"]


def test_typescript(service: httpx.Client, workshop: Path) -> None:
    document = service.get("/openapi.json").json()
    kinds = [
        p for p, methods in document["paths"].items() if f"{p}/{{id}}/report" in document["paths"]
    ]
    lines = [HEAD.replace("BASE", json.dumps(str(service.base_url)))]
    for kind in kinds:
        lines += of_kind(kind, document)
    lines += of_board(document)
    lines += of_webhooks(document)
    (workshop / "openapi.json").write_text(json.dumps(document))
    (workshop / "client.mts").write_text("\n".join(lines))
    (workshop / "tsconfig.json").write_text(json.dumps(CONFIG))
    (workshop / "package.json").write_text('{"type": "module"}')
    run(workshop, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.d.ts")
    run(workshop, "node_modules/.bin/tsc", "-p", ".")
    said = [json.loads(line) for line in run(workshop, "node", "out/client.mjs").splitlines()]
    assert len(kinds) >= 4
    assert len(said) > 7 * len(kinds)
    assert [(name, status) for name, status in said if not 200 <= status < 300] == []


def run(folder: Path, *command: str) -> str:
    """Run a program that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


def test_python(service: httpx.Client, tmp_path: Path) -> None:
    program = shutil.which("openapi-python-client")
    if program is None:
        pytest.skip("openapi-python-client is not installed")
    (tmp_path / "openapi.json").write_bytes(service.get("/openapi.json").content)
    (tmp_path / "config.yaml").write_text(OVERRIDES)
    run(tmp_path, program, "generate", "--path", "openapi.json", "--output-path", "client",
        "--meta", "none", "--config", "config.yaml")  # fmt: skip
    interpreter = Path(program).resolve().with_name("python")
    shutil.copy(CALLS, tmp_path)  # beside the client that it calls
    said = run(tmp_path, str(interpreter), CALLS.name, str(service.base_url))
    calls = [json.loads(line) for line in said.splitlines()]
    document = service.get("/openapi.json").json()
    operations = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert {name for name, *_ in calls} == operations
    assert [call for call in calls if not 200 <= call[1] < 300] == []
    untyped = {name for name, _, parsed in calls if parsed in ("NoneType", "Problem")}
    assert {name.partition("_")[0] for name in untyped} <= WITHOUT_MODEL, untyped
