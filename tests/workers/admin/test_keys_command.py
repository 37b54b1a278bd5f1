"""`sigtest-admin keys`, as an operator runs it."""

import os
import re
import subprocess
import sys
from contextlib import closing

import pytest
from commanded import admin, command

from workers.access import Access, digest_of
from workers.settings import Settings
from workers.store.server import connect


def test_keys_are_made_listed_and_revoked(server, settings):
    made = command(
        settings, "keys", "add", "ann", "--scope", "read", "--days", "7", "--budget", "60"
    )
    secret = made.stdout.strip()
    assert re.fullmatch(r"sigtest_[\w-]{43}", secret), made.stderr
    with closing(connect(settings)) as redis:
        (key,) = Access(redis).listing()
        assert (key.name, key.scopes, key.budget) == ("ann", ("read",), 60)
        listed = admin(settings, "keys", "list").stdout
        assert re.search(rf"^{key.id} +ann +read +\S+ +\S+ +60 +valid$", listed, re.M)
        assert secret not in listed
        assert admin(settings, "keys", "revoke", key.id).stdout == f"revoked {key.id} of ann\n"
        assert Access(redis).known(digest_of(secret)) == (None, True)
    assert admin(settings, "keys", "list").stdout.endswith("revoked\n")


def test_a_key_can_be_made_before_the_service_runs(tmp_path):
    settings = Settings(state=tmp_path)
    assert admin(settings, "keys", "add", "ann").returncode == 0
    assert " ann " in admin(settings, "keys", "list").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("keys", "revoke", "nothing"), "no key 'nothing'"),
        (("keys", "add", "<ann>"), "name"),
        (("keys", "add", "ann", "--scope", "write"), "write"),
        (("keys",), "add|list|revoke"),
    ],
)
def test_mistakes_are_one_message(server, settings, words, said):
    done = admin(settings, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_cannot_be_reached_is_one_message(tmp_path):
    done = admin(Settings(state=tmp_path, redis_url="redis://127.0.0.1:1/0"), "keys", "list")
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not answer" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "add", "ann", "--days", "nan"),
        ("keys", "add", "ann", "--days", "inf"),
        ("keys", "add", "ann", "--days", "0"),
        ("keys", "add", "ann", "--days", "36501"),
        ("keys", "add", "ann", "--budget", "1000000000"),
        ("purge", "ann", "--yes", "--days", "-1"),
        ("purge", "ann", "--yes", "--days", "nan"),
        ("drain", "--seconds", "-1"),
        ("drain", "--seconds", "nan"),
    ],
)
def test_times_that_are_none_are_refused_and_leave_nothing_behind(server, settings, words):
    done = admin(settings, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert words[-2].strip("-") in done.stderr
    assert "must be" in done.stderr
    assert "drained" not in admin(settings, "usage").stdout
    assert len(admin(settings, "keys", "list").stdout.splitlines()) == 1


def test_output_that_nobody_takes_is_no_traceback(server, settings):
    environment = {**os.environ, **settings.as_environment()}
    words = [sys.executable, "-m", "workers.admin", "usage"]
    reader, writer = os.pipe()
    os.close(reader)
    for output, status, said in (
        (writer, 141, b""),
        (os.open("/dev/full", os.O_WRONLY), 2, b"sigtest-admin: No space left on device\n"),
    ):
        done = subprocess.run(words, env=environment, stdout=output, stderr=-1, check=False)
        os.close(output)
        assert (done.returncode, done.stderr) == (status, said)
