"""Finds the birth offline: a capsule executed under the same tracker of ops as a live replay."""

from __future__ import annotations

from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.replay.offline.offline import OfflineResult, run_capsule
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.birth import Birth

ALIKE = ("op", "direction", "kind", "backward_op", "module", "input_name", "rows")
"""What makes two births the same, next to file and line."""


def birth_offline(
    capsule: Capsule, *, dtype: str | None = None, device: str = "cpu"
) -> tuple[OfflineResult, Birth | None]:
    """Execute a capsule and find where its bad value was born, None if it has none. Raises CapsuleError."""
    tracker = OpTracker()
    result = run_capsule(capsule, observers=[tracker], dtype=dtype, device=device)
    return result, find_birth(tracker, targets=list(result.targets.items()), batch_rows=batch_rows(capsule))


def batch_rows(capsule: Capsule) -> int | None:
    """How many rows the batch has: as the run knew, else from its first tensor, else from the loader."""
    known = capsule.head.extra.get("batch_rows")
    if isinstance(known, int):
        return known
    for label, number in capsule.program.labels:
        shape = capsule.program.refs[number].shape
        if label.startswith("batch") and shape:
            return shape[0]
    return capsule.head.facts.loader.batch_size if capsule.head.facts.loader else None


def same_birth(here: Birth | None, there: Birth | None) -> bool:
    """True for the same op, direction, kind, module, rows and line. Nothing found on both sides is no birth."""
    if here is None or there is None:
        return False
    return all(getattr(here, name) == getattr(there, name) for name in ALIKE) and line(here) == line(there)


def line(birth: Birth) -> tuple[str, int] | None:
    """The file and line of a birth, None if unknown."""
    return (birth.frame.file, birth.frame.line) if birth.frame else None
