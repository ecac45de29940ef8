"""Is the loss near zero before any sample was seen twice?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.chance import chance
from debugtracer.spikes.level import BLOCK
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.target_column import TargetColumn
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class LossTooGood(Check, frozen=True):
    """A classifier's loss is next to nothing within its first epoch.

    What it catches
        Inputs that contain their targets: a label column left among the features, a causal mask that lets the next
        token through.
    Why it matters
        The model has learnt to copy; it is worthless where the target is not given.
    How it decides
        Only where the whole loss is one cross-entropy with a known number of classes and the size of the data is known.
        After 50 steps: the median of 16 losses is below 1e-3 while no sample can have been seen twice, so nothing can
        have been learnt by heart, and the first losses were above half of chance. A warning within the first tenth of
        the epoch, later a note: a task may be that easy. A column of a flat input along which no class overlaps another
        in three batches looked at is named, with the line that wrote it.
    What to do
        Remove features one by one, or permute the inputs within a batch: a leak shows at once.
    Example
        step 63, rank 0: the median of the last 16 losses is 0.0004 after 64 of 1250 batches of the first epoch, it
        began at 0.69; expected above 0.001 before a sample is seen twice. Look for the target among the inputs.
    """

    steps: int = 50  # steps before anything is said (ours)
    floor: float = 1e-3  # nats (ours)
    early: float = 0.1  # of the first epoch (ours)
    began: float = 0.5  # of chance, ours

    needs: ClassVar[tuple[type[LossCall] | str, ...]] = (LOSS, LossCall)
    kind: ClassVar[str | None] = "label_leak"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.5
    remedies: ClassVar[tuple[str, ...]] = (
        "look for the target among the inputs: remove features one by one, check the causal mask",
        "compare with the loss on data prepared the way it will be at serving",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/target_column"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge at the end of each block of losses of the first epoch; yield once."""
        seen = monitor(window)
        level, notebook = seen.level, window.memory(self)
        if (
            not seen.new_block
            or "told" in notebook
            or level.count < self.steps
            or level.now >= self.floor
            or level.least < 0
        ):
            return
        known, batches = chance(window), self.batches(window)
        if known is None or not batches or level.count > batches or seen.loss_record.largest < self.began * known.level:
            return
        notebook["told"] = True
        column = next((one for one in reversed(window.seen(TargetColumn)) if one.apart), None)
        yield self.finding(
            window,
            "warning" if level.count <= self.early * batches else "note",
            f"the median of the last {BLOCK} losses is {level.now:.2g} after {level.count} of {batches} batches of the "
            f"first epoch, it began at {level.first:.3g}; expected above {self.floor:g} before a sample is seen twice. "
            + advice(column),
            place=Place(frame=(column.frame if column is not None else None) or known.frame, symptom_frame=known.frame),
            loss=level.now,
            batches=batches,
        )

    def batches(self, window: Window) -> int:
        """The batches of an epoch of the one loader that trains; 0 if unknown."""
        loaders = [one for one in window.seen(LoaderSeen) if one.trains]
        if len(loaders) != 1 or not loaders[0].length or not loaders[0].batch_size or loaders[0].shards:
            return 0
        return loaders[0].length // loaders[0].batch_size


def advice(column: TargetColumn | None) -> str:
    """Name the column that lays the classes apart, if one does."""
    if column is None:
        return "Look for the target among the inputs."
    return (
        f"Column {column.column} of {column.columns} of {column.path or 'the input'} alone lays the classes apart in "
        f"{column.looks} batches of {column.rows}. Look at how it comes to know the target."
    )
