"""Posts a notice to an address of the user's: one JSON object, as chat services take it."""

from __future__ import annotations

import json
import urllib.parse

from debugtracer.errors import UsageError
from debugtracer.notify.notice import Notice

TIMEOUT_S = 5.0  # seconds that the address may take to answer (ours)


class Webhook:
    """One address."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.name = urllib.parse.urlsplit(address).hostname or "?"
        """What a message calls it: the rest of the address may be a secret."""

    def send(self, notice: Notice, held_back: int) -> None:
        """Post one notice. Raises OSError, ValueError."""
        import urllib.request  # with http, mail and TLS: a hundredth of a second of every start

        body = json.dumps(notice.document(held_back)).encode()
        request = urllib.request.Request(
            self.address, data=body, headers={"Content-Type": "application/json", "User-Agent": "debug-tracer"}
        )
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            pass


def check_address(address: str, name: str) -> None:
    """Raise UsageError where nothing could be posted to it."""
    try:
        parts = urllib.parse.urlsplit(address)
        fits = not address or (parts.scheme in ("http", "https") and bool(parts.hostname))
    except ValueError:  # a bracket that is not closed
        fits = False
    if not fits:
        raise UsageError(f"{name} is {address[:80]!r}; expected an address such as https://example.org/hook")
