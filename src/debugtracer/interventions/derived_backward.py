"""A custom autograd.Function with the backward that autograd derives from its forward, for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import Function

from debugtracer.callsites.frames import as_frame
from debugtracer.errors import ReplayRefused
from debugtracer.trace.birth import Frame

KEPT = "_debug_tracer_inputs"


def function_at(frame: Frame) -> Any:
    """The user's Function whose backward holds a line; None when there is none."""
    for function in subclasses(Function):
        code = getattr(function.backward, "__code__", None)
        if (
            code is not None
            and as_frame(code, frame.line).file == frame.file
            and frame.line in {line for _, _, line in code.co_lines()}
        ):
            return function
    return None


def subclasses(kind: Any) -> Iterator[Any]:
    """Yield all classes below, metaclass products included."""
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


@contextlib.contextmanager
def derived(function: Any, seen: list[str]) -> Iterator[None]:
    """Exchange the backward for the one autograd derives from the forward, also for calls of `apply` bound before."""
    forward, setup = function.forward, function.setup_context
    separate = setup is not Function.setup_context
    own = {name: vars(function)[name] for name in ("forward", "setup_context", "backward") if name in vars(function)}

    def keep(ctx: Any, inputs: tuple[Any, ...]) -> None:
        setattr(ctx, KEPT, inputs)

    def forward_and_keep(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        keep(ctx, args)
        return forward(ctx, *args, **kwargs)

    def setup_and_keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        keep(ctx, inputs)
        return setup(ctx, inputs, output)

    def backward(ctx: Any, *grads: Any) -> Any:
        seen.append(function.__name__)
        return differentiated(
            forward if separate else (lambda *args: forward(Context(), *args)),
            getattr(ctx, KEPT),
            grads,
            function.__name__,
        )

    try:
        if separate:
            function.setup_context = staticmethod(setup_and_keep)
        else:
            function.forward = staticmethod(forward_and_keep)
        function.backward = staticmethod(backward)
        yield
    finally:
        for name in ("forward", "setup_context", "backward"):
            if name in own:
                setattr(function, name, own[name])
            elif name in vars(function):
                delattr(function, name)


class Context:
    """Takes what a forward gives its ctx, and forgets it."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Do nothing: the derived backward needs the inputs alone."""

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Do nothing: autograd finds this out for the derived backward."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Do nothing: the forward runs on copies of the inputs."""

    def set_materialize_grads(self, value: bool) -> None:
        """Do nothing: gradients are passed on as autograd gives them."""


def differentiated(forward: Any, inputs: tuple[Any, ...], grads: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    """Return one gradient per input, None where it takes none. Raises ReplayRefused where the forward leaves
    autograd."""
    fresh = [t.detach().clone().requires_grad_(t.requires_grad) if isinstance(t, Tensor) else t for t in inputs]
    with torch.enable_grad():
        outputs = forward(*[t.view_as(t) if isinstance(t, Tensor) and t.requires_grad else t for t in fresh])
    made = [
        (o, g)
        for o, g in zip(outputs if isinstance(outputs, tuple) else (outputs,), grads, strict=False)
        if isinstance(o, Tensor) and g is not None
    ]
    made = [(o, g) for o, g in made if o.requires_grad]
    if not made:
        raise ReplayRefused(f"autograd cannot follow the forward of {name}")
    wanted = [t for t in fresh if isinstance(t, Tensor) and t.requires_grad]
    found = iter(torch.autograd.grad([o for o, _ in made], wanted, [g for _, g in made], allow_unused=True))
    return tuple(next(found) if isinstance(t, Tensor) and t.requires_grad else None for t in fresh)
