"""Finds arguments of a model's forward that it is given and never reads, beside a like one that it reads twice: the
second branch of a pair that was copied from the first."""

from __future__ import annotations

import dis
import inspect
from types import CodeType, FunctionType
from typing import Any

from torch import Tensor, nn

from debugtracer.callsites.frames import USER, as_frame, place_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.unread_argument import UnreadArgument

READS = 2  # of the other argument (ours: a copied line reads it once more)


class UnreadArgumentsObserver(Observer):
    """Reads the compiled code of each class once; looks at no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: set[type] = set()

    def reset(self) -> None:
        self.known.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the first call of a class in training that was given two tensors or more."""
        kind = type(module)
        if kind in self.known or not module.training:
            return
        self.known.add(kind)
        forward = inspect.getattr_static(kind, "forward", None)  # that of a ScriptModule's class raises
        code = forward.__code__ if isinstance(forward, FunctionType) else None
        if forward is None or code is None or place_of(code) != USER or "locals" in code.co_names:
            return
        try:
            given = inspect.signature(forward).bind(module, *args, **kwargs).arguments
        except (TypeError, ValueError):
            return
        tensors = {name: v for name, v in given.items() if isinstance(v, Tensor) and v.dim() > 1}
        for fact in self.unread(kind, code, tensors):
            self.run.emit(fact)

    def unread(self, kind: type, code: CodeType, tensors: dict[str, Tensor]) -> list[UnreadArgument]:
        """The facts of one class."""
        lines = reads(code)
        found = []
        for name, value in tensors.items():
            alike = [
                other
                for other, theirs in tensors.items()
                if len(lines.get(other, ())) >= READS
                and theirs is not value
                and (theirs.shape, theirs.dtype) == (value.shape, value.dtype)
            ]
            if name not in lines and alike:
                found.append(
                    UnreadArgument(
                        ref=self.run.ref(), root=kind.__name__, argument=name, other=alike[0],
                        reads=len(lines[alike[0]]), shape=tuple(value.shape), frame=as_frame(code, lines[alike[0]][-1]),
                    )
                )  # fmt: skip
        return found


def reads(code: CodeType) -> dict[str, list[int]]:
    """The lines at which each local name is read, those that a function inside captures too."""
    found: dict[str, list[int]] = {}
    lines = {start: line for start, _, line in code.co_lines() if line is not None}
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = lines.get(step.offset, line)
        if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "STORE_FAST_LOAD_FAST")):
            for name in step.argval if isinstance(step.argval, tuple) else (step.argval,):
                found.setdefault(str(name), []).append(line)
    return found
