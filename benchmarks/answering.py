"""A front end that answers in a thread of the process that asks."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from app.main import configuration


@contextmanager
def answering(app: FastAPI, host: str = "127.0.0.1") -> Iterator[str]:
    """Where it answers while the block lasts."""
    config = configuration(app)
    config.host, config.port = host, 0
    listening = config.bind_socket()
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listening],))
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join()
