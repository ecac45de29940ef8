"""Gradients are clipped while they still carry the loss scale."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.names import method
from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.program import place
from debugtracer.source.source import Source

CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"})


@dataclass(frozen=True)
class ClipBeforeUnscaleInSource(Pattern):
    """After scaler.scale(loss).backward() gradients carry the loss scale, 65536 at first: clipped before unscale_,
    updates shrink to almost nothing."""

    def find(self, source: Source) -> Iterator[Hit]:
        """A clip that comes after a scaled backward on the same path, without an unscale_ before it."""
        for node in source.program.nodes:
            name = (source.names.meaning(node.func) or "").rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if (
                name not in CLIPS
                or unscaled(source, node)
                or not any(scaled(source, before, node) for before in passed_before(source, node))
            ):
                continue
            seen = (
                f"{name} after a scaled backward and before scaler.unscale_: it clips gradients that carry the loss "
                "scale"
            )
            yield self.hit(
                source, node, seen, "gradients in their own size", "call scaler.unscale_(optimizer) before the clip"
            )


def unscaled(source: Source, clip: ast.AST) -> bool:
    """True if the function calls unscale_ somewhere before the clip."""
    home = source.program.function(clip) or source.program.tree
    return any(method(node) == "unscale_" and place(node) < place(clip) for node in ast.walk(home))


def passed_before(source: Source, node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that come before this one in its blocks; other branches are not among them."""
    for block, at in source.program.blocks(node):
        yield from (statement for statement in block if place(statement) < place(at))


def scaled(source: Source, statement: ast.stmt, clip: ast.AST) -> bool:
    """True if a statement makes a scaled backward; under the same condition as the clip, nobody knows which of the two
    paths is meant."""
    if not any(scaled_backward(part) for part in ast.walk(statement)):
        return False
    return not (isinstance(statement, ast.If) and source.tested(clip, statement.test))


def scaled_backward(node: ast.AST) -> bool:
    """True for the call `scaler.scale(loss).backward()`."""
    return (
        isinstance(node, ast.Call)
        and method(node) == "backward"
        and isinstance(node.func, ast.Attribute)
        and method(node.func.value) == "scale"
    )
