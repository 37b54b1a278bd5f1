"""The reference of the interface: each operation of the OpenAPI document with code to copy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request
from markupsafe import Markup, escape
from starlette.responses import Response

from app.http.state import routing
from app.pages import site
from app.pages.visitors import noted
from app.schema.headers import GIVEN

router = routing(include_in_schema=False)
JSON = "application/json"
LONGEST = 2000  # characters of an example; longer ones stand in the document


@dataclass(frozen=True)
class Parameter:
    """Something that an operation takes beside its body.

    Attributes:
        name: Its name.
        place: Path, query or header.
        required: Whether it must be given.
        description: What it is.
    """

    name: str
    place: str
    required: bool
    description: Markup


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        anchor: Its name in addresses.
        method: Of HTTP.
        path: With names of parameters in braces.
        summary: In one sentence.
        description: What else is to be known.
        parameters: What it takes beside its body.
        snippets: Language and code.
    """

    anchor: str
    method: str
    path: str
    summary: Markup
    description: Markup
    parameters: tuple[Parameter, ...]
    snippets: tuple[tuple[str, str], ...]


@router.get("/api", dependencies=[Depends(noted)])
def reference(request: Request) -> Response:
    """The reference."""
    document = request.app.openapi()
    groups = [
        (tag["name"], tag["description"], tuple(_operations(document, tag["name"], request)))
        for tag in document["tags"]
    ]
    return site.page(request, "reference.html", groups=groups)


def _operations(document: Mapping[str, Any], tag: str, request: Request) -> Iterator[Operation]:
    base = str(request.base_url).rstrip("/")
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            if tag not in told.get("tags", ()):
                continue
            first, _, rest = told.get("description", "").partition("\n\n")
            yield Operation(
                anchor=told["operationId"],
                method=method.upper(),
                path=path,
                summary=_prose(first),
                description=_prose(rest),
                parameters=tuple(
                    _parameter(own) for own in told.get("parameters", ()) if own is not GIVEN
                ),
                snippets=_snippets(base + path, method.upper(), _example(told)),
            )


def _parameter(told: Mapping[str, Any]) -> Parameter:
    about = _prose(told.get("description", ""))
    return Parameter(told["name"], told["in"], told.get("required", False), about)


def _prose(text: str) -> Markup:
    """A description in one line, with what stands between backticks as code."""
    parts = " ".join(text.split()).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part)
        for i, part in enumerate(parts)
    )


def _example(told: Mapping[str, Any]) -> Any:
    """The smallest documented request, if there is one that is short enough to be read."""
    examples = (
        told.get("requestBody", {}).get("content", {}).get(JSON, {}).get("examples", {}).values()
    )
    values = sorted((entry["value"] for entry in examples), key=lambda v: len(json.dumps(v)))
    return values[0] if values and len(json.dumps(values[0])) <= LONGEST else None


def _snippets(url: str, method: str, example: Any) -> tuple[tuple[str, str], ...]:
    """The same request in three languages."""
    body = None if example is None else json.dumps(example, indent=2, ensure_ascii=False)
    curl, python, script = f"curl {url}", f'httpx.get("{url}")', f'await fetch("{url}")'
    if method != "GET":
        curl = f"curl -X {method} {url}"
        python = f'httpx.{method.lower()}("{url}")'
        script = f'await fetch("{url}", {{ method: "{method}" }})'
    if body is not None:
        quoted = body.replace("'", "'\\''")
        curl += f" -H 'Content-Type: {JSON}' -d '{quoted}'"
        python = f'httpx.{method.lower()}("{url}", json={example!r})'
        script = (
            f'await fetch("{url}", {{\n  method: "{method}",\n'
            f'  headers: {{ "Content-Type": "{JSON}" }},\n  body: JSON.stringify({body}),\n}})'
        )
    return ("curl", curl), ("Python", f"import httpx\n\n{python}"), ("JavaScript", script)
