"""The address that Prometheus scrapes, and to which Alertmanager may post: /metrics, /rules.yml, /dashboard.json,
/alert."""

from __future__ import annotations

import http.server
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from debugtracer.errors import UsageError
from debugtracer.server.access import Access, loopback
from debugtracer.server.answer import TEXT
from debugtracer.server.word import write_control_word
from debugtracer.telemetry.alert import AlertGroup, ObeyedAlerts
from debugtracer.telemetry.exposition import Exposition
from debugtracer.telemetry.reading import Reading
from debugtracer.trace.store.schema import CONTROL
from debugtracer.trace.store.word_file import read_word

HERE = Path(__file__).resolve().parent
FILES = {"/rules.yml": "application/yaml", "/dashboard.json": "application/json"}
MOST_BODY = 1 << 20  # bytes of an alert
MOST_AT_ONCE = 16  # requests answered at the same time
REQUEST_S = 5.0  # seconds that a request may take to arrive


class Endpoint(http.server.ThreadingHTTPServer):
    """One run's. A receiver of readings; it answers from the last one."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, run: Path, host: str, port: int, token: str) -> None:
        """Listen. Raises UsageError without prometheus-client, OSError where the address cannot be listened at."""
        self.exposition = Exposition()
        self.run, self.alerts = run, ObeyedAlerts()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._free = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._telling = threading.Lock()
        super().__init__((host, port), Request)
        self.access = Access(token, host, self.server_port)

    @property
    def address(self) -> str:
        """Where a scraper finds them."""
        host = str(self.server_address[0])
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/metrics"

    def start(self) -> None:
        """Answer, in threads of ours, and say where."""
        threading.Thread(target=self.serve_forever, name="debug-tracer endpoint", daemon=True).start()
        far = "" if loopback(str(self.server_address[0])) else "; other machines can read it"
        print(f"debug-tracer: metrics at {self.address}{far}", file=sys.stderr, flush=True)

    def take(self, reading: Reading) -> None:
        """Keep a reading to answer from."""
        self.exposition.take(reading)

    def end(self) -> None:
        """Stop listening, whoever still asks."""
        self.shutdown()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer one request, unless too many are answered."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer in its thread, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away."""

    def stop_waits(self) -> bool:
        """Whether a stop was written that the run has not read yet: another alert does not take it back."""
        try:
            return read_word(self.run / CONTROL) == "stop"
        except OSError:
            return False

    def tell_run(self, body: bytes) -> tuple[int, str]:
        """Write the word that an alert has for the run into its file `control`; status and a sentence."""
        reading = self.exposition.reading
        if not reading.run:
            return 503, "the run was not looked at yet: post it again."
        try:
            group = msgspec.json.decode(body, type=AlertGroup)
            with self._telling:
                word, asking = self.alerts.word(group, self.run.name)
                if not word:
                    return 200, "nothing to do: no new alert that fires has the label debug_tracer_response."
                if self.stop_waits():
                    return 200, f"{word} was not written: a stop waits in {self.run}/control."
                write_control_word(self.run, word, reading.state)
                self.alerts.obeyed(asking)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return 400, "expected what a webhook_config of Alertmanager posts."
        except UsageError as error:
            return 409, f"{error}."
        except OSError as error:
            return 500, f"the word could not be written ({error.strerror})."
        return 200, f"{word} was written into {self.run}/control."


class Request(http.server.BaseHTTPRequestHandler):
    """One request."""

    server: Endpoint
    timeout = REQUEST_S
    server_version, sys_version = "debug-tracer", ""

    def do_GET(self) -> None:
        """Answer with the metrics, or a file that goes with them."""
        if not self.named():
            return
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self.answer(200, *self.server.exposition.text(self.headers.get("Accept") or ""))
        elif path in FILES:
            self.answer(200, (HERE / path[1:]).read_bytes(), FILES[path])
        else:
            self.say(404, f"there is /metrics, {', '.join(FILES)}.")

    def do_POST(self) -> None:
        """Take an alert, from whoever has the token."""
        if not self.named():
            return
        scheme, _, given = (self.headers.get("Authorization") or "").partition(" ")
        if not self.server.access.token:
            self.say(403, "no alert is taken: set DEBUG_TRACER_ALERT_TOKEN.")
        elif scheme.lower() != "bearer" or not self.server.access.known(given.strip()):
            self.say(401, "expected the header `Authorization: Bearer TOKEN`.")
        elif self.path.partition("?")[0] != "/alert":
            self.say(404, "expected /alert.")
        else:
            length = self.headers.get("Content-Length") or ""
            if not length.isdecimal() or int(length) > MOST_BODY:
                self.say(413, f"expected a body of at most {MOST_BODY} bytes, with its length.")
            else:
                self.say(*self.server.tell_run(self.rfile.read(int(length))))

    def named(self) -> bool:
        """Whether the request names this server: a page elsewhere cannot have its own name lead here."""
        if self.server.access.named(self.headers.get_all("Host") or []):
            return True
        self.say(421, "this server does not answer to that name.")
        return False

    def say(self, status: int, text: str) -> None:
        """Answer with one sentence."""
        self.answer(status, f"{text}\n".encode("utf-8", "replace"), TEXT)

    def answer(self, status: int, body: bytes, kind: str) -> None:
        """Answer, and end the connection."""
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Log nothing: stderr is the program's."""
