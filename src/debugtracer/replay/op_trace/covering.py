"""Which bad elements of a result have bad elements of an input behind them, broadcast included."""

from __future__ import annotations

from torch import Tensor

from debugtracer.replay.op_trace.calls import Group, OpRead
from debugtracer.replay.op_trace.classes import bad_mask
from debugtracer.replay.op_trace.tensor_writes import OpRecord


def meets(tensor: Tensor, mask: Tensor) -> bool:
    """True if a broadcast input is bad where the result is; also when that is not known."""
    try:
        return bool((bad_mask(tensor) & mask).any())
    except RuntimeError:
        return True


def uncovered(bad_reads: list[tuple[OpRead, int]], mask: Tensor) -> bool:
    """True if some bad element of the result has only finite elements behind it."""
    left = mask.clone()
    for read, _ in bad_reads:
        try:
            left &= ~bad_mask(read.before).expand(mask.shape)
        except RuntimeError:
            return False
    return bool(left.any())


def is_mask(group: Group, record: OpRecord) -> bool:
    """True for the log of a tensor of zeros and ones that no parameter went into: a mask made additive."""
    if record.of_parameter or not group.reads:
        return False
    values = group.reads[0].before
    return bool(((values == 0) | (values == 1)).all())
