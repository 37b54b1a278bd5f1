"""The front end alone: `python -m app.alone` is what a container runs, with workers in others.

It answers at PORT (8000) of HOST (127.0.0.1); other machines are answered once there are keys.
"""

from __future__ import annotations

import signal
import sys

from app import front
from app.main import create_app
from app.serve import address, listen, run, stop
from sigtest.errors import SigtestError
from workers.logs import configure
from workers.questions import Questions
from workers.settings import Settings, log_format, refuse_arguments


def main() -> int:
    """Serve until SIGINT or SIGTERM; 2 where settings make no sense or the port is taken."""
    signal.signal(signal.SIGTERM, stop)
    try:
        refuse_arguments(sys.argv[1:])
        configure(log_format())
        queue = Settings.of()
        Questions.connect(queue).close()  # which says whether REDIS_URL is an address
        with listen(*address()) as listening:
            config = front.configuration(create_app(queue=queue))
            run(front.Server(config, lambda: None), listening)
    except KeyboardInterrupt:
        return 0
    except SigtestError as error:
        sys.stderr.write(f"sigtest: {error.message}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
