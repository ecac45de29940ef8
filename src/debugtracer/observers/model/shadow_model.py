"""A copy of the user's model that may be called freely: no gradient, no noise, no trace in the program."""

from __future__ import annotations

import contextlib
import copy
import io
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.observers.model.copied_functions import CopiedFunctions
from debugtracer.observers.model.made_weights import without_graph
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.roots import plain_path
from debugtracer.trace.facts.loss_call import INDEXED

MIXERS = frozenset(
    {
        "softmax",
        "log_softmax",
        "scaled_dot_product_attention",
        "bmm",
        "matmul",
        "einsum",
        "baddbmm",
        "mean",
        "sum",
        "cumsum",
        "view",
        "reshape",
    }
)
ATTENDS = ("scaled_dot_product_attention", "softmax", "log_softmax")


class Mixing(TorchFunctionMode):
    """Remembers the user's line of the last function that mixes positions or samples."""

    def __init__(self) -> None:
        super().__init__()
        self.last: list[tuple[str, RawFrames]] = []
        self.scores: Tensor | None = None
        """What the first loss over classes was given, for a model that returns its loss alone."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and remember it if it mixes rows, or what it scores."""
        name = getattr(function, "__name__", "")
        if name in MIXERS:
            self.last.append((name, raw_frames(2)))
        elif name in INDEXED and self.scores is None:
            self.scores = main_output(args[0] if args else (kwargs or {}).get("input"))
        return function(*args, **(kwargs or {}))

    def drain(self) -> list[tuple[str, RawFrames]]:
        """What was called since the last time."""
        found, self.last = self.last, []
        return found


def line_of(calls: list[tuple[str, RawFrames]]) -> RawFrames:
    """The line of the last attention if there is one, else of the last call that mixes."""
    attention = [raw for name, raw in calls if name in ATTENDS]
    return attention[-1] if attention else calls[-1][1] if calls else ()


class RecordedForward:
    """What one submodule gave in one run."""

    __slots__ = ("given", "inside", "line", "name", "output")

    def __init__(
        self, name: str, given: Tensor | None, output: Tensor, inside: list[tuple[str, RawFrames]], line: RawFrames
    ) -> None:
        self.name, self.given, self.output, self.inside, self.line = name, given, output, inside, line


class ReachesBack(Exception):
    """A copy would execute a module of the program: through a closure, a global, a default."""


class ShadowModel:
    """Deep copy in evaluation mode. Raises what copying raises, and ReachesBack where a run would execute a module that
    is not the copy's own: what changes there, a batch norm's statistics say, is the program's."""

    def __init__(self, model: nn.Module, autocast: Any) -> None:
        copies = without_graph(model)
        functions = CopiedFunctions(model, copies)
        self.model = copy.deepcopy(model, copies)
        functions.fill()
        self.originals = {id(module) for module in model.modules()}
        self.own = {id(value) for value in copies.values() if isinstance(value, nn.Module)}
        self.thread = threading.get_ident()
        self.autocast = autocast
        self.seen: list[RecordedForward] = []
        self.mixing = Mixing()
        for name, module in self.model.named_modules():
            module.training = False
            module.register_forward_hook(self.hook(plain_path(name)))

    def hook(self, name: str) -> Callable[..., None]:
        """Make a hook that keeps what a submodule returns."""

        def keep(module: nn.Module, args: Any, output: Any) -> None:
            first = main_output(output)
            if first is not None:
                self.seen.append(
                    RecordedForward(name, main_output(args), first.detach(), self.mixing.drain(), raw_frames(2))
                )

        return keep

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor | None, list[RecordedForward]]:
        """Call the copy; return the main output, or the scores of its loss where that is all, and what the submodules
        gave."""
        self.seen, self.mixing.scores = [], None
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            for device, dtype in self.autocast:
                stack.enter_context(torch.autocast(device, dtype=dtype))
            stack.enter_context(self.mixing)
            stack.callback(register_module_forward_pre_hook(self.stay_inside).remove)
            output = self.model(*args, **kwargs)
        seen, self.seen = self.seen, []
        scores, self.mixing.scores = self.mixing.scores, None
        main = main_output(output)
        return scores if main is None else main, seen

    def stay_inside(self, module: nn.Module, args: Any) -> None:
        """Raise ReachesBack before a module of the program is executed; one made in the call itself may hold no
        state."""
        if threading.get_ident() != self.thread or id(module) in self.own:
            return
        state = (*module._parameters.values(), *module._buffers.values())
        if id(module) in self.originals or any(value is not None for value in state):
            raise ReachesBack(f"the copy calls a {type(module).__name__} of the program, not its own")


def is_dense(value: Tensor) -> bool:
    """True for a tensor of values that ordinary operators read: neither nested, sparse, quantised, complex nor without
    any (a lazy parameter before its first batch). No host sync."""
    return (
        not is_lazy(value)
        and value.layout is torch.strided
        and not value.is_nested
        and not value.is_quantized
        and not value.is_complex()
        and value.device.type != "meta"
        and value.numel() > 0
    )


def main_output(output: Any) -> Tensor | None:
    """The floating tensor that a model gives: itself, `logits`, or the first of several."""
    if isinstance(output, Tensor):
        return output if output.is_floating_point() and output.dim() else None
    values: Any = ()
    if isinstance(output, dict):
        values = [output["logits"]] if "logits" in output else list(output.values())
    elif isinstance(output, (tuple, list)):
        values = output
    return next((v for v in values if isinstance(v, Tensor) and v.is_floating_point() and v.dim()), None)


@contextlib.contextmanager
def unnoticed(silent: Callable[[], Any]) -> Iterator[None]:
    """Silence hooks and output inside the context, and restore every random generator afterwards."""
    rng = RngState()
    try:
        with (
            silent(),
            quiet_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        rng.restore()


def is_traced() -> bool:
    """Whether the program, a debugger or a profiler traces calls of Python: it would see ours of the user's code."""
    return sys.gettrace() is not None or sys.getprofile() is not None
