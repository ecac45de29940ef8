"""The op tracer: a dispatch mode that emits every aten op of a replayed step, with its call site, to observers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import nn
from torch._ops import OpOverload
from torch.nn.modules import module as module_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

from debugtracer.callsites.op_callsite import OpCallsites
from debugtracer.errors import swallow
from debugtracer.recorder.tape.held_rows import HeldRows
from debugtracer.trace.birth import Direction, Frame
from debugtracer.trace.op import OpMeta


class OpListener(Protocol):
    """Listens to the ops of a replay, live or offline."""

    def before(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None: ...
    def after(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta
    ) -> None: ...


class OpTracer(TorchDispatchMode):
    """Use as a context around the re-execution of one step. Observers may sync the host; the ops themselves run
    unchanged."""

    def __init__(self, observers: Sequence[OpListener], whereabouts: OpCallsites | None = None) -> None:
        """Take who listens; with `whereabouts` of another tracer its ops are counted on, and its forward is known."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.observers = observers
        self.whereabouts = whereabouts if whereabouts is not None else OpCallsites()
        self.hooks: list[RemovableHandle] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, which saves the import of dynamo (a second): a replay runs under the eager stance anyway."""
        return False

    def name_root(self, module: nn.Module, prefix: str = "") -> None:
        """Name the modules of a root below `prefix`; `module.` and `_orig_mod.` are left out."""
        self.whereabouts.name_root(module, prefix)

    def label(self, tensor: torch.Tensor, name: str, part: HeldRows | None = None) -> None:
        """Name an input of the step, e.g. `parameter head.weight`, `batch[0]`, for the observers that want names;
        `part` says which rows of its batch it holds."""
        for observer in self.observers:
            told = getattr(observer, "label", None)
            if told is not None:
                told(tensor, name, part)

    @contextlib.contextmanager
    def entry(self, index: int, frames: tuple[Frame, ...] = (), direction: Direction | None = None) -> Iterator[None]:
        """Mark ops inside as one re-executed call: its index, the user's lines as recorded live, `update` for an
        optimizer."""
        where = self.whereabouts
        before = where.entry, where.entry_frames, where.direction
        where.entry, where.entry_frames, where.direction = index, frames, direction
        try:
            yield
        finally:
            where.entry, where.entry_frames, where.direction = before

    def __enter__(self) -> OpTracer:
        self.hooks.append(module_hooks.register_module_forward_pre_hook(self.whereabouts.push))
        self.hooks.append(module_hooks.register_module_forward_hook(self.whereabouts.pop, always_call=True))
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        while self.hooks:
            self.hooks.pop().remove()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the op between the observers."""
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):
            return func(*args, **kwargs)
        try:
            meta: OpMeta | None = self.whereabouts.of(func)
            for observer in self.observers:
                observer.before(func, args, kwargs)
        except Exception as error:
            swallow("the op tracer", error)
            meta = None
        out = func(*args, **kwargs)
        try:
            for observer in self.observers if meta is not None else ():
                observer.after(func, args, kwargs, out, meta)  # type: ignore[arg-type]
        except Exception as error:
            swallow("the op tracer", error)
        return out
