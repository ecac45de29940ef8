"""Fetches one sample twice, once a pass is over, and looks whether the stored data are as before; they are put back."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from debugtracer.callsites.attributes_read import attributes_used, code_of
from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.definitions import frame_at, parsed
from debugtracer.callsites.frames import as_frame
from debugtracer.observers.loaders.collated_rows import same
from debugtracer.observers.loaders.refetch import first_line
from debugtracer.observers.loaders.untouched import inner, untouched
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fetch_write import FetchWrite
from debugtracer.trace.step import StepRef

MOST_BYTES = 1 << 26  # of the arrays that are copied for the look (ours: some 20 ms)
LEAST_WIDTH = 2  # numbers of a stored row: one alone may be a counter or a weight that is meant to change (ours)


def fetch_write(info: LoaderInfo, loader: int, ref: StepRef) -> FetchWrite | None:
    """The fact, where each of two fetches of one sample changed what the user's dataset holds; all is as before
    afterwards. None where workers fetch from copies that each pass makes anew, and for streams."""
    owner: Any = info.loader()
    outer: Any = getattr(owner, "dataset", info.data() if info.data is not None else None)
    if outer is None or (info.num_workers and not getattr(owner, "persistent_workers", False)):
        return None
    dataset: Any = inner(outer)
    fetch: CodeType | None = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    if fetch is None or not is_user_file(fetch.co_filename) or isinstance(dataset, IterableDataset):
        return None
    if not hasattr(dataset, "__dict__"):
        return None
    held = dict(stored(dataset))
    if not held or sum(view.nbytes for view in held.values()) > MOST_BYTES or not len(outer):
        return None
    before = {name: view.clone() for name, view in held.items()}
    try:
        with untouched(outer):
            index = len(outer) // 2
            outer[index]
            first = {name: view.clone() for name, view in held.items()}
            outer[index]
            second = {name: view.clone() for name, view in held.items()}
    except (Exception, SystemExit):
        return None  # the user's code
    finally:
        for name, view in held.items():
            if not same(before[name], view):
                view.copy_(before[name])
    for name in held:
        if not same(before[name], first[name]) and not same(first[name], second[name]):
            return FetchWrite(
                ref=ref, loader=loader, dataset=type(dataset).__name__, name=name, sample=index,
                once=change(before[name], first[name]), twice=change(before[name], second[name]),
                rows=int((before[name] != first[name]).flatten(1).any(1).sum()),
                frame=writing_line(type(dataset)) or as_frame(fetch, first_line(fetch)), loader_frame=info.frame,
            )  # fmt: skip
    return None


def stored(dataset: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the attributes that hold rows of several floating numbers in host memory, as tensors over their memory."""
    numpy = sys.modules.get("numpy")
    for name, value in list(vars(dataset).items()):
        if numpy is not None and type(value) is numpy.ndarray:
            if value.dtype.kind != "f" or not value.flags.writeable or not owns(value):
                continue
            value = torch.from_numpy(value)
        if not isinstance(value, Tensor) or not is_dense(value) or value.device.type != "cpu" or value.requires_grad:
            continue
        if value.is_shared():
            continue  # another process may write it between the look and its end
        if value.is_floating_point() and value.dim() > 1 and len(value) and value[0].numel() >= LEAST_WIDTH:
            yield name, value


def owns(array: Any) -> bool:
    """Whether an array, or the one that it is a view of, owns its memory: no file, no memory that processes share."""
    while type(array.base) is type(array):
        array = array.base
    return array.base is None


def change(before: Tensor, after: Tensor) -> float:
    """The change of the rows that changed, as a share of their norm."""
    rows = (before != after).flatten(1).any(1)
    size = float(before[rows].double().norm())
    return float((after[rows].double() - before[rows].double()).norm()) / size if size else float("inf")


def writing_line(kind: type) -> Frame | None:
    """The line of `__getitem__`, or of a method that it calls, that writes in place into what it took from an
    attribute."""
    for method in sorted(attributes_used(kind, "__getitem__").methods, key=lambda name: name != "__getitem__"):
        for code in code_of(kind, method):
            taken: set[str] = set()
            for line, node in parsed(code):
                if isinstance(node, ast.Assign) and is_part(node.value, taken):
                    taken |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                if writes_into(node, taken):
                    return frame_at(code, line)
    return None


def is_part(value: ast.expr, taken: set[str]) -> bool:
    """Whether an expression is an attribute of self, a name that is one, or an element of such."""
    while isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Name):
        return value.id in taken
    return isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"


def writes_into(node: ast.AST, taken: set[str]) -> bool:
    """Whether a statement writes into such a value: `x += ...`, `x[...] = ...`, `x.mul_(...)`, `out=x`."""
    if isinstance(node, ast.AugAssign):
        return is_part(node.target, taken)
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and is_part(target, taken) for target in node.targets)
    called = [part for part in ast.walk(node) if isinstance(part, ast.Call)] if isinstance(node, ast.stmt) else []
    return any(
        (
            isinstance(call.func, ast.Attribute)
            and call.func.attr.endswith("_")
            and not call.func.attr.endswith("__")
            and is_part(call.func.value, taken)
        )
        or any(word.arg == "out" and is_part(word.value, taken) for word in call.keywords)
        for call in called
    )
