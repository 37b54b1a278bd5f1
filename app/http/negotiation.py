"""What a client would like: a format, a conditional answer, to wait."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Query, Request

from app.http.problems import NotAcceptableError, PreconditionError
from app.settings import Settings
from sigtest.kinds import KINDS
from sigtest.render.drawing import PICTURE_FORMATS
from sigtest.render.formats import FORMATS, Layout

PROGRAMS = ("/v1/", "/openapi", "/metrics")  # what answers no people


@dataclass(frozen=True)
class Wish:
    """What a client says of formats, and how what it gets is to be laid out.

    Attributes:
        accept: Its `Accept` headers; nothing accepts everything.
        format: Overrides Accept.
        caption: Of that table, instead of its own.
        label: Of that table, for LaTeX to refer to.
        names: What tables call a metric or system: `bleu=BLEU`; may be repeated.
    """

    accept: Annotated[tuple[str, ...], Header(include_in_schema=False)] = ()
    format: Annotated[str | None, Query(json_schema_extra={"enum": list(FORMATS)})] = None
    table: Annotated[
        str | None,
        Query(
            description="The only table to show: "
            + "; ".join(f"of {own.path} {', '.join(own.tables)}" for own in KINDS.values())
            + ". Of CSV, which."
        ),
    ] = None
    caption: Annotated[str, Query()] = ""
    label: Annotated[str, Query()] = ""
    names: Annotated[tuple[str, ...], Query()] = ()

    @property
    def layout(self) -> Layout:
        """The layout that is wanted."""
        return Layout(self.table, self.caption, self.label, self.names)


def choose_format(wish: Wish) -> str:
    """The name of the format that a client wants most.

    Raises:
        NotAcceptableError: It wants none that there is.
        RecipeError: It wants a layout of what has no tables.
    """
    spellings = {form: own.media_types for form, own in FORMATS.items()}
    name = _choose("report", spellings, wish.format, wish.accept)
    FORMATS[name].check(wish.layout)
    return name


def choose_picture_format(request: Request, name: str, named: str | None) -> tuple[str, str]:
    """A picture's name without its suffix, and the suffix of the format that a client wants most.

    Args:
        request: Its `Accept` counts where neither of the others says it.
        name: Of the picture, perhaps with a suffix.
        named: `?format=`.

    Raises:
        NotAcceptableError: It wants none that there is.
    """
    stem, _, suffix = name.rpartition(".")
    if suffix not in PICTURE_FORMATS:
        stem, suffix = name, ""
    spellings = {form: (media,) for form, media in PICTURE_FORMATS.items()}
    named = suffix or None if named is None else named
    return stem, _choose("picture", spellings, named, request.headers.getlist("accept"))


def _choose(
    what: str, spellings: Mapping[str, Sequence[str]], named: str | None, accept: Sequence[str]
) -> str:
    """The format that is named, or is wanted most, of some with their media types.

    Raises:
        NotAcceptableError: There is none such.
    """
    if named is not None and named not in spellings:
        known = ", ".join(spellings)
        raise NotAcceptableError(
            f"This {what} has no format {named[:60]!r}; choose one of {known}.", field="format"
        )
    wanted = dict(ranges(accept)) or {"*/*": 1.0}
    best = named or max(spellings, key=lambda form: _weight(spellings[form], wanted))
    if named is None and _weight(spellings[best], wanted)[0] <= 0:
        offered = ", ".join(own[0] for own in spellings.values())
        raise NotAcceptableError(f"This {what} is available as {offered}.", field="Accept")
    return best


def shows_pages(request: Request) -> bool:
    """Whether an address answers people, too."""
    return not request.url.path.startswith(PROGRAMS)


def wants_page(request: Request) -> bool:
    """Whether a client prefers a page to JSON, as browsers do; who has no preference gets JSON."""
    wanted = dict(ranges(request.headers.getlist("accept")))
    weights = {own: _weight(FORMATS[own].media_types, wanted) for own in ("html", "json")}
    preferred = bool(wanted) and weights["html"] > weights["json"]
    return preferred and shows_pages(request)


def ranges(accept: Sequence[str]) -> list[tuple[str, float]]:
    """Media ranges, or codings, and their quality, as RFC 9110 section 12.4.2 writes them."""
    found = []
    for part in filter(None, (part.strip() for part in ",".join(accept).split(","))):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weights = [p[2:] for p in parameters if p.startswith("q=")] or ["1"]
        valid = re.fullmatch(r"[01](\.\d{0,3})?", weights[0])
        found.append((name, min(float(weights[0]), 1.0) if valid else 0.0))
    return found


def _weight(spellings: Sequence[str], wanted: dict[str, float]) -> tuple[float, int]:
    """Quality of a format with these media types, then how precisely it was named."""
    for spelling in spellings:
        if spelling in wanted:
            return wanted[spelling], 2
    if (group := spellings[0].partition("/")[0] + "/*") in wanted:
        return wanted[group], 1
    return wanted.get("*/*", 0.0), 0


async def _wait(request: Request) -> int | None:
    """Seconds of `Prefer: wait=N` (RFC 7240), as far as the service grants them."""
    settings: Settings = request.state.settings
    preferences = ",".join(request.headers.getlist("prefer"))
    found = re.search(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=[,;]|$)', preferences, re.I)
    return min(int(found[1]), settings.max_wait_seconds) if found else None


def matches(request: Request, etag: str) -> bool:
    """Whether the client has this very representation already (RFC 9110 section 13.1.2)."""
    held = ",".join(request.headers.getlist("if-none-match"))
    tags = [tag.strip().removeprefix("W/") for tag in held.split(",")]
    return etag.removeprefix("W/") in tags or "*" in tags


def require_match(request: Request, etag: str) -> None:
    """Check that something is still what the client saw (RFC 9110 section 13.1.1).

    Raises:
        PreconditionError: `If-Match` names other ETags.
    """
    held = ",".join(request.headers.getlist("if-match"))
    tags = [tag.strip() for tag in held.split(",")]
    if held and "*" not in tags and f'"{etag}"' not in tags:
        raise PreconditionError(
            "It has changed since your If-Match was its ETag; get it again before you change it.",
            field="If-Match",
        )


Wished = Annotated[Wish, Depends()]
Wait = Annotated[int | None, Depends(_wait)]
