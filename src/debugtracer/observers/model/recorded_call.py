"""The first call of a root model: what it was given, for a copy to be called with it again."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import user_frames
from debugtracer.observers.model.side_effects import side_effect
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.tape.entry import autocast_state
from debugtracer.trace.birth import Frame

MODEL_BYTES = 200 * 1024**2  # a larger model is not copied (ours)
INPUT_BYTES = 32 * 1024**2  # nor kept are larger inputs (ours)
SAMPLES = 4  # samples of the batch that are used (ours)
PLAIN = (int, float, str, bool, type(None))


class RecordedCall:
    """The first call of a root."""

    def __init__(
        self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], rows: int | None = None
    ) -> None:
        self.module, self.rows = module, rows
        self.args = tuple(copied(value) for value in args)
        self.kwargs = {name: copied(value) for name, value in kwargs.items()}
        self.autocast = autocast_state()
        self.stack = user_frames()
        """The lines that called it."""

    @property
    def rows_second(self) -> bool:
        """Whether the samples of the loader lie in the second dimension of all that has one, as with time first."""
        wide = [value.shape for value in self.tensors() if value.dim() > 1]
        return bool(wide) and all(shape[1] == self.rows != shape[0] for shape in wide)

    @property
    def rows_first(self) -> bool:
        """Whether they lie in the first one for sure."""
        wide = [value.shape for value in self.tensors() if value.dim() > 1]
        return bool(wide) and all(shape[0] == self.rows != shape[1] for shape in wide)

    @property
    def frame(self) -> Frame | None:
        """The line that called it, where one of the user's did."""
        return self.stack[0] if self.stack else None

    def names(self) -> list[str]:
        """What its forward calls the arguments, in their order."""
        known = list(inspect.signature(self.module.forward).parameters)
        return [*known[: len(self.args)], *[""] * (len(self.args) - len(known)), *self.kwargs]

    def whole(self) -> tuple[Any, ...]:
        """Join the arguments, those by name last."""
        return (*self.args, *self.kwargs.values())

    def tensors(self) -> list[Tensor]:
        """The tensors that were kept, arguments first."""
        return [value for value in self.whole() if isinstance(value, Tensor)]


def first_samples(kept: RecordedCall, most: int = SAMPLES) -> tuple[tuple[Any, ...], dict[str, Any], int]:
    """The arguments for at most a few samples, and how many; 0 when the tensors do not agree on what a sample is."""
    sizes = {value.shape[0] for value in kept.tensors() if value.dim()}
    if len(sizes) != 1:
        return kept.args, kept.kwargs, 0
    size = sizes.pop()

    def cut(value: Any) -> Any:
        return value[:most] if isinstance(value, Tensor) and value.dim() else value

    return tuple(map(cut, kept.args)), {name: cut(value) for name, value in kept.kwargs.items()}, min(size, most)


def simple(values: tuple[Any, ...]) -> bool:
    """True for tensors without a graph, of a moderate size, and plain values."""
    held = [value for value in values if isinstance(value, Tensor)]
    # a class of its own sees every call
    plain = all(type(value) in (Tensor, nn.Parameter) or isinstance(value, PLAIN) for value in values)
    return (
        bool(held)
        and plain
        and not any(t.requires_grad or t.layout is not torch.strided or t.is_nested or t.is_meta for t in held)
        and sum(held_bytes(t) for t in held) <= INPUT_BYTES
    )


def copied(value: Any) -> Any:
    """The value as it is now."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def refused(module: nn.Module) -> str | None:
    """Why a model is not tested, without reading its code."""
    if isinstance(module, torch.nn.parallel.DistributedDataParallel) or (
        torch.distributed.is_available() and torch.distributed.is_initialized()
    ):
        return "distributed"
    if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None:
        return "compiled"
    size = sum(held_bytes(t) for t in (*module.parameters(), *module.buffers()) if not nn.parameter.is_lazy(t))
    return "large" if size > MODEL_BYTES else None


def called_by_torch() -> bool:
    """Whether modules are called by torch's own function: one that the program has put in its place would see ours."""
    return nn.Module.__call__ is nn.Module._wrapped_call_impl


def may_be_called_again(module: nn.Module) -> bool:
    """Whether a copy of a model may be called once more, unnoticed by the program. Reads the code of its forward."""
    return refused(module) is None and called_by_torch() and side_effect(module) is None
