"""The line that moves rows of a dataset between passes, or draws them in `__getitem__`. The source is read, nothing is
executed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from debugtracer.callsites.origins.order_origin import order_of
from debugtracer.callsites.origins.value_origin import Link
from debugtracer.callsites.row_order import ORDERS, order_line
from debugtracer.trace.birth import Frame

SHUFFLES = ORDERS - {"sorted", "sort", "argsort", "msort", "lexsort"}
DRAWS = SHUFFLES | {"randrange", "randint", "choice", "choices", "sample", "integers", "multinomial"}


def moving_line(dataset: Any, origin: Callable[[str], Sequence[Link]], paths: Iterable[str]) -> Frame | None:
    """The draw in the `__getitem__` of a dataset, the shuffle in another of its methods, else a line of the program
    that puts these tensors of a batch into another order."""
    kind = type(dataset)
    drawn = order_line(getattr(kind, "__getitem__", None), DRAWS)
    if drawn is not None:
        return drawn
    others = (one for name, one in vars(kind).items() if name not in ("__init__", "__getitem__") and callable(one))
    shuffled = next((line for one in others if (line := order_line(one, SHUFFLES)) is not None), None)
    if shuffled is not None:
        return shuffled
    return next((line for path in paths if (line := order_of(origin(path))) is not None), None)
