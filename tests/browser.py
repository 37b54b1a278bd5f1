"""The browser that tests use, where there is one: Chromium, without windows if it can be had so."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chrome")  # the first takes half the time
FOUND = (path for name in NAMES if (path := shutil.which(name)))
BROWSER = os.environ.get("CHROMIUM") or next(FOUND, "")

with_browser = pytest.mark.skipif(
    not BROWSER, reason="no Chromium on the PATH; CHROMIUM may name one"
)


def dumped(page: Path, profile: Path) -> str:
    """The document of a file once its scripts have run."""
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    ran = subprocess.run(
        [*command, f"--user-data-dir={profile}", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return ran.stdout
