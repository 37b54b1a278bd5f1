"""The settings of the queue and its workers, read from the environment here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasGenerator, BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sigtest.requests.model import wrong
from workers.errors import SettingError

DAY = 86_400
SECONDS = 999_999_999  # 31 years: dates in reports, the store's clocks and alarms bear no more
BYTES = COUNT = 10**15
LEAST_MEMORY = 2**23  # the embedded server takes some 2 MB before anything is stored
PREFIX = "SIGTEST_"
NETWORKS = "SIGTEST_WEBHOOK_NETWORKS"
Network = IPv4Network | IPv6Network


class Variables(BaseSettings):
    """Settings from the environment; variables that are unset or empty have their defaults.

    Raises:
        SettingError: The first variable that cannot be used, and what it must be.
    """

    model_config = SettingsConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: PREFIX + name.upper()),
        case_sensitive=True,
        env_ignore_empty=True,
        env_prefix=PREFIX,
        frozen=True,
        populate_by_name=True,
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            flaw = error.errors()[0]
            words = flaw["msg"]
            if words.startswith("Input should be "):
                wanted = words.removeprefix("Input should be ").replace("'", "")
                words = f"must be {wanted}, not {flaw['input']!r}"
            raise SettingError(f"{flaw['loc'][0]} {words}.") from None

    @classmethod
    def variables(cls) -> dict[str, str]:
        """The variable of each setting."""
        return {name: str(field.validation_alias) for name, field in cls.model_fields.items()}


def whole(value: object, low: int, high: int) -> object:
    """A whole number from digits; what is no text as it is.

    Raises:
        PydanticCustomError: No whole number, or not between `low` and `high`.
    """
    if not isinstance(value, str):
        return value
    digits = value.isascii() and value.isdigit() and len(value) <= len(str(high))
    if not digits or not low <= int(value) <= high:
        raise wrong(f"must be a whole number from {low:,} to {high:,}, not {value!r}")
    return int(value)


def within(low: int, high: int) -> BeforeValidator:
    """The check of a setting that is a whole number."""
    return BeforeValidator(lambda value: whole(value, low, high))


Seconds = Annotated[int, within(1, SECONDS)]
Bytes = Annotated[int, within(1, BYTES)]
Count = Annotated[int, within(1, COUNT)]


def _state() -> Path:
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise SettingError(
            "SIGTEST_STATE must name a directory: this user has no home for the default."
        ) from error
    return (Path(base) / "sigtest").absolute()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _networks(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    except ValueError as error:
        raise wrong(f"must be networks such as 10.1.0.0/16, separated by commas: {error}") from None


class Settings(Variables):
    """Where questions are kept, who computes them and for how long they stay.

    Attributes:
        redis_url: REDIS_URL. A Redis or Valkey server (6.2 or later) that runs already, with
            an append-only file and `noeviction`. Without it an embedded server is started.
        state: SIGTEST_STATE. Directory of the embedded server's data; a per-user state directory
            ($XDG_STATE_HOME/sigtest) by default.
        workers: WORKERS. Worker processes, 2 by default; each uses one core.
        retention: SIGTEST_RETENTION. Seconds a question, its texts and its report are kept; seven
            days by default.
        remembrance: SIGTEST_REMEMBRANCE. Seconds afterwards during which an expired or deleted
            question is said to be gone, not unknown; seven days by default.
        cache: SIGTEST_CACHE. Seconds that derived statistics are kept after their last use, for
            other questions of the same caller about the same texts; one hour by default.
        block: SIGTEST_BLOCK. Resamples a task; by default as many as take about half a second.
            Reports do not depend on it.
        timeout: SIGTEST_TIMEOUT. Seconds a single task may take; one hour by default.
        attempts: SIGTEST_ATTEMPTS. How often a task is started before its question fails, where
            the worker dies each time; 5 by default.
        pending: SIGTEST_PENDING. Unfinished questions that a caller may have; 1,000 by default.
        budget: SIGTEST_BUDGET. Seconds of one core that a caller's unfinished questions may be
            predicted to take together; two hours by default.
        room: SIGTEST_ROOM. Bytes of the store that a caller's unfinished questions may be predicted
            to take together; 4 GiB by default.
        totals: SIGTEST_TOTALS. Bytes of resampled totals kept for the leaderboards of all test
            sets; 1 GiB by default. What was not used for the longest time goes first, and is made
            again when it is needed.
        memory: SIGTEST_MEMORY. Bytes that the embedded server may take, beyond which nothing new
            is accepted; half of this machine's memory by default.
        free: SIGTEST_FREE. Bytes of its disk that must be free for something new to be accepted;
            256 MiB by default.
        webhook_timeout: SIGTEST_WEBHOOK_TIMEOUT. Seconds in which a receiver must answer; 10 by
            default.
        webhook_pause: SIGTEST_WEBHOOK_PAUSE. Seconds before a message is sent for the second time;
            5 by default. Each further pause is twice as long.
        webhook_longest: SIGTEST_WEBHOOK_LONGEST. Seconds of the longest pause; six hours by
            default.
        webhook_networks: SIGTEST_WEBHOOK_NETWORKS. Private networks that messages may be sent to,
            such as 10.1.0.0/16,127.0.0.0/8; none by default.
        log: SIGTEST_LOG. How lines of the log are written, text (the default) or json.
        meteor: SIGTEST_METEOR. When METEOR, where it is installed, is loaded: `ahead`, by default,
            or when it is `asked` for, which gives its memory back when that is long ago.
    """

    redis_url: str | None = Field(default=None, validation_alias="REDIS_URL")
    state: Annotated[Path, AfterValidator(Path.absolute)] = Field(default_factory=_state)
    workers: Annotated[int, within(1, 1000)] = Field(default=2, validation_alias="WORKERS")
    retention: Seconds = 7 * DAY
    remembrance: Seconds = 7 * DAY
    cache: Seconds = 3600
    block: Count | None = None
    timeout: Seconds = 3600
    attempts: Count = 5
    pending: Count = 1000
    budget: Seconds = 7200
    room: Bytes = 4 * 2**30
    totals: Bytes = 2**30
    memory: Annotated[int, within(LEAST_MEMORY, BYTES)] = Field(default_factory=_memory)
    free: Bytes = 2**28
    webhook_timeout: Seconds = 10
    webhook_pause: Seconds = 5
    webhook_longest: Seconds = 6 * 3600
    webhook_networks: Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_networks)] = ()
    log: Literal["json", "text"] = "text"
    meteor: Literal["ahead", "asked"] = "ahead"

    @property
    def most_totals(self) -> int:
        """Bytes of totals, which nobody holds: a quarter of the embedded store at most."""
        return self.totals if self.redis_url else min(self.totals, self.memory // 4)

    @property
    def marker(self) -> Path | None:
        """The file that says that keys are needed, next to the embedded server's data."""
        return None if self.redis_url else self.state / "keys-needed"

    def as_environment(self) -> dict[str, str]:
        """The variables that these settings come from; empty where a default is meant."""
        values = self.model_dump(mode="json")
        return {
            variable: ",".join(value) if isinstance(value, list) else str(value or "")
            for name, variable in self.variables().items()
            for value in [values[name]]
        }


def refuse_arguments(arguments: Sequence[str]) -> None:
    """Check that nobody expects a command line: settings come from the environment.

    Raises:
        SettingError: There are arguments.
    """
    if arguments:
        raise SettingError(
            f"{arguments[0]!r} is not read: settings are environment variables, such as PORT=8080."
        )
