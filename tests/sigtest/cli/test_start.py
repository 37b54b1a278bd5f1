"""What a small comparison loads: nothing that it has no use for."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
import sacrebleu
from sacrebleu.metrics.bleu import BLEU

from sigtest.cli import main
from sigtest.metrics import bleu, sacre

UNUSED = {
    "fastapi", "google", "httpx", "multiprocessing", "numba.np.arrayobj", "opentelemetry",
    "pandas", "portalocker", "redis", "rq",
    "sacrebleu", "scipy.special", "statistics", "statsmodels", "tarfile",
    "sigtest.client", "sigtest.meta_evaluation", "sigtest.plans", "sigtest.warm",
}  # fmt: skip
if version("scipy") < "1.18":  # whose special functions need it themselves
    UNUSED.add("scipy.linalg")
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
    assert main([*asked]) == 0  # compiles the kernels, if nothing has
    assert loaded(*asked) & UNUSED == set()


def test_redis_can_be_loaded_after_sacrebleu():
    code = "from sigtest.metrics.sacre import BLEU; import redis; print(redis.Redis)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "redis" in ran.stdout


def test_what_is_said_of_sacrebleu_without_loading_it_is_true():
    assert sacrebleu.__version__ == sacre.VERSION
    assert set(bleu.FAST) < set(BLEU.TOKENIZERS)
    assert {k: v or 0.0 for k, v in BLEU.SMOOTH_DEFAULTS.items()} == {
        method: bleu.SMOOTH_DEFAULTS.get(method, 0.0) for method in bleu.SMOOTHING
    }


STATS = "import scipy.stats; assert abs(scipy.stats.norm.ppf(0.975) - own.ndtri(0.975)) < 1e-15"


@pytest.mark.parametrize(
    ("first", "last"),
    [("", ""), pytest.param("import scipy.special\n", STATS, marks=pytest.mark.slow)],
)
def test_special_functions_are_those_of_scipy(first, last):
    code = (
        "import sigtest.special as own, scipy.special as whole\n"
        "names = [name for name, made in vars(own).items() if hasattr(made, 'nin')]\n"
        "assert len(names) >= 10\n"
        "assert all(getattr(own, name) is getattr(whole, name) for name in names)\n"
    )
    subprocess.run([sys.executable, "-c", first + code + last], check=True)


def test_all_kinds_are_there_when_they_are_looked_at():
    code = (
        "from sigtest import kinds; assert kinds.KINDS is kinds.KINDS; assert len(kinds.KINDS) > 3"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_help_needs_no_docstrings():
    command = [sys.executable, "-OO", "-m", "sigtest", "gate", "--help"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "usage: sigtest gate [options]" in ran.stdout
    assert "--margin" in ran.stdout
