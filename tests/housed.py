"""What pip leaves of the example of a metric that is a package, without pip."""

import shutil
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "examples" / "metric-package"


def installed(folder: Path) -> str:
    """A folder for PYTHONPATH."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    (group,) = project["entry-points"]
    lines = [f"{name} = {place}\n" for name, place in project["entry-points"][group].items()]
    info = folder / "site" / "numbers_kept-1.0.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: numbers-kept\nVersion: 1\n")
    info.joinpath("entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")
    shutil.copy(PACKAGE / "numbers_kept.py", folder / "site")
    return str(folder / "site")
