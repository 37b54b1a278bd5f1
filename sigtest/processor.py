"""What OpenBLAS should be told about the processor before NumPy loads it."""

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

AVX512 = {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


def blas_settings(cpuinfo: str) -> Mapping[str, str]:
    """Environment that lets OpenBLAS use what the processor has.

    OpenBLAS 0.3.31 takes an AMD processor newer than itself for a Haswell and leaves AVX-512 alone,
    which halves the rate of the product. The SkylakeX kernels need exactly the instructions
    checked here. Resampled sums are exact, so no result depends on the choice.

    Args:
        cpuinfo: The text of /proc/cpuinfo.
    """
    first = cpuinfo.split("\n\n")[0]
    lines = (line.partition(":") for line in first.splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    if facts.get("vendor_id") == "AuthenticAMD" and set(facts.get("flags", "").split()) >= AVX512:
        return {"OPENBLAS_CORETYPE": "SKYLAKEX"}
    return {}


def prepare_blas(environment: MutableMapping[str, str] = os.environ) -> None:
    """Put `blas_settings` of this machine into the environment, unless something is set there.

    One thread a process: processes share the work, and threads would wait for each other.
    """
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for name, value in blas_settings(cpuinfo.read_text()).items():
            environment.setdefault(name, value)
