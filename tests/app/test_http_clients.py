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

import pytest

WEB = Path(__file__).parents[1] / "web"
CALLS = Path(__file__).with_name("generated_calls.py")
# answers that are streams, or empty
WITHOUT_MODEL = {"delete", "follow"}
OVERRIDES = """\
content_type_overrides:
  image/svg+xml: text/plain
  application/gzip: application/octet-stream
  application/zip: application/octet-stream
"""
PREFER = {"Prefer": "wait=60"}
ORDER = ["post", "put", "get", "patch", "delete"]
HEAD = """\
import createClient from "openapi-fetch";
import type { paths } from "./api.js";
const BASE = ADDRESS;
const client = createClient<paths>({ baseUrl: BASE });
const told = (name: string, answer: { response: Response }): void =>
  console.log(JSON.stringify([name, answer.response.status]));
"""
TEAM = (
    "const team = createClient<paths>({ baseUrl: BASE, "
    'headers: { "X-API-Key": added.data?.token ?? "" } });'
)
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


Operation = tuple[str, str, dict[str, Any]]  # method, path, and what the document says of it


def call(method: str, path: str, operation: dict[str, Any], name: str = "A") -> str:
    """A call in TypeScript with the smallest documented request; `id` names a variable there."""
    told = {own["name"]: own for own in operation.get("parameters", ())}
    given: dict[str, Any] = {}
    if "{id}" in path:
        given["path"] = {"id": "$id"}
    if "{name}" in path:
        given["path"]["name"] = "lynx" if "/teams/" in path else name
    if "{testset}" in path:
        given["path"]["testset"] = "track"
    if "{picture}" in path:
        given["path"]["picture"] = told["picture"]["schema"]["enum"][0]
    if path.endswith(("/segments", "/distribution")):
        given["query"] = {"a": "A", "b": "B"}
    if "Prefer" in told:
        given["header"] = PREFER
    options: dict[str, Any] = {"params": given} if given else {}
    if "requestBody" in operation:
        options["body"] = smallest(operation)
    if (method, path) == ("post", "/v1/tasks"):
        options["body"]["testsets"] = {"track": "$testset"}
    if method == "get" and "application/json" not in operation["responses"]["200"]["content"]:
        options["parseAs"] = "text"
    text = json.dumps(options).replace('"$id"', "id").replace('"$testset"', "testset")
    client = "team" if "/systems/{testset}" in path else "client"
    return f'await {client}.{method.upper()}("{path}", {text})'


def in_turn(operation: Operation) -> tuple[float, int]:
    """What is made comes before what reads it, and what is deleted last, inner things first."""
    method, path, _ = operation
    if path.endswith("/frozen"):  # which needs systems
        return ORDER.index("put") + 0.5, 0
    return ORDER.index(method), -len(path) if method == "delete" else len(path)


def of_collection(collection: str, everything: list[Operation]) -> list[str]:
    """Make something, and do with it everything that is documented."""
    operations = [own for own in everything if f"{own[1]}/".startswith(f"{collection}/")]
    post = next(own for own in operations if own[:2] == ("post", collection))
    before = []
    if collection == "/v1/tasks":
        testset = next(own for own in everything if own[:2] == ("post", "/v1/testsets"))
        before = [f"const set = {call(*testset)};", 'const testset = set.data?.id ?? "";']
    lines = [
        "{",
        *before,
        f"const made = {call(*post)};",
        f'told("post {collection}", made);',
        "if (made.data === undefined) throw new Error(JSON.stringify(made.error));",
        "const id: string = made.data.id;",
    ]
    reported = any(path == f"{collection}/{{id}}/report" for _, path, _ in operations)
    if reported and collection != "/v1/races":
        lines.append("const said: string = made.data.progress.phase + made.data.links.report;")
    if any(path == f"{collection}/{{id}}/test" for _, path, _ in operations):
        lines.append("const secret: string = made.data.secret;")
    for method, path, operation in sorted(operations, key=in_turn):
        if (method, path) != post[:2]:
            for name in "AB" if method == "put" else "A":
                made = call(method, path, operation, name)
                if (method, path) == ("post", "/v1/tasks/{id}/teams"):
                    lines.append(f"const added = {made};")
                    lines.append(f'told("{method} {path}", added); {TEAM}')
                    continue
                lines.append(f'told("{method} {path}", {made});')
    return [*lines, "}"]


@pytest.mark.slow
def test_typescript(service, workshop):
    document = service.get("/openapi.json").json()
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    collections = [path for path in document["paths"] if f"{path}/{{id}}" in document["paths"]]
    lines = [HEAD.replace("ADDRESS", json.dumps(str(service.base_url)))]
    for collection in collections:
        lines += of_collection(collection, operations)
    for method, path, operation in operations:
        if not f"{path}/".startswith(tuple(f"{own}/" for own in collections)):
            lines.append(f'told("{method} {path}", {call(method, path, operation)});')
    (workshop / "openapi.json").write_text(json.dumps(document))
    (workshop / "client.mts").write_text("\n".join(lines))
    (workshop / "tsconfig.json").write_text(json.dumps(CONFIG))
    (workshop / "package.json").write_text('{"type": "module"}')
    run(workshop, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.d.ts")
    run(workshop, "node_modules/.bin/tsc", "-p", ".")
    said = [json.loads(line) for line in run(workshop, "node", "out/client.mjs").splitlines()]
    assert {name for name, _ in said} == {f"{method} {path}" for method, path, _ in operations}
    assert [(name, status) for name, status in said if not 200 <= status < 300] == []


def run(folder: Path, *command: str) -> str:
    """Run a program that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


def test_python(service, tmp_path):
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
