"""The front end alone: `python -m app.alone` is what a container runs, with workers in others.

It answers at PORT (8000) of HOST (127.0.0.1); other machines are answered once there are keys.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":  # until all is loaded, SIGINT ends this process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from app import front
from app.main import create_app
from app.serve import address, ended, listen, run
from workers.questions import Questions
from workers.settings import Settings


def main() -> int:
    """Serve until SIGINT or SIGTERM; 2 where settings make no sense or the port is taken."""
    return ended(_serve)


def _serve() -> None:
    queue = Settings()
    Questions.connect(queue).close()  # which says whether REDIS_URL is an address
    with listen(*address()) as listening:
        config = front.configuration(create_app(queue=queue))
        run(front.Server(config, lambda: None), listening)


if __name__ == "__main__":
    raise SystemExit(main())
