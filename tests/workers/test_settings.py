"""Settings come from the environment, and what is documented is what is read."""

import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workers.errors import SettingError
from workers.settings import Settings

NUMBERS = [
    Settings.variables()[name]
    for name, field in Settings.model_fields.items()
    if field.annotation in (int, int | None)
]


def test_defaults(monkeypatch):
    monkeypatch.setenv("WORKERS", "")
    settings = Settings()
    assert settings.workers == 2
    assert settings.redis_url is None
    assert settings.block is None
    assert settings.retention == 7 * 86_400


def test_state_directory_is_the_users(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert Settings().state == Path("/somewhere/sigtest")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Settings().state == Path("/home/somebody/.local/state/sigtest")


def test_a_user_without_a_home_is_asked_for_a_state_directory(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 5)  # no such user
    with pytest.raises(SettingError, match="SIGTEST_STATE must name a directory"):
        Settings()
    assert Settings.model_validate({"SIGTEST_STATE": "/state"}).state == Path("/state")


def test_environment_comes_back(monkeypatch):
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
        webhook_networks="10.1.0.0/16,::1/128",
    )
    for name, value in settings.as_environment().items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings
    for name, value in Settings().as_environment().items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


@pytest.mark.parametrize(
    "value", ["0", "-1", "two", "1.5", "1_0", " 2", "²", "٣", "1001", "9" * 5000]
)
def test_nonsense_is_refused(value):
    with pytest.raises(SettingError, match="WORKERS"):
        Settings.model_validate({"WORKERS": value})


@pytest.mark.parametrize("variable", NUMBERS)
def test_numbers_that_clocks_or_the_store_cannot_bear_are_refused(variable):
    with pytest.raises(
        SettingError, match=rf"{variable} must be a whole number from .* to .*, not"
    ):
        Settings.model_validate({variable: "9" * 16})


def test_seconds_end_within_the_calendar_and_below_what_alarms_take():
    kept = Settings.model_validate(
        {"SIGTEST_RETENTION": "999999999", "SIGTEST_TIMEOUT": "999999999"}
    )
    assert (datetime.now(UTC) + timedelta(seconds=kept.retention)).year < 2100
    signal.alarm(kept.timeout)
    signal.alarm(0)
    for variable in ("SIGTEST_RETENTION", "SIGTEST_TIMEOUT", "SIGTEST_WEBHOOK_TIMEOUT"):
        with pytest.raises(SettingError, match=f"{variable} .* to 999,999,999, not"):
            Settings.model_validate({variable: "1000000000"})


def test_an_embedded_server_of_no_memory_is_refused():
    with pytest.raises(SettingError, match="SIGTEST_MEMORY must be a whole number from 8,388,608"):
        Settings.model_validate({"SIGTEST_MEMORY": "512"})


def test_a_form_of_the_log_that_is_none_is_refused():
    assert Settings().log == "text"
    assert Settings.model_validate({"SIGTEST_LOG": "json"}).log == "json"
    with pytest.raises(SettingError, match="SIGTEST_LOG must be json or text, not 'xml'"):
        Settings.model_validate({"SIGTEST_LOG": "xml"})


def test_when_meteor_is_loaded():
    assert Settings.model_fields["meteor"].default == "ahead"
    assert Settings.model_validate({"SIGTEST_METEOR": "asked"}).meteor == "asked"
    with pytest.raises(SettingError, match="SIGTEST_METEOR must be ahead or asked, not 'never'"):
        Settings.model_validate({"SIGTEST_METEOR": "never"})
