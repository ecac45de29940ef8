"""Follows the gradients of scores by their samples to a norm that is pulled to a number: is it the norm of each
sample?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.penalty_axes import PenaltyAxes

VIEWS = frozenset({"view", "reshape", "flatten", "contiguous"})
EACH = frozenset({"square", "pow", "__pow__", "mul", "__mul__", "abs", "float", "add", "__add__", "sqrt", "clone"})
NORMS = frozenset({"norm", "vector_norm", "linalg_vector_norm", "linalg_norm"})
FOLDS = NORMS | {"sum"}
LESS = frozenset({"sub", "__sub__", "__rsub__", "rsub"})
MOST = 64  # tensors followed in a step (ours)


class Norm(NamedTuple):
    """Axes of a gradient that were folded, and where."""

    function: str
    shape: tuple[int, ...]
    folded: tuple[int, ...]
    raw: RawFrames


class OfGradient(NamedTuple):
    """A tensor made of a gradient, samples first; behind a fold over other axes than those of each sample, what was
    folded."""

    tensor: WeakRef[Tensor]
    grad: RawFrames
    norm: Norm | None = None


class PenaltyAxesObserver(Observer):
    """Follows identities and shapes in inspected steps; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, OfGradient] = {}

    def reset(self) -> None:
        self.known.clear()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.known.clear()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.known.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow gradients with a graph to a fold, and to the number that is subtracted from it."""
        if function is torch.autograd.grad:
            for gradient in of_samples(args, kwargs, output):
                self.follow(gradient, OfGradient(WeakRef(gradient), raw_frames(2)))
            return
        known = self.known.get(id(args[0])) if self.known and args else None
        if known is None or known.tensor() is not args[0]:
            return
        name = getattr(function, "__name__", "")
        if known.norm is not None:
            self.behind(name, known, known.norm, args, output)
        elif isinstance(output, Tensor):
            self.before(name, known, args, kwargs, output)

    def before(
        self, name: str, known: OfGradient, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor
    ) -> None:
        """Follow what leaves the samples first, up to a fold."""
        given: Tensor = args[0]
        if name in FOLDS:
            axes = axes_of(name, given, args, kwargs)
            if axes is not None and axes != tuple(range(1, given.dim())):
                norm = Norm(name, tuple(given.shape), axes, raw_frames(2))
                self.follow(output, known._replace(norm=norm))
        elif (name in VIEWS or name in EACH) and output.dim() and output.shape[0] == given.shape[0]:
            self.follow(output, known)

    def behind(self, name: str, known: OfGradient, norm: Norm, args: tuple[Any, ...], output: Any) -> None:
        """Follow what comes of the fold; emit it where a number is subtracted."""
        number = args[1] if len(args) > 1 else None
        if name in LESS and isinstance(number, (int, float)) and number > 0:
            self.run.emit(
                PenaltyAxes(
                    ref=self.run.ref(), function=norm.function, shape=norm.shape, folded=norm.folded,
                    frame=first(norm.raw), grad_frame=first(known.grad),
                )
            )  # fmt: skip
        elif name in EACH and isinstance(output, Tensor) and output.shape == args[0].shape:
            self.follow(output, known)

    def follow(self, value: Tensor, known: OfGradient) -> None:
        """Remember a tensor that is trained."""
        if len(self.known) < MOST and value.requires_grad:
            self.known[id(value)] = known._replace(tensor=WeakRef(value))


def of_samples(args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Iterator[Tensor]:
    """Yield gradients with a graph of one score for each sample by samples of several numbers."""
    named = dict(zip(("outputs", "inputs"), args, strict=False)) | kwargs
    scores, inputs = list(tensors(named.get("outputs"))), list(tensors(named.get("inputs")))
    sizes = scores_of(scores[0]) if len(scores) == 1 else ()
    if not sizes or not isinstance(output, (list, tuple)):
        return
    rows = sizes[0]
    for given, gradient in zip(inputs, output, strict=False):
        samples = isinstance(gradient, Tensor) and given.dim() > 1 and given.shape[0] == rows
        if samples and 1 < rows == math.prod(sizes) and not isinstance(given, nn.Parameter):
            yield gradient


def scores_of(value: Tensor) -> tuple[int, ...]:
    """The sizes of the scores: of a sum over all of them, of what was summed."""
    summed = value.dim() == 0 and value.grad_fn is not None and value.grad_fn.name() == "SumBackward0"
    return tuple(int(n) for n in value.grad_fn._saved_self_sym_sizes) if summed else tuple(value.shape)  # type: ignore[union-attr]


def axes_of(name: str, given: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...] | None:
    """The axes that a norm or a sum folds, in order; None where it does not say so in a way that is known."""
    place = 2 if name in NORMS else 1
    told = kwargs.get("dim", kwargs.get("axis", args[place] if len(args) > place else None))
    if told is None:
        return tuple(range(given.dim())) if name in NORMS else None
    axes = list(told) if isinstance(told, (list, tuple)) else [told]
    if not axes or not all(type(one) is int for one in axes):
        return None
    return tuple(sorted({one % given.dim() for one in axes}))
