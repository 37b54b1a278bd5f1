"""A leaderboard's back end: takes runs, hears when the board has changed, shows it."""

import base64
import hashlib
import hmac
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from sigtest.client import Client
from sigtest.errors import SigtestError


def lines(text: bytes) -> list[str]:
    return text.decode().rstrip("\n").split("\n")


class BackEnd(BaseHTTPRequestHandler):
    page = b"No run yet."

    def do_GET(self):
        self.answer(200, BackEnd.page)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/hook":
            try:
                run = {"hypotheses": lines(body)}
                client.put_system(testset, unquote(self.path[6:]), run, replace=True)
                self.answer(202)
            except SigtestError as error:
                self.answer(422, error.message.encode())
        elif hmac.compare_digest(self.headers["webhook-signature"] or "", self.signature(body)):
            self.answer(204)  # at once: a receiver that takes long counts as one that fails
            BackEnd.page = client.leaderboard(testset, "html")
        else:
            self.answer(403)

    def signature(self, body: bytes) -> str:  # as www.standardwebhooks.com has it
        told = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        return "v1," + base64.b64encode(hmac.digest(key, told, hashlib.sha256)).decode()

    def answer(self, status: int, page: bytes = b""):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page)


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), BackEnd)
client = Client(os.environ.get("SIGTEST_URL", "http://127.0.0.1:8000"))
board = {"name": "board", "references": lines(Path(sys.argv[1]).read_bytes()), "metrics": ["chrf"]}
testset = client.create_testset(board)["id"]
address = f"http://127.0.0.1:{server.server_port}"
secret = client.add_webhook(f"{address}/hook", ["leaderboard.refreshed"])["secret"]
key = base64.b64decode(secret.removeprefix("whsec_"))
print(f"the board is at {address}", flush=True)
server.serve_forever()
