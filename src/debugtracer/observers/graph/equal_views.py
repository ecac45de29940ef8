"""Finds pairs of views that are the same: a batch whose halves are equal bit for bit, or two batches of two calls, with
equal outputs, compared pair by pair."""

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


class Pairs:
    """One call on a batch of equal pairs."""

    def __init__(self, root: str, samples: int, raw: RawFrames) -> None:
        self.root, self.samples, self.raw = root, samples, raw


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
            self.pairs = Pairs(type(module).__name__, len(given), raw_frames(2))

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit the pairs when all of them are compared with all."""
        pairs = self.pairs
        if pairs is None or not isinstance(output, Tensor) or getattr(function, "__name__", "") not in COMPARISONS:
            return
        if output.dim() == 2 and output.shape in ((2 * pairs.samples,) * 2, (pairs.samples,) * 2):
            self.pairs = None
            frames = frames_of(pairs.raw)
            self.run.emit(
                EqualViews(
                    ref=self.run.ref(), root=pairs.root, samples=pairs.samples, frame=frames[0] if frames else None
                )
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


def varied(given: Tensor) -> bool:
    """Whether the samples are many values and not all the same."""
    with torch.no_grad():
        long = given[0].numel() >= VALUES and not torch.equal(given[0], given[given.shape[0] // 2 - 1])
        return bool(long and (given[0] != given[0].flatten()[0]).any())
