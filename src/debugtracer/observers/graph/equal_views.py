"""Finds pairs of views that are the same: a batch whose halves are equal bit for bit, or two batches of two calls, with
equal outputs, that are still equal where they are compared with one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.model.shadow_model import is_dense, main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.equal_views import EqualViews

FEWEST = 4  # samples seen twice (ours)
VALUES = 8  # values of a sample (ours: shorter ones may be equal by chance)
COMPARISONS = frozenset({"matmul", "__matmul__", "mm", "einsum", "cosine_similarity", "cdist", "linear"})
NORMALISES = frozenset({"cross_entropy", "log_softmax", "logsumexp"})
"""What a contrastive loss does with the rows of all comparisons, and the kernel of a Gaussian process does not."""


class Pairs:
    """One call on a batch of equal pairs."""

    def __init__(self, root: str, samples: int, raw: RawFrames, calls: int = 1) -> None:
        self.root, self.samples, self.raw, self.calls = root, samples, raw, calls
        self.compared = False


class FormerCall(NamedTuple):
    """One call of a model in this step."""

    module: WeakRef[nn.Module]
    given: WeakRef[Tensor]
    made: WeakRef[Tensor]


class EqualViewsObserver(Observer):
    """Compares the two halves of a batch, or two batches, and their outputs where they are equal; keeps no tensor
    alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.pairs: Pairs | None = None
        self.former: FormerCall | None = None

    def reset(self) -> None:
        self.pairs = self.former = None

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the one tensor that a model in training was given."""
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
        made = main_output(output)
        if len(given) != 1 or made is None or not module.training or not made.requires_grad:
            return
        if (
            is_dense(given[0])
            and given[0].is_floating_point()
            and given[0].dim() > 1
            and made.shape[:1] == given[0].shape[:1]
        ):
            self.compare(module, given[0].detach(), made)
            self.compare_calls(module, given[0], made)

    def compare(self, module: nn.Module, given: Tensor, made: Tensor) -> None:
        """Note a batch of two equal halves."""
        rows = given.shape[0]
        if rows >= 2 * FEWEST and rows % 2 == 0 and varied(given) and any(map(twice, layouts(given, made))):
            self.pairs = Pairs(type(module).__name__, rows // 2, raw_frames(2))

    def compare_calls(self, module: nn.Module, given: Tensor, made: Tensor) -> None:
        """Note a batch that the model was given in the call before, too."""
        former, self.former = self.former, FormerCall(WeakRef(module), WeakRef(given), WeakRef(made))
        if former is None or former.module() is not module or len(given) < FEWEST:
            return
        first, one = former.given(), former.made()
        if first is None or one is None or first.shape != given.shape or one.shape != made.shape:
            return
        if varied(given.detach()) and twice((first.detach(), given.detach(), one, made)):
            self.pairs = Pairs(type(module).__name__, len(given), raw_frames(2), calls=2)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit the pairs when all of them are compared with all; those of two calls when the comparisons are
        normalised, too: `k(x, x)` asks for the same features twice on purpose."""
        pairs = self.pairs
        if pairs is None:
            return
        name = getattr(function, "__name__", "")
        sizes = pairs.samples, 2 * pairs.samples
        if name in COMPARISONS and isinstance(output, Tensor) and output.dim() == 2:
            if output.shape[0] == output.shape[1] and len(output) in sizes:
                pairs.compared = still_twice([*args, *kwargs.values()], len(output), pairs.samples)
                if not pairs.compared:
                    self.pairs = None  # noise was put on the outputs: those are the views
                elif pairs.calls == 1:
                    self.emit(pairs)
        elif pairs.compared and name in NORMALISES and args and isinstance(args[0], Tensor) and args[0].dim() == 2:
            rows, columns = args[0].shape
            if rows in sizes and columns in (rows, rows - 1):
                self.emit(pairs)

    def emit(self, pairs: Pairs) -> None:
        """Emit the pairs and forget them: they are told once."""
        self.pairs = None
        frames = frames_of(pairs.raw)
        self.run.emit(
            EqualViews(ref=self.run.ref(), root=pairs.root, samples=pairs.samples, frame=frames[0] if frames else None)
        )

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Forget the pairs of this batch."""
        self.reset()


def layouts(given: Tensor, made: Tensor) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """The views as first and second half, and as neighbours: of the inputs, then of the outputs."""
    half = given.shape[0] // 2
    return [
        (given[:half], given[half:], made[:half], made[half:]),
        (given[0::2], given[1::2], made[0::2], made[1::2]),
    ]


def twice(views: tuple[Tensor, Tensor, Tensor, Tensor]) -> bool:
    """Whether inputs and outputs are the same twice; the first sample is looked at first."""
    first, second, one, other = views
    with torch.no_grad():
        return (
            first.device == second.device
            and torch.equal(first[0], second[0])
            and torch.equal(first, second)
            and torch.equal(one, other)
        )


def still_twice(args: list[Any], rows: int, samples: int) -> bool:
    """Whether the views among the arguments of a comparison are the same, to rounding."""
    given = [v for arg in args for v in (arg if isinstance(arg, (list, tuple)) else [arg]) if isinstance(v, Tensor)]
    with torch.no_grad():
        first, *rest = [value.squeeze() for value in given] or [torch.empty(0)]
        if rows == 2 * samples:
            if first.shape[:1] != (rows,):
                return False
            return alike(first[:samples], first[samples:]) or alike(first[0::2], first[1::2])
        return bool(rest) and (alike(first, rest[0]) or alike(first, rest[0].T))


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two tables are the same, to rounding."""
    return one.shape == other.shape and one.dtype == other.dtype and torch.allclose(one, other, rtol=1e-4, atol=1e-6)


def varied(given: Tensor) -> bool:
    """Whether the samples are many values and not all the same."""
    with torch.no_grad():
        long = given[0].numel() >= VALUES and not torch.equal(given[0], given[given.shape[0] // 2 - 1])
        return bool(long and (given[0] != given[0].flatten()[0]).any())
