"""Passes over a loader."""

from __future__ import annotations

from debugtracer.trace.facts.epochs import Epoch
from tests.checks.windows import LOADER, ref


def a_pass(number: int, order: tuple[int, ...] = (3, 1, 2), **more: object) -> Epoch:
    """Of ten batches a pass, drawn by a DistributedSampler whose epoch stands still."""
    known: dict[str, object] = {
        "trains": True, "sampler": "DistributedSampler", "sampler_epoch": 0, "shuffles": True, "batches": 10,
        "expected": 10, "ascending": False, "content": (number,), "loader": 0,
    } | more  # fmt: skip
    return Epoch(ref=ref(10 * number + 9), number=number, frame=LOADER, order=order, **known)  # type: ignore[arg-type]
