"""Is a batch large enough for the statistics of its normalisation?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash, CrashBatch
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SIZE = re.compile(r"input size torch\.Size\(\[([\d, ]+)\]\)")
REFUSALS = (
    "Expected more than 1 value per channel when training",
    "Expected more than 1 spatial element when training",
)


class BatchOfOne(Check, frozen=True):
    """A normalisation in training got one value per channel and raised.

    What it catches
        A last batch of one sample (1601 samples in batches of 32), a batch size of 1, a feature map of one pixel under
        InstanceNorm.
    Why it matters
        The variance of one value does not exist, so torch raises, often at the end of the first epoch.
    How it decides
        The exception says so and names the shape; the module is the innermost one whose forward ran, the sample is the
        batch's own index.
    What to do
        drop_last=True in the loader, another batch size, or a normalisation without batch statistics.
    Example
        step 50, rank 0: head.1 (BatchNorm1d) was given 1 row, shape (1, 32), in training; expected at least 2 values
        per channel. The loader (train.py:27) makes batches of 32 out of 1601 samples and keeps a last one of 1 (sample
        626). Pass drop_last=True.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "norm_degenerate_batch"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "drop_last=True in the DataLoader (or a batch size that leaves no remainder of 1)",
        "GroupNorm or LayerNorm instead of batch statistics",
        "model.eval() if this was no training batch",
    )
    proved_by: ClassVar[str] = "data/odd_recording"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a batch."""
        for crash in window.new(Crash):
            if crash.message.startswith(REFUSALS):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which module, which shape, which loader."""
        module = crash.modules[0] if crash.modules else None
        named = f"{module.path or '(root)'} ({module.kind})" if module else "a normalisation"
        shape = next((t.shape for t in crash.tensors if t.name == "input"), told_shape(crash.message))
        batch = crash.batch
        one_row = batch is not None and batch.rows == 1
        seen = f"shape {shape}" if shape else "one value per channel"
        seen = f"1 row, {seen}," if shape[:1] == (1,) else seen
        return self.finding(
            window,
            "error",
            f"{named} was given {seen} in training; expected at least 2 values per channel. {source(batch)}",
            ref=crash.ref,
            place=Place(
                module=module.path if module else None,
                frame=(batch.frame if batch and one_row else None) or crash.call,
                argument="drop_last",
                symptom_frame=crash.call,
                batch_rows=(0,) if one_row else None,
                sample_index=batch.indices if batch and one_row else None,
            ),
        )


def told_shape(message: str) -> tuple[int, ...]:
    """The shape in the words of torch; empty where they hold none."""
    found = SIZE.search(message)
    return tuple(int(part) for part in found[1].split(",")) if found else ()


def source(batch: CrashBatch | None) -> str:
    """Where the short batch comes from, and what to do."""
    if batch is None or batch.rows != 1:
        return "Give the normalisation more values per channel, or use GroupNorm."
    sample = f" (sample {batch.indices[0]})" if batch.indices else ""
    if batch.batch_size and batch.batch_size > 1 and batch.dataset_len and batch.dataset_len % batch.batch_size == 1:
        made = (
            f"makes batches of {batch.batch_size} out of {batch.dataset_len} samples and keeps a last one of 1{sample}"
        )
        return f"The loader{spot(batch.frame)} {made}. Pass drop_last=True."
    return f"The loader{spot(batch.frame)} made a batch of 1{sample}. Make batches of at least 2."
