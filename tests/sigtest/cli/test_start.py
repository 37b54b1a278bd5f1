"""What a small comparison loads: nothing that it has no use for."""

import json
import subprocess
import sys

UNUSED = (
    "fastapi", "google", "httpx", "opentelemetry", "pandas", "redis", "rq", "statsmodels",
    "sigtest.accuracy", "sigtest.client", "sigtest.human", "sigtest.meta", "sigtest.warm",
)  # fmt: skip
CODE = """
import json, sys
from sigtest.cli import main
assert main(json.loads(sys.argv[1])) == 0
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(arguments)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_a_comparison_loads_no_other_kind_and_no_service(example):
    files = [str(example / name) for name in ("systems/aspen.en", "systems/birch.en")]
    asked = ("compare", "-r", str(example / "reference.en"), *files, "--resamples", "99")
    assert loaded(*asked) & set(UNUSED) == set()


def test_redis_can_be_loaded_after_sacrebleu():
    code = "import sigtest.metrics.sacre, redis; print(redis.Redis)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "redis" in ran.stdout


def test_all_kinds_are_there_when_they_are_looked_at():
    code = (
        "from sigtest import kinds; assert kinds.KINDS is kinds.KINDS; assert len(kinds.KINDS) > 3"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
