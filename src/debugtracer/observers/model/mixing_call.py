"""The first function of a model whose output at early positions changes with later ones: a crop on the wrong side has
no module of its own, and no attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.observers.model.difference import CHANGED, distance
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import ATTENDS, ShadowModel, is_dense
from debugtracer.recorder.state.roots import plain_path

GATHERS = frozenset({"__getitem__", "index_select"})
MOST_CALLS = 4096  # of one run (ours)
MOST_BYTES = 256 * 1024**2  # of the outputs of one run (ours)

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class FunctionCall(NamedTuple):
    """One call of a torch function inside the model."""

    name: str
    output: Tensor
    module: int
    """The id of the module that ran."""
    raw: RawFrames
    gathered: int = 0
    """Rows of the tensor of which it takes those that an index tensor names; 0 for other calls."""


class MixingCall(NamedTuple):
    """The call by which a later position reaches an earlier one."""

    name: str
    path: str | None
    """Of its module."""
    raw: RawFrames
    """Its lines; those of the padding before a convolution."""


class FunctionCalls(TorchFunctionMode):
    """Keeps the numbers that every torch function of one run gave."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[FunctionCall] = []
        self.bytes = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and keep what it gave."""
        output = function(*args, **(kwargs or {}))
        first = output[0] if isinstance(output, tuple) and output else output
        if isinstance(first, Tensor) and first.is_floating_point() and first.dim() > 1 and is_dense(first):
            self.bytes += first.nbytes
            if len(self.made) < MOST_CALLS and self.bytes <= MOST_BYTES:
                name, module = getattr(function, "__name__", ""), running_module()
                # a copy: what writes in place later is a call of its own
                self.made.append(FunctionCall(name, first.clone(), id(module), raw_frames(2), gathered(name, args)))
        return output


def gathered(name: str, args: tuple[Any, ...]) -> int:
    """The rows of a tensor of which a call takes those that an index tensor names; 0 for other calls: `x[0]` and
    `x[:1]` are written by hand."""
    index = args[-1] if name in GATHERS and len(args) > 1 and isinstance(args[0], Tensor) else None
    parts = index if isinstance(index, tuple) else (index,)
    named = any(isinstance(one, Tensor) and one.dim() and not one.is_floating_point() for one in parts)
    return args[0].shape[0] if named and args[0].dim() else 0


def mixing_call(
    shadow: ShadowModel, given: Arguments, changed: Arguments, tokens: Tensor, place: int
) -> MixingCall | None:
    """The first call with other values before `place`; None where the positions are not known, or it is the end of an
    attention, which has lines of its own. Which dimension holds the positions is seen in a third run, of texts that are
    one token shorter."""
    length = tokens.shape[1]
    shorter = (tuple(cut(v, length) for v in given[0]), {name: cut(v, length) for name, v in given[1].items()})
    try:
        base, other, fewer = calls(shadow, given), calls(shadow, changed), calls(shadow, shorter)
    except Exception:
        return None  # a model of one length: the third run is none that it was built for
    if len({tuple(one.name for one in run) for run in (base, other, fewer)}) > 1:
        return None
    attending = set()
    for number, (one, same, short) in enumerate(zip(base, other, fewer, strict=True)):
        if one.name in ATTENDS:
            attending |= {code for code, _ in one.raw[:1]}
        dim = positions(one.output, short.output, length)
        if dim is None or one.output.shape != same.output.shape:
            continue
        first, second = (value.output.narrow(dim, 0, place) for value in (one, same))
        if (distance(first, second) or 0.0) > CHANGED:
            if not attending.isdisjoint(code for code, _ in one.raw[:1]):
                return None
            before = base[number - 1] if number else one
            at = before if before.name == "pad" and one.name.startswith("conv") else one
            names = {id(module): plain_path(name) for name, module in shadow.model.named_modules()}
            return MixingCall(one.name, names.get(at.module), at.raw)
    return None


def calls(shadow: ShadowModel, given: Arguments) -> list[FunctionCall]:
    """What the functions gave in one run of the copy."""
    seen = FunctionCalls()
    with seen:
        shadow.run(*given)
    return seen.made


def cut(value: Any, length: int) -> Any:
    """The value without its last position."""
    if isinstance(value, Tensor) and value.dim() > 1 and value.shape[1] == length:
        return value[:, : length - 1]
    return value


def positions(value: Tensor, shorter: Tensor, length: int) -> int | None:
    """The dimension that holds the positions, each at its place: the only one that shrinks with the text, and has its
    length."""
    if value.dim() != shorter.dim():
        return None
    differ = [dim for dim in range(value.dim()) if value.shape[dim] != shorter.shape[dim]]
    return differ[0] if len(differ) == 1 and value.shape[differ[0]] == length == shorter.shape[differ[0]] + 1 else None


def reaching_call(
    shadow: ShadowModel, given: Arguments, changed: Arguments, part: Callable[[Tensor], Tensor | None], samples: int
) -> RawFrames:
    """The first call of which a part, the rows of a sample, changes with other samples, where that takes rows by an
    index tensor from the joined rows of all `samples`; nothing where it is another call, or none is seen."""
    try:
        base, other = calls(shadow, given), calls(shadow, changed)
    except Exception:
        return ()  # what the model raises ends the trials without this one
    for one, same in zip(base, other, strict=False):
        if one.name != same.name or one.output.shape != same.output.shape:
            return ()
        if (distance(part(one.output), part(same.output)) or 0.0) > CHANGED:
            return one.raw if one.gathered > samples and one.gathered % samples == 0 else ()
    return ()
