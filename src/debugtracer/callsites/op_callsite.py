"""Where an op comes from: module path, user line, direction, and for a backward op the forward op it differentiates."""

from __future__ import annotations

import os
import re
import sys
import threading
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch._ops import OpOverload

from debugtracer.callsites.frames import (
    CHECKPOINT,
    ENGINE,
    LIBRARY,
    MOST,
    OPTIMIZER,
    OUR_HOME,
    OURS,
    USER,
    as_frame,
    place_of,
)
from debugtracer.trace.birth import Direction, Frame
from debugtracer.trace.last_words import FORWARDS
from debugtracer.trace.op import OpMeta

TRACER = {__file__, os.path.join(OUR_HOME, "replay", "op_trace", "op_tracer.py")}  # frames of the tracer itself
TRANSPARENT = (
    TRACER
    | {
        os.path.join(OUR_HOME, "hooks", f"{name}.py")
        for name in ("free_calls", "custom_function", "compiled", "backward")
    }
    | {os.path.join(OUR_HOME, "recorder", "recorder.py")}
)  # hooks that the user's own call passes through in a live iteration; any other frame of ours executes the step


class CallStack:
    """What one walk over the live Python stack finds."""

    __slots__ = ("engine", "frames", "library", "optimizer", "recompute")

    def __init__(self, frame: FrameType | None) -> None:
        self.frames: list[Frame] = []
        self.engine = self.recompute = self.optimizer = False
        self.library: Frame | None = None
        """The innermost line of a library that is not torch, where no line of the user's is further in."""
        while frame is not None and frame.f_code.co_filename in TRACER:
            frame = frame.f_back
        while frame is not None and len(self.frames) < MOST:
            place = place_of(frame.f_code)
            if place == USER:
                self.frames.append(as_frame(frame.f_code, frame.f_lineno))
            elif place == OURS:
                # whoever executes the step again
                if frame.f_code.co_filename not in TRANSPARENT and frame.f_code.co_name != FORWARDS:
                    break
            elif place == ENGINE:  # what is further out called backward; it is not inside it
                self.engine = True
                break
            elif place == CHECKPOINT:
                self.recompute = True
            elif place == OPTIMIZER:
                self.optimizer = True
            elif place == LIBRARY and not self.frames and self.library is None and frame.f_code.co_filename[0] != "<":
                self.library = as_frame(frame.f_code, frame.f_lineno)
            frame = frame.f_back


class OpCallsites:
    """Makes the OpMeta of each op; knows modules by path and autograd nodes by sequence number."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}
        self.kept: list[nn.Module] = []
        self.local = threading.local()
        self.nodes: dict[int, list[OpMeta]] = {}
        self.index = 0
        self.entry: int | None = None
        self.entry_frames: tuple[Frame, ...] = ()
        self.direction: Direction | None = None

    def name_root(self, module: nn.Module, prefix: str = "") -> None:
        """Learn the paths of a root; a module that has a path already keeps it."""
        self.kept.append(module)
        for name, part in module.named_modules(prefix=prefix):
            self.paths.setdefault(id(part), ".".join(p for p in name.split(".") if p not in ("module", "_orig_mod")))

    def push(self, module: nn.Module, args: Any) -> None:
        """Called when a module's forward begins on this thread."""
        self.stack.append(self.paths.get(id(module)))

    def pop(self, module: nn.Module, args: Any, output: Any) -> None:
        """Called when a module's forward has ended, also by an exception."""
        if self.stack:
            self.stack.pop()

    @property
    def stack(self) -> list[str | None]:
        """The paths of the modules whose forward runs on this thread."""
        found: list[str | None] | None = getattr(self.local, "stack", None)
        if found is None:
            found = self.local.stack = []
        return found

    def of(self, func: OpOverload) -> OpMeta:
        """The whereabouts of the op about to run on this thread."""
        node = torch._C._current_autograd_node()
        live = CallStack(sys._getframe(1))
        name, overload = func._schema.name, func._overloadname
        index, self.index = self.index, self.index + 1
        if node is not None and not (live.recompute and live.frames):
            meta = self.backward(node, live, index, name, overload)
        else:
            module = next((path for path in reversed(self.stack) if path is not None), None)
            direction: Direction = "forward"
            if not torch.is_grad_enabled() and module is None and (self.direction == "update" or live.optimizer):
                direction = "update"
            meta = OpMeta(
                index=index,
                op=name,
                overload=overload,
                direction=direction,
                module=module,
                frames=self.with_entry(live),
                library=live.library,
                entry=self.entry,
            )
        self.remember(meta)
        return meta

    def backward(self, node: Any, live: CallStack, index: int, name: str, overload: str) -> OpMeta:
        """A backward op: its forward op by sequence number; a hand-written backward counts as its own op."""
        forward = self.forward_of(node)
        own = live.frames  # the walk ended at the engine or at us: these run inside the node
        origin = forward.frames if forward is not None else ()
        if own or live.library is not None:
            known = (*own, *(f for f in origin if f not in own)) or self.with_entry(live)
            return OpMeta(index=index, op=name, overload=overload, direction="backward", node=node.name(),
                          module=forward.module if forward else None,
                          frames=known, library=live.library, entry=self.entry)  # fmt: skip
        return OpMeta(
            index=index, op=name, overload=overload, direction="backward", node=node.name(),
            forward_op=(forward.forward_op or forward.op) if forward else forward_name(node.name()),
            module=forward.module if forward else None, frames=origin or self.entry_frames,
            library=forward.library if forward else None, entry=self.entry,
        )  # fmt: skip

    def with_entry(self, live: CallStack) -> tuple[Frame, ...]:
        """Return live frames, then those of the recorded call that are not among them; a line of a library only where
        there is no other."""
        known = (*live.frames, *(f for f in self.entry_frames if f not in live.frames))
        return known or ((live.library,) if live.library is not None else ())

    def remember(self, meta: OpMeta) -> None:
        """Remember the op that made the last node on this thread, unless an op claimed it before."""
        number = torch._C._autograd._get_sequence_nr() - 1
        if getattr(self.local, "last", None) != number:
            self.local.last = number
            self.nodes.setdefault(number, []).append(meta)

    def forward_of(self, node: Any) -> OpMeta | None:
        """The op that made a node. Threads count on their own, so the name of the node decides between equal
        numbers."""
        known = self.nodes.get(node._sequence_nr(), ())
        plain = plain_node(node.name())
        for meta in reversed(known):
            if plain == meta.op.split("::")[-1].strip("_").replace("_", ""):
                return meta
        return known[-1] if known and node.name() != "torch::autograd::AccumulateGrad" else None


def plain_node(name: str) -> str:
    """Normalise a node name: `nativelayernorm` for `NativeLayerNormBackward0`."""
    return re.sub(r"Backward\d*$", "", name.split("::")[-1]).lower()


def forward_name(node: str) -> str | None:
    """The aten op that a node made before the trace stands for: `SqrtBackward0` is `aten::sqrt`; None for hand-written
    ones."""
    found = re.fullmatch(r"([A-Z]\w*?)Backward\d+", node)
    if found is None:
        return None
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found.group(1)).lower()
    return next((f"aten::{n}" for n in (name, f"_{name}") if hasattr(torch.ops.aten, n)), None)
