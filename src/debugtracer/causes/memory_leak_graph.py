"""Bookkeeping keeps graphs of past steps alive."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause
from debugtracer.trace.finding import Layer


class MemoryLeakGraph(Cause):
    """A loss that is added up or appended keeps everything its backward would need."""

    kind: ClassVar[str] = "memory_leak_graph"
    layer: ClassVar[Layer] = "logging"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("device/memory-growth", "device/out-of-memory")
    rewrites: ClassVar[tuple[str, ...]] = ("detach",)
    remedies: ClassVar[tuple[str, ...]] = ("store loss.item(), or loss.detach() where it must stay on the device",)
