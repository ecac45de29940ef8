"""The last healthy step, as a measure for the one that failed: its forward, and its inputs side by side with those of
the failed step."""

from __future__ import annotations

from torch import Tensor

from debugtracer.recorder.tape.entry import Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_plan import ReplayPlan


def probe_of(previous: Segment | None) -> tuple[ReplayPlan, Slot] | None:
    """The forward of the last healthy step, up to its first loss; None where it cannot be executed again."""
    if (
        previous is None
        or previous.refused
        or not previous.losses
        or not previous.backwards
        or previous.losses[0][1] is None
    ):
        return None
    slot, part = previous.losses[0][1], Segment(previous.number)
    wanted = {slot.entry}
    for entry in reversed(previous.entries[: previous.backwards[0]]):
        if entry.index in wanted:
            part.entries.insert(0, entry)
            wanted.update(r.entry for r in entry.references() if isinstance(r, Slot))
    moved = any(
        r.moved or r.foreign or r.origin is not None
        for e in part.entries
        for r in e.references()
        if isinstance(r, Leaf)
    )
    return None if moved or not part.entries else (ReplayPlan([part]), slot)


def counterparts(segment: Segment, previous: Segment | None) -> dict[int, Tensor]:
    """Find for each input of a step the one that stood in its place in the step before, where both were called
    alike."""
    found: dict[int, Tensor] = {}
    if previous is None:
        return found
    for entry, before in zip(segment.entries, previous.entries, strict=False):
        if entry.kind != before.kind or entry.function is not before.function:
            break
        for reference, other in zip(entry.references(), before.references(), strict=False):
            if (
                isinstance(reference, Leaf)
                and isinstance(other, Leaf)
                and not other.moved
                and other.tensor is not reference.tensor
            ):
                found.setdefault(id(reference), other.saved if other.saved is not None else other.tensor.detach())
    return found
