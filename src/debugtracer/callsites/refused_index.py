"""The number that an exception refused as an index, and the length of what it was used on."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from debugtracer.callsites.crash_site import CrashSite
from debugtracer.callsites.failing_expression import FailingExpression, known_value

SAID = re.compile(r"index (-?\d+) is out of bounds for (?:dimension|axis) \d+ with size (\d+)")
TARGET = re.compile(r"Target (-?\d+) is out of bounds")
TABLES = frozenset({"embedding", "embedding_bag"})
LISTS = ("list index out of range", "tuple index out of range")


class RefusedIndex(NamedTuple):
    """The number, and how many places there are."""

    number: int
    size: int
    counts_back: bool = True
    """Numbers below 0 count from the end: not those of a class."""

    @property
    def least(self) -> int:
        """The smallest number that has a place."""
        return -self.size if self.counts_back else 0


def refused_index(error: BaseException, site: CrashSite, failing: FailingExpression | None) -> RefusedIndex | None:
    """What was refused, by the words of torch or numpy, by the tensors of the call, or by the list and its index; None
    where it is not known."""
    text = str(error)
    said = SAID.search(text)
    if said is not None:
        return RefusedIndex(int(said[1]), int(said[2]))
    given, target = site.tensors.get("input"), TARGET.search(text)
    if target is not None and given is not None and given.dim():
        return RefusedIndex(int(target[1]), given.shape[given.dim() > 1], counts_back=False)
    table = site.tensors.get("weight")
    if TABLES.intersection(site.torch_calls) and given is not None and table is not None and table.dim():
        whole = given.device.type == "cpu" and given.numel() and not given.is_floating_point()
        return RefusedIndex(int(given.max()), table.shape[0]) if whole else None
    return of_list(text, failing)


def of_list(text: str, failing: FailingExpression | None) -> RefusedIndex | None:
    """The same for a list or tuple, which tells no numbers."""
    node = failing.node if failing is not None and text in LISTS else None
    if failing is None or not isinstance(node, ast.Subscript):
        return None
    held, container = known_value(node.value, failing.values)
    known, number = known_value(node.slice, failing.values)
    if held and known and type(container) in (list, tuple) and type(number) is int:
        return RefusedIndex(number, len(container))
    return None
