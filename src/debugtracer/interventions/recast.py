"""Modules and optimizers in another dtype or on another device for a while; the tensors themselves come back untouched."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.overrides import TorchFunctionMode


@contextlib.contextmanager
def recast(
    roots: Sequence[nn.Module],
    optimizers: Sequence[Optimizer],
    dtype: torch.dtype,
    device: torch.device | None,
    only: tuple[torch.dtype, ...] | None = None,
) -> Iterator[None]:
    """Floating parameters, buffers and optimizer state as `dtype` (those in `only`, or all) on `device`; gradients are dropped. What was is put back."""
    kept: list[tuple[Tensor, Tensor]] = []
    states: list[tuple[dict[Any, Any], Any, Tensor]] = []
    held = [t for root in roots for t in (*root.parameters(), *root.buffers())]
    held += [p for o in optimizers for g in o.param_groups for p in g["params"]]
    for tensor in {id(t): t for t in held}.values():
        wanted = dtype if tensor.is_floating_point() and (only is None or tensor.dtype in only) else tensor.dtype
        if wanted != tensor.dtype or device is not None:
            kept.append((tensor, tensor.data))
            tensor.grad = None
            tensor.data = tensor.data.to(device=device, dtype=wanted)
    for optimizer in optimizers:
        for state in optimizer.state.values():
            for key, value in state.items():
                if isinstance(value, Tensor) and value.dim() and value.is_floating_point() and (only is None or value.dtype in only):
                    states.append((state, key, value))
                    state[key] = value.to(device=device, dtype=dtype)
    try:
        yield
    finally:
        for state, key, value in states:
            state[key] = value
        for tensor, data in kept:
            tensor.grad = None
            tensor.data = data


@contextlib.contextmanager
def autocast_off() -> Iterator[None]:
    """Every `with torch.autocast(...)` that the user's modules open is entered switched off; `.half()` and `.bfloat16()` on activations keep float32."""
    entered = torch.autocast.__enter__

    def off(self: Any) -> Any:
        self._enabled = False
        return entered(self)  # type: ignore[no-untyped-call]

    torch.autocast.__enter__ = off  # type: ignore[method-assign]
    try:
        with KeepWide():
            yield
    finally:
        torch.autocast.__enter__ = entered  # type: ignore[method-assign]


class KeepWide(TorchFunctionMode):
    """Casts to half precision inside the step give float32."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Replays run eagerly."""
        return False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Exchange the dtype."""
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in ("half", "bfloat16"):
            return args[0].float()
        if name in ("to", "type"):
            wide = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
            args = tuple(wide.get(a, a) if isinstance(a, torch.dtype) else a for a in args)
            if isinstance(kwargs.get("dtype"), torch.dtype):
                kwargs["dtype"] = wide.get(kwargs["dtype"], kwargs["dtype"])
        return func(*args, **kwargs)
