"""The context of a replay: what of the session an investigation needs, as one value."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.state.roots import Roots, RootState
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.trace.birth import Frame


@dataclass
class ReplayContext:
    """What of the session an investigation needs."""

    roots: Roots
    states: dict[int, list[RootState]]
    batches: BatchLog
    copies: Copies
    backward: Callable[..., Any]
    parameters: Callable[[Any], list[Tensor]]
    frames: Callable[[Any], tuple[Frame, ...]]
    """Raw user frames turned into Frames."""
    paused: Callable[[], contextlib.AbstractContextManager[None]]
    ring: SnapshotRing
    """Older states of the weights, where they are kept."""
    compiled: Mapping[Any, Any]
    """What the program compiled -> raw user frames of the call that did it."""
    numeric_warnings: Sequence[NumericWarning] = ()
    """What numpy has warned of so far."""
    whole: bool = False
    """Sharded modules hold gathered weights just now: no update can be tried, and older states do not fit."""
