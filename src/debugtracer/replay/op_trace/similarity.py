"""Where the vectors were made of which an op is given the products: scores of each with each, whose size nothing but
their lengths bounds."""

from __future__ import annotations

from collections.abc import Iterator

from debugtracer.replay.op_trace.kinds import short
from debugtracer.replay.op_trace.tensor_writes import OpRecord
from debugtracer.trace.birth import Frame

PRODUCTS = frozenset({"mm", "bmm", "matmul", "addmm"})
SCALES = frozenset(
    {"div", "mul", "add", "sub", "view", "_unsafe_view", "unsafe_view", "clone", "to_copy", "masked_fill"}
)
"""What may stand between the products and the op: a temperature, a mask."""
KEEPS = frozenset({"view", "unsafe_view", "cat", "clone", "to_copy", "t", "transpose", "expand", "copy", "stack"})
"""What hands vectors on as they are."""
DEEP = 6  # ops that are gone back through (ours)


def vectors_made(record: OpRecord) -> Frame | None:
    """The line that made the vectors, where one line made both sides of the only product that the op is given; None for
    sides of different lines (queries and keys), for vectors that were divided, and for what is no such product."""
    product = next(back(record.makers, SCALES, PRODUCTS), None)
    if product is None:
        return None
    makers = list(back(product.makers, KEEPS, None))
    lines = {(one.meta.frames[0] if one.meta is not None and one.meta.frames else None) for one in makers}
    line = lines.pop() if len(lines) == 1 else None
    divided = any(short(one.op) in ("div", "mul", "linalg_vector_norm") for one in makers)
    own = line is not None and record.meta is not None and line not in record.meta.frames[:1]
    learnt = all(one.of_parameter for one in makers)
    return line if own and learnt and not divided else None


def back(makers: tuple[OpRecord, ...], through: frozenset[str], wanted: frozenset[str] | None) -> Iterator[OpRecord]:
    """Yield the nearest records behind ops of `through`; only those of `wanted` where it is given."""
    level = list(makers)
    for _ in range(DEEP):
        following: list[OpRecord] = []
        for one in level:
            name = short(one.op)
            if name in through:
                following += one.makers
            elif wanted is None or name in wanted:
                yield one
        level = following
