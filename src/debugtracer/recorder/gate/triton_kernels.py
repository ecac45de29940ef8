"""Two kernels in Triton: what all gradients hold, whatever their number, and the decision about the update.

Compiled for sm_80 and sm_90 and run by Triton's interpreter in tests; not run on a GPU yet (docs/devices.md#kernels).
"""

from __future__ import annotations

import triton
import triton.language as tl

CHUNK = 32768  # elements that one program reads (docs/rationale/performance.md#engines)
BLOCK = 1024  # of them at once


@triton.jit(do_not_specialize=["base"])  # type: ignore[untyped-decorator]
def measure(
    pointers: tl.tensor,
    owners: tl.tensor,
    offsets: tl.tensor,
    counts: tl.tensor,
    squares: tl.tensor,
    largest: tl.tensor,
    bad: tl.tensor,
    base: tl.tensor,
    KIND: tl.constexpr,
    SUM: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
    ALIGNED: tl.constexpr,
) -> None:
    """Write the sum of squares, the largest finite magnitude and the count of non-finite values of one chunk.

    `pointers` (int64) holds the address of each tensor, `owners`, `offsets` and `counts` (int64) the tensor of each
    chunk, its first element and how many it has. The chunks of one dtype begin at `base` in what is written."""
    at = tl.program_id(0)
    begin_of = tl.load(pointers + tl.load(owners + at)).to(tl.pointer_type(KIND))
    if ALIGNED:
        begin_of = tl.multiple_of(begin_of, 16)  # of the pointer itself: a sum of pointers is folded, with its hints
    start = begin_of + tl.multiple_of(tl.load(offsets + at), CHUNK)
    count = tl.load(counts + at)
    lanes = tl.arange(0, BLOCK)
    square = tl.zeros((BLOCK,), SUM)
    top = tl.zeros((BLOCK,), SUM)
    wrong = tl.zeros((BLOCK,), tl.int32)
    whole = count // BLOCK * BLOCK
    for begin in range(0, whole, BLOCK):  # without a mask, which would keep loads narrow
        x = tl.abs(tl.load(start + begin + lanes).to(SUM))
        is_bad = (x != x) | (x == float("inf"))
        square += x * x
        top = tl.maximum(top, tl.where(is_bad, 0.0, x))
        wrong += is_bad.to(tl.int32)
    rest = whole + lanes
    x = tl.abs(tl.load(start + rest, mask=rest < count, other=0.0).to(SUM))
    is_bad = (x != x) | (x == float("inf"))
    square += x * x
    top = tl.maximum(top, tl.where(is_bad, 0.0, x))
    wrong += is_bad.to(tl.int32)
    tl.store(squares + base + at, tl.sum(square, 0).to(tl.float64))
    tl.store(largest + base + at, tl.max(top, 0).to(tl.float64))
    tl.store(bad + base + at, tl.sum(wrong, 0))


@triton.jit(do_not_specialize=["chunks", "losses_count"])  # type: ignore[untyped-decorator]
def judge(
    squares: tl.tensor,
    largest: tl.tensor,
    bad: tl.tensor,
    chunks: tl.tensor,
    losses: tl.tensor,
    losses_count: tl.tensor,
    param_l2: tl.tensor,
    numbers: tl.tensor,
    flag: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    """Write [L2, param_l2, 1.0 where a value or a loss is non-finite, losses...] (float64) and that flag (float32).

    Where squares overflow although every value is finite, the largest magnitude stands for the norm: it is finite."""
    lanes = tl.arange(0, BLOCK)
    square = tl.zeros((BLOCK,), tl.float64)
    top = tl.zeros((BLOCK,), tl.float64)
    wrong = tl.zeros((BLOCK,), tl.int32)
    for begin in range(0, chunks, BLOCK):
        there = begin + lanes < chunks
        square += tl.load(squares + begin + lanes, mask=there, other=0.0)
        top = tl.maximum(top, tl.load(largest + begin + lanes, mask=there, other=0.0))
        wrong += tl.load(bad + begin + lanes, mask=there, other=0)
    lost = 0
    for at in range(0, losses_count):
        loss = tl.load(losses + at)
        lost += ((loss != loss) | (tl.abs(loss) == float("inf"))).to(tl.int32)
        tl.store(numbers + 3 + at, loss)
    values = tl.sum(wrong, 0)
    norm = tl.sqrt(tl.sum(square, 0))
    norm = tl.where((values == 0) & (norm == float("inf")), tl.max(top, 0), norm)
    is_bad = values + lost > 0
    tl.store(numbers, norm)
    tl.store(numbers + 1, tl.load(param_l2).to(tl.float64))
    tl.store(numbers + 2, is_bad.to(tl.float64))
    tl.store(flag, is_bad.to(tl.float32))
