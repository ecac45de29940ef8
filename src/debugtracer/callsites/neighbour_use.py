"""Are the labels of the nearest rows compared, with none of them left out? Read from the source of the functions that
run and of those that they hand the rows to; nothing is run."""

from __future__ import annotations

import ast
import sys
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from debugtracer.callsites.definitions import parsed
from debugtracer.callsites.element_in_hand import pairs
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import USER, place_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.facts.own_neighbour import RANKED

DEPTH = 3  # functions of the stack, and functions that they call (ours)
NONE, PLACES, LABELS = range(3)  # what an expression holds: nothing of them, numbers of the nearest rows, their labels
LOOKUPS = frozenset({"gather", "index_select", "take", "take_along_dim", "take_along_axis"})
COUNTS = frozenset({"eq", "equal", "isin", "mode", "bincount", "Counter"})
LEAVES_OUT = frozenset({
    "fill_diagonal_", "fill_diagonal", "eye", "diag", "diagonal", "delete", "remove", "discard", "pop", "setdiff1d",
    "logical_not", "invert", "ne", "not_equal", "masked_fill", "masked_fill_", "masked_select", "where",
})  # fmt: skip
"""Functions by which the row itself may be left out."""


class NeighbourUse:
    """Reads one function after the other, from the one that ranks the rows to those that call it."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.labelled = False
        """A name that is looked up by the nearest rows holds a class for each of them."""
        self.compared = False
        self.left_out = False

    def counts_all(self, frame: FrameType | None = None) -> bool:
        """Whether the labels of all nearest rows are compared, as far as the stack from a frame (the caller's) can be
        read."""
        frame = frame or sys._getframe(1)
        names, kind, depth = RANKED, PLACES, 0
        while frame is not None and kind and depth < DEPTH:
            code = frame.f_code
            if place_of(code) == USER and (code.co_name == "<module>" or not code.co_name.startswith("<")):
                known = {**frame.f_globals, **locals_of(frame)}
                kind = Reader(self, code, known, seed=(names, frame.f_lineno, kind)).read()
                names, depth = frozenset({code.co_name}), depth + 1
            frame = frame.f_back
        return self.labelled and self.compared and not self.left_out


class Reader:
    """What the names of one function hold; `seed`: the names of a call at a line, and what it gives."""

    def __init__(
        self, use: NeighbourUse, code: CodeType, known: dict[str, Any], *,
        seed: tuple[frozenset[str], int, int] | None = None, given: dict[str, int] | None = None, depth: int = 0,
    ) -> None:  # fmt: skip
        self.use, self.known, self.seed, self.depth = use, known, seed, depth
        self.held: dict[str, int] = dict(given or {})
        self.whole = code.co_name != "<module>"
        found = list(parsed(code))
        if self.whole:
            self.first = found[0][0] - getattr(found[0][1], "lineno", 0) if found else 0
            self.nodes = list(ast.walk(found[0][1])) if found else []
        else:
            self.first = 0
            defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            tops = [node for _, node in found if isinstance(node, ast.stmt) and node.col_offset == 0]
            self.nodes = [part for top in tops if not isinstance(top, defined) for part in ast.walk(top)]

    def read(self) -> int:
        """Follow the rows through the function; what it returns of them."""
        before = -1
        while before != sum(self.held.values()):
            before = sum(self.held.values())
            for node in self.nodes:
                self.follow(node)
        touched = [node for node in self.nodes if isinstance(node, ast.stmt) and self.touches(node)]
        for node in self.nodes if self.whole and touched else [p for n in touched for p in ast.walk(n)]:
            self.use.left_out |= self.leaves_out(node)
        for node in self.nodes:
            self.compare(node)
        returned = [self.kind(n.value) for n in self.nodes if isinstance(n, ast.Return) and n.value is not None]
        return max(returned, default=NONE)

    def follow(self, node: ast.AST) -> None:
        """Note what one assignment, loop or call hands on."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.bind(target, self.kind(node.value))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            self.bind(node.target, self.kind(node.value))
        elif isinstance(node, (ast.For, ast.comprehension)):
            for name, items in pairs(node.target, node.iter):
                self.bind(name, self.kind(items))
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("append", "add")
        ):
            self.bind(node.func.value, max(map(self.kind, node.args), default=NONE))

    def bind(self, target: ast.expr, kind: int) -> None:
        """Let the names of a target hold this."""
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and kind > self.held.get(part.id, NONE):
                self.held[part.id] = kind

    def kind(self, node: ast.AST) -> int:
        """What an expression holds."""
        if isinstance(node, ast.Name):
            return self.held.get(node.id, NONE)
        if isinstance(node, ast.Subscript) and self.kind(node.slice) == PLACES:
            self.use.labelled |= self.is_labels(node.value)
            return LABELS
        parts = max(map(self.kind, ast.iter_child_nodes(node)), default=NONE)
        if isinstance(node, ast.Call):
            name = final_name(node.func)
            if name in LOOKUPS and parts == PLACES:
                self.use.labelled |= any(self.is_labels(n) for n in ast.walk(node) if isinstance(n, ast.Name))
                return LABELS
            if self.seed is not None and name in self.seed[0] and self.is_at(node, self.seed[1]):
                return max(parts, self.seed[2])
        return parts

    def is_at(self, node: ast.Call, line: int) -> bool:
        """Whether a call spans that line of the file."""
        return node.lineno + self.first <= line <= (node.end_lineno or node.lineno) + self.first

    def touches(self, node: ast.stmt) -> bool:
        """Whether a statement without others inside has to do with the nearest rows."""
        heads = [node.test] if isinstance(node, (ast.If, ast.While)) else []
        return any(map(self.kind, [node] if not hasattr(node, "body") else heads))

    def compare(self, node: ast.AST) -> None:
        """Note a comparison of labels that were looked up, and follow them into functions of the user's."""
        if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Eq, ast.In)) for op in node.ops):
            self.use.compared |= LABELS in map(self.kind, (node.left, *node.comparators))
        if not isinstance(node, ast.Call):
            return
        if final_name(node.func) in COUNTS and self.kind(node) == LABELS:
            self.use.compared = True
        given, called = list(map(self.kind, node.args)), self.function(node.func)
        if called is not None and any(given) and self.depth < DEPTH:
            names = called.__code__.co_varnames[isinstance(node.func, ast.Attribute) and is_method(called) :]
            held = {name: kind for name, kind in zip(names, given, strict=False) if kind}
            Reader(self.use, called.__code__, called.__globals__, given=held, depth=self.depth + 1).read()

    def function(self, node: ast.expr) -> FunctionType | None:
        """The function of the user's that an expression names."""
        found = None
        if isinstance(node, ast.Name):
            found = self.known.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = self.known.get(node.value.id)
            inside = holder if isinstance(holder, (ModuleType, type)) else type(holder)
            found = vars(inside).get(node.attr)
        found = getattr(found, "__func__", found)
        return found if isinstance(found, FunctionType) and place_of(found.__code__) == USER else None

    def is_labels(self, node: ast.expr) -> bool:
        """Whether a name, or an attribute of one, holds a class for each row."""
        held: Any = None
        if isinstance(node, ast.Name):
            held = self.known.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            held = getattr(self.known.get(node.value.id), "__dict__", {}).get(node.attr)
        return are_classes(held, self.use.rows)

    def leaves_out(self, node: ast.AST) -> bool:
        """Whether something here may leave the row itself out."""
        if isinstance(node, ast.Slice):
            return node.lower is not None and not is_number(node.lower, 0)
        if isinstance(node, ast.Subscript):
            at = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else None
            written = isinstance(node.ctx, ast.Store) and self.kind(node.value) > NONE
            return written or (isinstance(at, ast.Constant) and isinstance(at.value, int) and not is_number(at, 0))
        if isinstance(node, ast.Compare):
            places = PLACES in map(self.kind, (node.left, *node.comparators))
            return places or any(isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)) for op in node.ops)
        if isinstance(node, ast.Call):
            name = final_name(node.func)
            begins = name == "range" and len(node.args) > 1 and not is_number(node.args[0], 0)
            return name in LEAVES_OUT or begins
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, (ast.BitAnd, ast.Sub)) and (
                isinstance(node.op, ast.BitAnd) or is_number(node.right, 1)
            )
        return isinstance(node, (ast.Invert, ast.Continue))


def is_number(node: ast.expr, value: int) -> bool:
    """Whether an expression is this number, written out."""
    return isinstance(node, ast.Constant) and node.value == value and not isinstance(node.value, bool)


def is_method(function: FunctionType) -> bool:
    """Whether a function takes the object that it is called on."""
    return function.__code__.co_varnames[:1] in (("self",), ("cls",))


def are_classes(held: Any, rows: int) -> bool:
    """Whether a value is a class for each row: whole numbers, most of which come more than once."""
    if isinstance(held, torch.Tensor):
        plain = held.dim() == 1 and not held.is_floating_point() and held.device.type == "cpu"
        held = held.detach().numpy() if plain and held.layout is torch.strided else None
    if (
        isinstance(held, (list, tuple))
        and len(held) == rows
        and all(isinstance(one, (int, np.integer)) for one in held)
    ):
        held = np.asarray(held)
    if not isinstance(held, np.ndarray) or held.shape != (rows,) or held.dtype.kind not in "iu":
        return False
    return 1 < len(np.unique(held)) <= rows // 2
