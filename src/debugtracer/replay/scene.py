"""The scene of an alarm: what of the session an investigation needs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from debugtracer.recorder.batches import BatchLog
from debugtracer.recorder.copies import Copies
from debugtracer.recorder.ring import Ring
from debugtracer.recorder.roots import Roots, RootState
from debugtracer.trace.birth import Frame


@dataclass
class Scene:
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
    ring: Ring | None = None
    """Older states of the weights, where they are kept."""
    compiled: Mapping[Any, Any] = field(default_factory=dict)
    """What the program compiled -> raw user frames of the call that did it."""
    whole: bool = False
    """Sharded modules hold gathered weights just now: no update can be tried, and older states do not fit."""
