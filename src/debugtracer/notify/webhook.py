"""Posts what happened to an address of the user's: one JSON object, as chat services take it, never more than one a
minute but for the end."""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import monotonic

from debugtracer.errors import UsageError
from debugtracer.trace.finding import SEVERITIES

SCHEMA = "debug-tracer.notice/1"
TIMEOUT_S = 5.0  # seconds that the address may take to answer (ours)
EVERY_S = 60.0  # seconds between two notices at least (ours); the end is always told
RANKS: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}


@dataclass(frozen=True)
class Notice:
    """One thing that happened."""

    severity: str
    event: str
    """`stop`, the slug of another response, or `ended`."""
    text: str
    run: str = ""
    step: int | None = None
    rank: int | None = None
    last: bool = False
    """Nothing comes after it: it is sent at once and waited for."""


class Webhook:
    """One per process; without an address it does nothing. Sending never raises and holds no step up."""

    def __init__(self, address: str, least: str = "warning", clock: Callable[[], float] = monotonic) -> None:
        """Send notices of severity `least` and above."""
        self.address, self.least, self.clock = address, least, clock
        self.next_s = -EVERY_S
        self.held = 0
        """Notices that were held back since the last one."""
        self.failed = False

    def tell(self, notice: Notice) -> None:
        """Send a notice, unless it is too small or comes too soon."""
        if not self.address or RANKS[notice.severity] < RANKS[self.least]:
            return
        now = self.clock()
        if now < self.next_s and not notice.last:
            self.held += 1
            return
        more, self.held, self.next_s = self.held, 0, now + EVERY_S
        sender = threading.Thread(target=self.send, args=(notice, more), name="debug-tracer notice", daemon=True)
        try:
            sender.start()
        except RuntimeError:  # the interpreter is shutting down
            return
        if notice.last:
            sender.join(TIMEOUT_S + 1)

    def send(self, notice: Notice, more: int) -> None:
        """Post one notice; a failure is one line, once."""
        told = {name: value for name, value in asdict(notice).items() if value is not None and name != "last"}
        told |= {"schema": SCHEMA, "held_back": more, "text": f"debug-tracer: {notice.text}"}
        body = json.dumps(told).encode()
        request = urllib.request.Request(
            self.address, data=body, headers={"Content-Type": "application/json", "User-Agent": "debug-tracer"}
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S):
                pass
        except (OSError, ValueError) as error:
            if not self.failed:
                self.failed = True
                host = urllib.parse.urlsplit(self.address).hostname
                print(
                    f"debug-tracer: a notice could not be posted to {host} ({getattr(error, 'reason', error)}); "
                    "training goes on.",
                    file=sys.stderr,
                    flush=True,
                )


def check_address(address: str, name: str) -> None:
    """Raise UsageError where notices could not be posted to it."""
    try:
        parts = urllib.parse.urlsplit(address)
        fits = not address or (parts.scheme in ("http", "https") and bool(parts.hostname))
    except ValueError:  # a bracket that is not closed
        fits = False
    if not fits:
        raise UsageError(f"{name} is {address[:80]!r}; expected an address such as https://example.org/hook")
