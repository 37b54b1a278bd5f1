"""The settings of the queue and its workers, read from the environment here and nowhere else."""

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
        redis_url: A server that runs already; without it one is started.
        state: Directory of the embedded server's data; `sigtest` in `$XDG_STATE_HOME` where it is
            not set.
        workers: Worker processes.
        retention: Seconds a question, its texts and its report are kept; a test set, after its last
            change.
        remembrance: Seconds afterwards that answer 410 rather than 404.
        cache: Seconds that statistics (numbers, no text) are kept after their last use, for their
            caller alone.
        block: Resamples a task; chosen from the size of the job where it is not set. Reports do not
            depend on it.
        timeout: Seconds a task may take.
        attempts: Starts of a task before its question fails, where the worker dies each time.
        pending: Unfinished questions that a caller may have; 429 beyond.
        budget: Seconds of one core that a caller's unfinished questions may be predicted to take;
            429 beyond.
        room: Bytes in the store that they may be predicted to take: texts, and 8 for each score
            that resampling keeps and each statistic; 429 beyond.
        totals: Bytes of resampled totals kept for leaderboards, at most a quarter of the embedded
            store; made again beyond.
        memory: Bytes that the embedded store may take, half of the machine's where it is not set;
            503 for what is new beyond.
        lasting: Bytes that a caller may have that last longer than the retention, as `expires` asks
            for; 409 beyond.
        free: Bytes of the store's disk that must be free for what is new; 503 below.
        webhook_timeout: Seconds in which the receiver of a webhook must answer.
        webhook_pause: Seconds before a message is sent for the second time; each further pause is
            twice as long.
        webhook_longest: Seconds of the longest pause; after 24 attempts a message is given up, by
            default after three days.
        webhook_networks: Private networks that messages may be sent to, such as
            `10.1.0.0/16,127.0.0.0/8`.
        log: `json` for logs that programs read.
        meteor: `ahead` loads METEOR, where it is installed, when a worker starts, and keeps it: 0.5
            GB a worker. `asked` loads it at the first task of a worker that needs it, which then
            takes some six seconds more, and gives the memory back after a quarter of an hour
            without.
        metrics: Names of metrics that other packages bring (entry points `sigtest.metrics`) and
            that may be loaded, between commas.
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
    lasting: Bytes = 2**30
    free: Bytes = 2**28
    webhook_timeout: Seconds = 10
    webhook_pause: Seconds = 5
    webhook_longest: Seconds = 6 * 3600
    webhook_networks: Annotated[tuple[Network, ...], NoDecode, BeforeValidator(_networks)] = ()
    log: Literal["json", "text"] = "text"
    meteor: Literal["ahead", "asked"] = "ahead"
    metrics: str = ""

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
