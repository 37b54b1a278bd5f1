"""Write the OpenAPI document of the code to a file: `python -m app.openapi FILE`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.main import create_app


def text() -> str:
    """The document as the file has it."""
    return json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the file that is named on the command line."""
    parser = argparse.ArgumentParser(description="Write the OpenAPI document.")
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
