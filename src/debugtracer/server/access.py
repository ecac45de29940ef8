"""Who may ask: a request that names this machine and carries the token; a word to a run also from the page itself."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PROOF = "x-debug-tracer-token"  # a header that only a script of our page can send: other sites are refused by browsers

SHUT = "default-src 'none'; frame-ancestors 'none'; sandbox"
"""The policy of whatever is no page."""
HEADERS = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Access:
    """The rules of one server: its token and the names it answers to."""

    def __init__(self, token: str, host: str, port: int) -> None:
        """Take the address that is listened at; at one that others reach, any name of the machine is answered to."""
        self.token, self.port = token, port
        self.cookie = f"debug-tracer-{port}"  # cookies do not tell ports apart
        bare = f"[{host}]" if ":" in host else host
        self.names = {*LOOPBACK, bare} if loopback(host) else None

    def named(self, hosts: list[str]) -> bool:
        """Whether the one Host header names this server: a page elsewhere cannot have its own name lead here."""
        if len(hosts) != 1:
            return False
        name, _, port = hosts[0].lower().rpartition(":")
        if not port.isdigit() or not name:
            name, port = hosts[0].lower(), "80"
        return self.names is None or (name in self.names and port == str(self.port))

    def known(self, given: str) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self.token.encode())

    def carried(self, cookies: Iterable[str]) -> bool:
        """Whether one of these Cookie headers carries the token."""
        for header in cookies:
            jar: SimpleCookie = SimpleCookie()
            try:
                jar.load(header)
            except CookieError:
                continue
            if self.cookie in jar and self.known(jar[self.cookie].value):
                return True
        return False

    def set_cookie(self) -> str:
        """The header that keeps the token in the browser, where no script can read it."""
        return f"{self.cookie}={self.token}; HttpOnly; SameSite=Lax; Path=/"


def loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host in ("localhost", "::1") or host.startswith("127.")
