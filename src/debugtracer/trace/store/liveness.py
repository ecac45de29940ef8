"""Whether a run still trains: what its manifest says, whether its process is there, when it wrote last."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Literal

import msgspec

from debugtracer.trace.events import Acted, AnyEvent, RankEnded, RankStarted
from debugtracer.trace.store.manifest import Manifest
from debugtracer.trace.store.schema import CONTROL_WORDS
from debugtracer.trace.store.signature import Signature


class Liveness(msgspec.Struct, frozen=True):
    """How a run stands."""

    status: Literal["running", "paused", "ended", "lost"]
    """`lost`: it says that it runs, and its process is gone."""
    written_at: float
    """When anything was written last, seconds since the epoch."""


def liveness(manifest: Manifest, events: Sequence[AnyEvent], signature: Signature) -> Liveness:
    """How the run stands, from what is written; a process on another machine cannot be asked for."""
    written_at = max((mtime for *_, mtime in signature), default=0) / 1e9
    words = [event.action for event in events if isinstance(event, Acted) and event.action in CONTROL_WORDS]
    if manifest.status == "ended" or all_ended(events):
        return Liveness("ended", written_at)
    if manifest.host == socket.gethostname() and manifest.pid and not there(manifest.pid):
        return Liveness("lost", written_at)
    return Liveness("paused" if words[-1:] == ["pause"] else "running", written_at)


def all_ended(events: Sequence[AnyEvent]) -> bool:
    """Whether each rank that started has said its last word: a notebook lives on after its run."""
    last = {event.rank: event for event in events if isinstance(event, RankStarted | RankEnded)}
    return bool(last) and all(isinstance(event, RankEnded) and event.final for event in last.values())


def there(pid: int) -> bool:
    """Whether a process of this number exists; assumed where asking could end it."""
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
