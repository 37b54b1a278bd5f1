"""Settings come from the environment, and what is documented is what is read."""

import re
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workers.errors import SettingError
from workers.settings import NETWORKS, NUMBERS, Settings, log_format, meteor_ahead


def test_defaults() -> None:
    settings = Settings.of({"XDG_STATE_HOME": "/somewhere", "WORKERS": ""})
    assert settings.workers == 2
    assert settings.redis_url is None
    assert settings.block is None
    assert settings.retention == 7 * 86_400


def test_state_directory_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert Settings().state == Path("/somewhere/sigtest")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Settings().state == Path("/home/somebody/.local/state/sigtest")


def test_a_user_without_a_home_is_asked_for_a_state_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 5)  # no such user
    with pytest.raises(SettingError, match="SIGTEST_STATE must name a directory"):
        Settings.of({})
    assert Settings.of({"SIGTEST_STATE": "/state"}).state == Path("/state")


def test_environment_comes_back() -> None:
    settings = Settings(
        redis_url="redis://there:1/2",
        state=Path("/state"),
        workers=3,
        retention=4,
        remembrance=5,
        cache=6,
        block=7,
        timeout=8,
        attempts=9,
        pending=10,
        budget=11,
        totals=12,
        memory=2**24,
        free=15,
        room=13,
    )
    assert Settings.of(settings.as_environment()) == settings
    assert Settings.of(Settings().as_environment()) == Settings()


@pytest.mark.parametrize(
    "value", ["0", "-1", "two", "1.5", "1_0", " 2", "²", "٣", "1001", "9" * 5000]
)
def test_nonsense_is_refused(value: str) -> None:
    with pytest.raises(SettingError, match="WORKERS"):
        Settings.of({"WORKERS": value})


@pytest.mark.parametrize("variable", [variable for variable, _, _ in NUMBERS.values()])
def test_numbers_that_clocks_or_the_store_cannot_bear_are_refused(variable: str) -> None:
    with pytest.raises(
        SettingError, match=rf"{variable} must be a whole number from .* to .*, not"
    ):
        Settings.of({variable: "9" * 16})


def test_seconds_end_within_the_calendar_and_below_what_alarms_take() -> None:
    kept = Settings.of({"SIGTEST_RETENTION": "999999999", "SIGTEST_TIMEOUT": "999999999"})
    assert (datetime.now(UTC) + timedelta(seconds=kept.retention)).year < 2100
    signal.alarm(kept.timeout)
    signal.alarm(0)
    for variable in ("SIGTEST_RETENTION", "SIGTEST_TIMEOUT", "SIGTEST_WEBHOOK_TIMEOUT"):
        with pytest.raises(SettingError, match=f"{variable} .* to 999,999,999, not"):
            Settings.of({variable: "1000000000"})


def test_an_embedded_server_of_no_memory_is_refused() -> None:
    with pytest.raises(SettingError, match="SIGTEST_MEMORY must be a whole number from 8,388,608"):
        Settings.of({"SIGTEST_MEMORY": "512"})


def test_a_form_of_the_log_that_is_none_is_refused() -> None:
    assert [log_format({"SIGTEST_LOG": form}) for form in ("", "text", "json")] == [
        "text",
        "text",
        "json",
    ]
    with pytest.raises(SettingError, match="SIGTEST_LOG must be json or text, not 'xml'"):
        log_format({"SIGTEST_LOG": "xml"})


def test_when_meteor_is_loaded() -> None:
    assert meteor_ahead({})
    assert meteor_ahead({"SIGTEST_METEOR": "ahead"})
    assert not meteor_ahead({"SIGTEST_METEOR": "asked"})
    with pytest.raises(SettingError, match="SIGTEST_METEOR must be ahead or asked, not 'never'"):
        meteor_ahead({"SIGTEST_METEOR": "never"})


def test_every_variable_is_documented() -> None:
    documented = set(re.findall(r"(?<![$\w])[A-Z]+(?:_[A-Z]+)*(?=\.)", Settings.__doc__ or ""))
    assert documented == {
        "REDIS_URL",
        "SIGTEST_STATE",
        NETWORKS,
        *(variable for variable, _, _ in NUMBERS.values()),
    }
