"""Tells somebody who is not there: by every channel that was asked for, never more than once a minute but for the
end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Protocol

from debugtracer.notify.apprise import AppriseAddresses
from debugtracer.notify.notice import RANKS, Notice
from debugtracer.notify.webhook import TIMEOUT_S, Webhook

EVERY_S = 60.0  # seconds between two notices at least (ours); the end is always told


class Channel(Protocol):
    """One way to somebody. `name` may be shown: it holds no secret."""

    name: str

    def send(self, notice: Notice, held_back: int) -> None:
        """Send one notice, in a thread of ours. Raises what it likes."""


class Notices:
    """One per process; without a channel it does nothing. Telling never raises and holds no step up."""

    def __init__(
        self, channels: Sequence[Channel], least: str = "warning", clock: Callable[[], float] = monotonic
    ) -> None:
        """Send notices of severity `least` and above."""
        self.channels, self.least, self.clock = channels, least, clock
        self.next_s = -EVERY_S
        self.held = 0
        """Notices that were held back since the last one."""
        self.failed: set[str] = set()
        """Channels whose failure was told."""

    def tell(self, notice: Notice) -> None:
        """Send a notice, unless it is too small, comes too soon, or the same one comes from rank 0."""
        if not self.channels or notice.rank or RANKS[notice.severity] < RANKS[self.least]:
            return
        now = self.clock()
        if now < self.next_s and not notice.last:
            self.held += 1
            return
        more, self.held, self.next_s = self.held, 0, now + EVERY_S
        senders = [
            threading.Thread(target=self.send, args=(channel, notice, more), name="debug-tracer notice", daemon=True)
            for channel in self.channels
        ]
        try:
            for sender in senders:
                sender.start()
        except RuntimeError:  # the interpreter is shutting down
            return
        end = monotonic() + TIMEOUT_S + 1
        for sender in senders if notice.last else ():
            sender.join(max(0.0, end - monotonic()))

    def send(self, channel: Channel, notice: Notice, more: int) -> None:
        """Send one notice by one channel; a failure is one line, once for each channel."""
        try:
            channel.send(notice, more)
        except Exception as error:  # a thread of ours: whatever a service or its package does, training goes on
            if channel.name not in self.failed:
                self.failed.add(channel.name)
                why = getattr(error, "reason", None) or error
                print(
                    f"debug-tracer: a notice could not be posted to {channel.name} ({why}); training goes on.",
                    file=sys.stderr,
                    flush=True,
                )


def notices(webhook: str, apprise: str, least: str) -> Notices:
    """What the settings ask for: an address for JSON, addresses of services, the least severity."""
    channels: list[Channel] = [
        *([Webhook(webhook)] if webhook else []),
        *([AppriseAddresses(apprise)] if apprise else []),
    ]
    return Notices(channels, least)
