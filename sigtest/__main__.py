"""`python -m sigtest`: the command, for where its program is not on the path."""

import sys

from sigtest.cli import main

if __name__ == "__main__":
    sys.exit(main())
