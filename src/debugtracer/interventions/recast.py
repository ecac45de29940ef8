"""Modules and optimizers in another dtype or on another device for a while; the tensors themselves come back
untouched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.overrides import TorchFunctionMode

from debugtracer.devices.present import names
from debugtracer.errors import ReplayRefused
from debugtracer.interventions.exchange import instead, under


@contextlib.contextmanager
def recast(
    roots: Sequence[nn.Module],
    optimizers: Sequence[Optimizer],
    dtype: torch.dtype,
    device: torch.device | None,
    only: tuple[torch.dtype, ...] | None = None,
) -> Iterator[None]:
    """Convert floating parameters, buffers and state (dtypes in `only`, or all) inside the context; drop gradients."""
    held = [t for root in roots for t in (*root.parameters(), *root.buffers())]
    held += [p for o in optimizers for g in o.param_groups for p in g["params"]]

    def wanted(tensor: Tensor) -> torch.dtype:
        return dtype if tensor.is_floating_point() and (only is None or tensor.dtype in only) else tensor.dtype

    with contextlib.ExitStack() as stack:
        for tensor in {id(t): t for t in held}.values():
            if wanted(tensor) != tensor.dtype or device is not None:
                refuse_hooks(tensor)
                stack.callback(put_back, tensor, tensor.data, tensor.grad)
                tensor.grad = None
                tensor.data = tensor.data.to(device=device, dtype=wanted(tensor))
        for optimizer in optimizers:
            stack.callback(
                put_state_back, optimizer, {parameter: dict(state) for parameter, state in optimizer.state.items()}
            )
        for state in (state for o in optimizers for state in o.state.values()):
            for key, value in state.items():
                if isinstance(value, Tensor) and (value.dim() or device is not None):
                    state[key] = value.to(device=device, dtype=wanted(value) if value.dim() else value.dtype)
        yield


def put_back(tensor: Tensor, data: Tensor, grad: Tensor | None) -> None:
    """Give a tensor back the memory and the gradient it had."""
    tensor.grad = None
    tensor.data = data
    tensor.grad = grad


def put_state_back(optimizer: Optimizer, states: dict[Tensor, dict[Any, Any]]) -> None:
    """Restore the very tensors of the state, and remove those that a first step has made since."""
    for parameter in [p for p in optimizer.state if p not in states]:
        del optimizer.state[parameter]
    for parameter, state in states.items():
        optimizer.state[parameter].clear()
        optimizer.state[parameter].update(state)


def refuse_hooks(tensor: Tensor) -> None:
    """Raise ReplayRefused where ranks reduce by hooks: a new dtype gives a parameter a new gradient accumulator without
    them."""
    if tensor.requires_grad and torch.distributed.is_available() and torch.distributed.is_initialized():
        raise ReplayRefused("the ranks reduce gradients by hooks that a change of dtype or device would lose")


@contextlib.contextmanager
def autocast_off(roots: Sequence[nn.Module]) -> Iterator[None]:
    """Disable the user's `with torch.autocast(...)`, and keep float32 at `.half()` and `.bfloat16()` on activations."""
    with entered_off(), everywhere(Casts({torch.float16: torch.float32, torch.bfloat16: torch.float32}, None), roots):
        yield


@contextlib.contextmanager
def moved_casts(roots: Sequence[nn.Module], dtype: torch.dtype, device: torch.device) -> Iterator[None]:
    """Disable autocast; every cast to a floating dtype inside the step gives `dtype`, every placement `device`."""
    with (
        entered_off(),
        everywhere(Casts(dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), dtype), device), roots),
    ):
        yield


@contextlib.contextmanager
def everywhere(mode: TorchFunctionMode, roots: Sequence[nn.Module]) -> Iterator[None]:
    """The mode, also inside modules that a checkpoint computes again."""
    with contextlib.ExitStack() as stack:
        for module in {
            id(m): m for root in roots for m in root.modules() if not isinstance(m, torch.jit.ScriptModule)
        }.values():
            stack.enter_context(instead(module, under(mode)))
        stack.enter_context(mode)
        yield


@contextlib.contextmanager
def entered_off() -> Iterator[None]:
    """Disable autocast contexts that are entered inside; one that the program keeps is as before when entered again."""
    entered = torch.autocast.__enter__

    def off(self: Any) -> Any:
        enabled, self._enabled = self._enabled, False
        try:
            return entered(self)  # type: ignore[no-untyped-call]
        finally:
            self._enabled = enabled

    torch.autocast.__enter__ = off  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.autocast.__enter__ = entered  # type: ignore[method-assign]


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Set the dtype of factories that name none."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


METHODS = {"half": torch.float16, "bfloat16": torch.bfloat16, "float": torch.float32}


class Casts(TorchFunctionMode):
    """Casts and placements inside the step go elsewhere: `dtypes` maps what is asked for to what is given."""

    def __init__(self, dtypes: dict[torch.dtype, torch.dtype], device: torch.device | None) -> None:
        super().__init__()
        self.dtypes, self.device = dtypes, device

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that dynamo never traces this mode: replays run eagerly."""
        return False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Exchange dtype and device; functions that name neither are left alone."""
        name = getattr(func, "__name__", "")
        wanted = self.dtypes.get(METHODS[name]) if name in METHODS else None
        if wanted is not None:
            return args[0].to(wanted)
        if self.device is not None and name in names():
            return args[0].to(self.device)
        if name == "view":  # the same bytes read as another dtype
            return func(*args, **(kwargs or {}))
        kwargs = {key: self.instead(value) for key, value in (kwargs or {}).items()}
        if name in ("to", "type"):
            args = (args[0], *(self.instead(value) for value in args[1:]))
        return func(*args, **kwargs)

    def instead(self, value: Any) -> Any:
        """What stands for a dtype or a device; other values as they are."""
        if isinstance(value, torch.dtype):
            return self.dtypes.get(value, value)
        if self.device is None:
            return value
        placed = isinstance(value, torch.device) or (isinstance(value, str) and value.partition(":")[0] in names())
        return self.device if placed else value
