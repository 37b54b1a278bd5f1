"""Requests to one service: sent again where that may help, and errors as the library has them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from sigtest.errors import InputError, ServiceError, of_problem
from sigtest.version import __version__

WAIT_SECONDS = 1  # that one request waits for the end, and so how often progress is told
ATTEMPTS = 7
PAUSES = (0.1, 10.0)  # seconds before the first repetition, and at most where none were asked for
PATIENCE = 3600.0  # seconds that `Retry-After` may ask for; beyond, its error is told
TIMEOUT = httpx.Timeout(60.0, connect=10.0)

_BUSY = {429, 502, 503, 504}


class Connection:
    """Asks one service.

    Args:
        url: Where the service is, such as `http://127.0.0.1:8000`.
        api_key: The caller's key, where the service wants one.
        sleep: Waits so many seconds.

    Raises:
        ServiceError: Not an http or https address, or not a key.
    """

    def __init__(
        self, url: str, api_key: str | None = None, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.url = url.rstrip("/")
        self.sleep = sleep
        self._met = False
        headers = {"User-Agent": f"sigtest/{__version__}"}
        if api_key is not None:
            if not (api_key.isascii() and api_key.isprintable() and api_key == api_key.strip()):
                raise ServiceError(
                    "The API key cannot be sent: keys have no line break, no blank at an end and "
                    "ASCII letters only."
                )
            headers["Authorization"] = f"Bearer {api_key}"
        try:
            if httpx.URL(self.url).scheme not in {"http", "https"} or not httpx.URL(self.url).host:
                raise httpx.InvalidURL("it needs http:// or https:// and a host")
            self._http = httpx.Client(base_url=self.url, headers=headers, timeout=TIMEOUT)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ServiceError(f"{url!r} is not the address of a service: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def pages(
        self, path: str, entries: str, wanted: Mapping[str, str | Sequence[str]]
    ) -> Iterator[dict[str, Any]]:
        """All entries of a listing that pass its filters."""
        params = dict(wanted)
        while True:
            page = self.told("GET", path, params=params)
            yield from page[entries]
            if page["next_cursor"] is None:
                return
            params["cursor"] = page["next_cursor"]

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that answers a JSON body; see `ask`."""
        headers = {"Content-Type": "application/json"}
        return self.told(method, path, headers=headers, content=encoded(body))

    def told(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        """The JSON object that one answer holds; see `ask`."""
        return self.object_of(self.ask(method, path, **content))

    def ask(self, method: str, path: str, **content: Any) -> httpx.Response:
        """One answer, good or a `SigtestError`; asks again where that may help.

        It waits as long as `Retry-After` says; where nothing does, longer and longer.
        """
        headers = {"Prefer": f"wait={WAIT_SECONDS}", **content.pop("headers", {})}
        pause, longest = PAUSES
        for left in reversed(range(ATTEMPTS)):
            try:
                answer = self._http.request(method, path, headers=headers, **content)
            except httpx.TransportError as error:
                # a service that has answered before is being restarted; another is not there
                absent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if not left or (absent and not self._met):
                    what = "No service answers at" if absent else "The connection broke to"
                    raise ServiceError(f"{what} {self.url}: {error}") from error
                wait = min(pause, longest)
            else:
                self._met = True
                wait = seconds_of(answer, default=min(pause, longest))
                if not _comes(answer) or not left or wait > PATIENCE:
                    return self._checked(answer)
            self.sleep(wait)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        """The answer itself unless it is an error.

        Raises:
            SigtestError: With the message of the service's problem document.
        """
        if answer.is_success:
            return answer
        try:
            problem = answer.json()
        except ValueError:
            problem = None
        if not isinstance(problem, dict) or not isinstance(problem.get("detail"), str):
            raise ServiceError(f"{self.url} answers {answer.status_code} {answer.reason_phrase}.")
        raise of_problem(problem)

    def object_of(self, answer: httpx.Response) -> dict[str, Any]:
        """The JSON object that an answer holds.

        Raises:
            ServiceError: It holds none.
        """
        try:
            body = answer.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self.stranger()
        return body

    def stranger(self) -> ServiceError:
        """The error of an answer that no sigtest service gives."""
        return ServiceError(f"{self.url} does not answer like a sigtest service.")


def encoded(body: Mapping[str, Any]) -> bytes:
    """A request as it is sent; arrays and numbers of NumPy and pandas as JSON has them.

    Raises:
        InputError: Something that JSON cannot hold.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:  # also of half a surrogate pair
        raise InputError(f"The request cannot be sent as JSON: {error}.") from error


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it has a {type(value).__name__}")


def _comes(answer: httpx.Response) -> bool:
    """Whether asking again may help: the service is busy, or is still computing what is asked."""
    computing = answer.status_code == 409 and "Retry-After" in answer.headers
    return answer.status_code in _BUSY or computing


def seconds_of(answer: httpx.Response, default: float) -> float:
    """What `Retry-After` asks for: seconds, or a time (RFC 9110, 10.2.3)."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        moment = parsedate_to_datetime(asked)
    except ValueError:
        return default
    if moment.tzinfo is None:  # a zone of -0000
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
