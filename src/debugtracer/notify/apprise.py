"""Sends a notice to mail and chat services, by the package apprise: one address for each, in its notation."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.notify.notice import Notice

KINDS = {"note": "info", "warning": "warning", "error": "failure"}  # apprise's words for our severities
MISSING = "apprise is not installed: pip install 'torch-debug-tracer[notify]'"


class AppriseAddresses:
    """All addresses of a run; apprise is imported when the first notice is sent."""

    name = "apprise"

    def __init__(self, addresses: str) -> None:
        self.addresses = addresses

    def send(self, notice: Notice, held_back: int) -> None:
        """Send one notice to every address. Raises OSError, ImportError."""
        services = self.services()
        if services is None:
            raise OSError("an address is of no service that it knows")
        more = f"\n{held_back} smaller or sooner ones were held back." if held_back else ""
        told = services.notify(
            body=f"{notice.text}{more}\n{notice.run}",
            title=f"debug-tracer: {notice.event}",
            notify_type=KINDS[notice.severity],
        )
        if not told:
            raise OSError("a service did not take it")

    def services(self) -> Any:
        """What apprise makes of the addresses; None where it does not know one. Raises ImportError."""
        import apprise

        quiet = logging.getLogger("apprise")  # it would write warnings of its own, with the address in them
        if not quiet.handlers:
            quiet.addHandler(logging.NullHandler())
            quiet.propagate = False
        services = apprise.Apprise()
        return services if services.add(self.addresses) else None


def check_addresses(addresses: str, name: str) -> None:
    """Raise UsageError where apprise is missing, or knows an address not; the addresses, which are secrets, are not
    shown."""
    services = None
    try:
        with contextlib.suppress(ValueError, TypeError):
            services = AppriseAddresses(addresses).services()
    except ImportError:
        raise UsageError(f"{name}: {MISSING}") from None
    if not services:
        raise UsageError(
            f"{name}: an address is of no service that apprise knows; expected addresses such as "
            "mailto://user:password@example.org or slack://TOKEN, with commas between them"
        )
