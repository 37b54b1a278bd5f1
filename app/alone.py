"""The front end alone, as a container runs it, with workers in others: `python -m app.alone`.

It answers at PORT (8000) of HOST (127.0.0.1); other machines are answered once there are keys.
"""

import signal

if __name__ == "__main__":  # until all is loaded, SIGINT ends this process without a traceback
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from app.main import Server, create_app
from app.serve import address, ended, listen, run
from workers.settings import Settings
from workers.store.server import inspect


def serve() -> None:
    """Serve until SIGINT or SIGTERM."""
    queue = Settings()
    inspect(queue, patient=True)  # which says whether REDIS_URL is an address, too
    with listen(*address()) as listening:
        run(Server(create_app(queue=queue)), listening)


if __name__ == "__main__":
    raise SystemExit(ended(serve))
