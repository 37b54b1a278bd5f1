"""The settings of the queue and its workers, read from the environment here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from workers.errors import SettingError
from workers.logs import FORMATTERS

DAY = 86_400
SECONDS = 999_999_999  # 31 years: dates in reports, the store's clocks and alarms bear no more
BYTES = COUNT = 10**15
LEAST_MEMORY = 2**23  # the embedded server takes some 2 MB before anything is stored
Network = IPv4Network | IPv6Network


def _state() -> Path:
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise SettingError(
            "SIGTEST_STATE must name a directory: this user has no home for the default."
        ) from error
    return Path(base) / "sigtest"


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


@dataclass(frozen=True)
class Settings:
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
    """

    redis_url: str | None = None
    state: Path = field(default_factory=_state)
    workers: int = 2
    retention: int = 7 * DAY
    remembrance: int = 7 * DAY
    cache: int = 3600
    block: int | None = None
    timeout: int = 3600
    attempts: int = 5
    pending: int = 1000
    budget: int = 7200
    room: int = 4 * 2**30
    totals: int = 2**30
    memory: int = field(default_factory=_memory)
    free: int = 2**28
    webhook_timeout: int = 10
    webhook_pause: int = 5
    webhook_longest: int = 6 * 3600
    webhook_networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the environment; variables that are unset or empty have their defaults.

        Raises:
            SettingError: A number that is none or out of its range, a network that is none, or no
                SIGTEST_STATE where the user has no home.
        """
        given = {name: value for name, value in environment.items() if value}
        texts = {"redis_url": given.get("REDIS_URL")}
        paths = {"state": Path(given["SIGTEST_STATE"])} if "SIGTEST_STATE" in given else {}
        numbers = {
            field: whole_number(given[variable], variable, low, high)
            for field, (variable, low, high) in NUMBERS.items()
            if variable in given
        }
        networks = _networks(given.get(NETWORKS, ""))
        return cls(**texts, **paths, **numbers, webhook_networks=networks)  # type: ignore[arg-type]

    @property
    def most_totals(self) -> int:
        """Bytes of totals, which nobody holds: a quarter of the embedded store at most."""
        return self.totals if self.redis_url else min(self.totals, self.memory // 4)

    @property
    def marker(self) -> Path | None:
        """The file that says that keys are needed, next to the embedded server's data."""
        return None if self.redis_url else self.state / "keys-needed"

    def as_environment(self) -> dict[str, str]:
        """The variables that `of` turns into these settings; empty where a default is meant."""
        texts = {"REDIS_URL": self.redis_url or "", "SIGTEST_STATE": str(self.state.absolute())}
        numbers = {var: str(getattr(self, field) or "") for field, (var, *_) in NUMBERS.items()}
        networks = {NETWORKS: ",".join(map(str, self.webhook_networks))}
        return {**texts, **numbers, **networks}


NUMBERS = {  # with the least and the most that make sense
    "workers": ("WORKERS", 1, 1000),
    "retention": ("SIGTEST_RETENTION", 1, SECONDS),
    "remembrance": ("SIGTEST_REMEMBRANCE", 1, SECONDS),
    "cache": ("SIGTEST_CACHE", 1, SECONDS),
    "block": ("SIGTEST_BLOCK", 1, COUNT),
    "timeout": ("SIGTEST_TIMEOUT", 1, SECONDS),
    "attempts": ("SIGTEST_ATTEMPTS", 1, COUNT),
    "pending": ("SIGTEST_PENDING", 1, COUNT),
    "budget": ("SIGTEST_BUDGET", 1, SECONDS),
    "room": ("SIGTEST_ROOM", 1, BYTES),
    "totals": ("SIGTEST_TOTALS", 1, BYTES),
    "memory": ("SIGTEST_MEMORY", LEAST_MEMORY, BYTES),
    "free": ("SIGTEST_FREE", 1, BYTES),
    "webhook_timeout": ("SIGTEST_WEBHOOK_TIMEOUT", 1, SECONDS),
    "webhook_pause": ("SIGTEST_WEBHOOK_PAUSE", 1, SECONDS),
    "webhook_longest": ("SIGTEST_WEBHOOK_LONGEST", 1, SECONDS),
}
NETWORKS = "SIGTEST_WEBHOOK_NETWORKS"
LOG, METEOR = "SIGTEST_LOG", "SIGTEST_METEOR"
VARIABLES = (
    "REDIS_URL",
    "SIGTEST_STATE",
    NETWORKS,
    LOG,
    METEOR,
    *(variable for variable, _, _ in NUMBERS.values()),
)  # all that is read here
AHEAD, ASKED = "ahead", "asked"


def log_format(environment: Mapping[str, str] = os.environ) -> str:
    """SIGTEST_LOG: how lines of the log are written, `text` (the default) or `json`.

    Raises:
        SettingError: Anything else.
    """
    form = environment.get(LOG) or "text"
    if form not in FORMATTERS:
        raise SettingError(f"{LOG} must be {' or '.join(FORMATTERS)}, not {form!r}.")
    return form


def meteor_ahead(environment: Mapping[str, str] = os.environ) -> bool:
    """SIGTEST_METEOR: whether METEOR, where it is installed, is loaded `ahead` (the default).

    `asked` loads it when somebody asks for it, and gives its memory back when that is long ago.

    Raises:
        SettingError: Anything else.
    """
    when = environment.get(METEOR) or AHEAD
    if when not in (AHEAD, ASKED):
        raise SettingError(f"{METEOR} must be {AHEAD} or {ASKED}, not {when!r}.")
    return when == AHEAD


def refuse_arguments(arguments: Sequence[str]) -> None:
    """Check that nobody expects a command line: settings come from the environment.

    Raises:
        SettingError: There are arguments.
    """
    if arguments:
        raise SettingError(
            f"{arguments[0]!r} is not read: settings are environment variables, such as PORT=8080."
        )


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise SettingError(
            f"{NETWORKS} must be networks such as 10.1.0.0/16, separated by commas: {error}."
        ) from None


def whole_number(value: str, variable: str, low: int, high: int) -> int:
    """The number that a variable holds, written in digits.

    Raises:
        SettingError: It is none, or not between `low` and `high`.
    """
    digits = value.isascii() and value.isdigit() and len(value) <= len(str(high))
    if not digits or not low <= int(value) <= high:
        raise SettingError(
            f"{variable} must be a whole number from {low:,} to {high:,}, not {value!r}."
        )
    return int(value)
