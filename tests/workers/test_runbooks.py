"""What the runbooks of docs/OPERATIONS.md tell an operator to do, done as it stands there."""

import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from service import CALLER, Comparisons, Service, example, until

from workers.access import Access, digest_of
from workers.settings import Settings
from workers.store.server import EmbeddedServer, connect

ROOT = Path(__file__).parents[2]


def blocks(title: str) -> list[str]:
    """The commands of one runbook."""
    text = (ROOT / "docs" / "OPERATIONS.md").read_text().partition("## Runbooks")[2]
    section = text.partition(f"### {title}\n")[2].partition("\n### ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    assert found
    return found


def environment(settings: Settings, **more: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **settings.as_environment(), "PATH": path, **more}


def run(commands: str, settings: Settings, **more: str) -> str:
    """What a block prints; each of its commands must succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=ROOT,
        env=environment(settings, **more),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def finished_one(service: Service) -> str:
    """A comparison that the running service has finished."""
    record, _ = service.jobs.submit(example(), CALLER)
    until(lambda: service.jobs.find(record.id, CALLER).status.finished, 60)
    return record.id


@pytest.mark.slow
def test_a_backup_has_everything(service, finished_one, tmp_path):
    backup, restore, keys = blocks("Backup and restore")
    places = {"BACKUP": str(tmp_path / "backup"), "RESTORED": str(tmp_path / "restored")}
    access = Access(service.jobs.questions.context.redis)
    revoked, secret = access.add("ann", ["read"])
    run(backup, service.settings, **places)
    access.revoke(revoked.id)
    told = run(restore, service.settings, **places)
    assert "0 tasks wait" in told
    settings = Settings(state=tmp_path / "restored")
    server = EmbeddedServer(settings)
    server.ensure()
    jobs = Comparisons.connect(settings)
    assert jobs.report(finished_one, CALLER) == service.jobs.report(finished_one, CALLER)
    restored = Access(jobs.questions.context.redis, settings.marker)
    assert restored.known(digest_of(secret))[0] is not None  # as the runbook says
    assert f"revoked {revoked.id}" in run(keys, settings, REVOKED="ann", **places)
    assert restored.known(digest_of(secret)) == (None, True)
    jobs.questions.context.redis.flushall()
    assert restored.known(digest_of(secret)) == (None, True)
    jobs.close()
    server.stop()


@pytest.mark.slow
def test_an_upgrade_begins_and_ends(service):
    before, after = blocks("Upgrade")
    assert run(before, service.settings).startswith("drained: workers have 0 tasks")
    told = run(after, service.settings).splitlines()
    assert told[0] == "tasks are handed out"
    assert told[1].split() == ["id", "caller", "kind", "why"]


@pytest.mark.slow
def test_keys_are_changed(server, settings):
    with closing(connect(settings)) as redis:
        old, secret = Access(redis).add("ann", ["read"])
        (rotation,) = blocks("Rotation of keys")
        told = run(rotation, settings, OLD=old.id)
        assert told.splitlines()[-1] == f"revoked {old.id} of ann"
        assert Access(redis).known(digest_of(secret)) == (None, True)
        assert [key.valid(0) for key in Access(redis).listing()] == [False, True]


@pytest.mark.slow
def test_another_machine_joins(server, settings):
    (join,) = blocks("More machines")
    process = subprocess.Popen(
        ["bash", "-c", f"exec env {join}"],
        cwd=ROOT,
        env=environment(settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout, closing(connect(settings)):
        try:
            assert process.stdout.readline() == "ready\n"
            jobs = Comparisons.connect(settings)
            assert jobs.workers() == 2
            jobs.close()
        finally:
            process.terminate()
        assert process.wait(60) == 0
