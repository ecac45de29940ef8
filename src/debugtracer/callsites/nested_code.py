"""The code objects inside a code object: comprehensions, lambdas, functions that a function defines."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType


def with_nested(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all that are inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from with_nested(constant)
