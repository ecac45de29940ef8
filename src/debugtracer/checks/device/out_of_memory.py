"""Was there not enough memory for this step?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

ASKED = re.compile(r"[Tt]ried to allocate ([\d.]+ ?\w+)")
GIB = 2**30  # bytes


class OutOfMemory(Check, frozen=True):
    """An allocation failed.

    What it catches
        A batch, a sequence or an intermediate tensor that is too large; on a GPU also a graph kept alive from step to
        step.
    Why it matters
        torch says how much it wanted last; the size of the batch and the largest tensors of the call say what to
        change.
    How it decides
        The exception says so. Peak and reserved memory are the allocator's own counters.
    What to do
        Smaller batches with accumulation, checkpointing, autocast; if the peak grows from step to step, a graph is kept
        alive.
    Example
        step 3, rank 0: an allocation of 18.20 GiB failed; peak 75.10 of 79.10 GiB, the batch has 256 rows, the largest
        tensor of the call is scores (256, 16, 4096, 4096). Make the batch smaller, or do not build that tensor whole.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "out_of_memory"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "a smaller batch with gradient accumulation",
        "torch.utils.checkpoint for the widest blocks, autocast for activations",
        "if memory grew from step to step: detach what is kept for logging",
    )
    proved_by: ClassVar[str] = "device/pairwise_table"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died without memory."""
        for crash in window.new(Crash):
            if (
                crash.error == "OutOfMemoryError"
                or "can't allocate memory" in crash.message
                or "out of memory" in crash.message
            ):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """How much, beside what."""
        asked = ASKED.search(crash.message)
        parts = []
        if crash.memory:
            parts.append(f"peak {crash.memory['peak'] / GIB:.2f} of {crash.memory['total'] / GIB:.2f} GiB")
        if crash.batch and crash.batch.rows:
            parts.append(f"the batch has {crash.batch.rows} rows")
        largest = max(crash.tensors, key=lambda t: product(t.shape), default=None)
        if largest is not None and largest.shape:
            parts.append(f"the largest tensor of the call is {largest.name} {largest.shape}")
        return self.finding(
            window,
            "error",
            f"an allocation{f' of {readable(asked.group(1))}' if asked else ''} "
            f"failed{'; ' + ', '.join(parts) if parts else ''}; expected it to fit. "
            "Make the batch smaller, or do not build that tensor whole.",
            ref=crash.ref,
            place=crash.place(),
            peak_bytes=crash.memory.get("peak", 0),
            batch_rows=(crash.batch.rows or 0) if crash.batch else 0,
        )


def product(shape: tuple[int, ...]) -> int:
    """The number of elements of a shape."""
    count = 1
    for size in shape:
        count *= size
    return count


def readable(size: str) -> str:
    """Convert `4000000000 bytes` to GiB; what has a unit stays."""
    number, _, unit = size.partition(" ")
    return f"{float(number) / GIB:.2f} GiB" if unit == "bytes" else size
