"""Reads at which positions the outputs of a model get a gradient, and what their targets are: is it padding alone?"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.padded_targets import COMPARISONS
from debugtracer.observers.model.attended_padding import at_one_end
from debugtracer.observers.model.shadow_model import is_dense, main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.tape.entry import tensors
from debugtracer.recorder.tape.moved_leaves import storage_of
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.facts.trained_padding import TrainedPadding
from debugtracer.trace.number import number

SHORTEST, FEWEST = 4, 4  # positions, rows (ours)
KINDS = 2  # different targets without a gradient (ours)
COUNTED = 64  # of them that are counted (ours)
ELEMENTS = 2**24  # of an output that is looked at (ours)
MOST = 4  # outputs, losses and comparisons of a step (ours)
LOOKS = 6  # inspected steps (ours)


class Answered(NamedTuple):
    """The output of one call of a model, until its backward is over."""

    root: str
    shape: torch.Size
    given: frozenset[int | None]
    """The memory of the tensors that the model was given."""
    leaves: list[Tensor]
    """What came with them in their batch."""
    reached: list[Tensor]
    """Which positions a gradient came to: (rows, positions), a tensor for each dimension that may hold the
    positions."""


class Wanted(NamedTuple):
    """The targets of one loss."""

    name: str
    target: Tensor
    raw: RawFrames


class Compared(NamedTuple):
    """A tensor that was compared with a number."""

    value: float
    tensor: Tensor
    raw: RawFrames


class TrainedPaddingObserver(Observer):
    """Listens to gradients of outputs in the first inspected steps; keeps nothing with a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.answered: list[Answered] = []
        self.wanted: list[Wanted] = []
        self.compared: list[Compared] = []
        self.looks = 0

    def reset(self) -> None:
        self.forget()
        self.looks = 0

    def missed(self) -> None:
        """Forget the outputs of a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.answered, self.wanted, self.compared = [], [], []

    @of_functions(LOSSES, COMPARISONS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss, and what tensors are compared with."""
        name = getattr(function, "__name__", "")
        if name in LOSSES and name != "ctc_loss":
            if torch.is_grad_enabled() and len(self.wanted) < MOST:
                target = arguments(name, args, kwargs)["target"]
                self.wanted.append(Wanted(name, target.detach(), raw_frames(1)))
        elif name in COMPARISONS and len(self.compared) < MOST and is_with_number(args):
            self.compared.append(Compared(float(args[1]), args[0].detach(), raw_frames(1)))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Listen to the gradient of an output with positions."""
        scores = main_output(output)
        if scores is None or not scores.requires_grad or scores.grad_fn is None or len(self.answered) >= MOST:
            return
        if not is_dense(scores):  # a nested tensor has no shape to ask for
            return
        if not 2 <= scores.dim() <= 3 or min(scores.shape[:2]) < FEWEST or scores.numel() > ELEMENTS:
            return
        given = list(tensors((args, kwargs)))
        found = next((hit for t in given if (hit := self.run.batches.find(t)) is not None), None)
        leaves = [leaf for _, leaf in found[0].tensors()] if found is not None else []
        places = frozenset(map(storage_of, given))
        answered = Answered(type(module).__name__, scores.shape, places, leaves, [])
        scores.register_hook(guarded("trained_padding.note")(functools.partial(note, answered.reached)))
        self.answered.append(answered)

    @inspected
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Emit outputs that are trained at padding alone."""
        answered, wanted, compared = self.answered, self.wanted, self.compared
        self.forget()
        self.looks += bool(answered)
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_ended)
        if len(answered) != 1:
            return  # another call may be trained where this one is not
        (one,) = answered
        for reached in one.reached if len(one.reached) <= 2 else ():
            for target in targets_of(one, reached, wanted, [c.tensor for c in compared]):
                found = padding_alone(reached, target)
                if found is not None:
                    self.tell(one, reached, target, found, wanted, compared)
                    return

    def tell(
        self,
        one: Answered,
        reached: Tensor,
        target: Tensor,
        found: tuple[float, int],
        wanted: list[Wanted],
        compared: list[Compared],
    ) -> None:
        """Emit one backward, with the line that compares with the padding."""
        value, others = found
        size = reached.numel()
        line = next((c.raw for c in compared if c.value == value and c.tensor.numel() == size), ())
        loss = wanted[0] if wanted else None
        self.run.emit(
            TrainedPadding(
                ref=self.run.ref("loss", self.run.iteration - 1), value=number(value),
                whole=not target.is_floating_point(), kept=number(float(reached.float().mean())), others=others,
                root=one.root, loss=loss.name if loss else "", loss_frame=first(loss.raw) if loss else None,
                compared=first(line),
            )
        )  # fmt: skip


def is_with_number(args: tuple[Any, ...]) -> bool:
    """Whether a tensor of rows and positions is compared with one number."""
    given, other = (*args, None, None)[:2]
    return isinstance(other, (int, float)) and isinstance(given, Tensor) and given.numel() >= SHORTEST * FEWEST


def note(reached: list[Tensor], gradient: Tensor) -> None:
    """Keep which positions a gradient comes to: of (rows, positions), (rows, positions, classes) or (rows, classes,
    positions)."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        some = gradient != 0
        reached += [some] if some.dim() == 2 else [some.any(2), some.any(1)]


def targets_of(one: Answered, reached: Tensor, wanted: list[Wanted], compared: list[Tensor]) -> Iterator[Tensor]:
    """Yield what may be the targets of these positions: those of a loss, and what is compared with the padding or
    came in the batch, and was not given to the model."""
    apart = [t for t in (*compared, *one.leaves) if storage_of(t) not in one.given]
    for value in (*(loss.target for loss in wanted), *apart):
        if value.numel() == reached.numel() and is_dense(value) and value.dtype != torch.bool:
            yield value.detach().reshape(reached.shape).to(reached.device)


def padding_alone(reached: Tensor, target: Tensor) -> tuple[float, int] | None:
    """The value of all targets with a gradient and of no other, at one end of the rows and not as often in each, and
    how many different ones are left out; None where it is not so."""
    if min(reached.shape) < SHORTEST or not bool(reached.any()) or bool(reached.all(1).any()):
        return None
    inside, outside = target[reached], target[~reached]
    if bool((inside != inside[0]).any()) or bool((outside == inside[0]).any()):
        return None
    kinds = min(len(outside[: COUNTED * 8].unique()), COUNTED)
    varied = len(reached.sum(1).unique()) > 1
    return (float(inside[0]), kinds) if kinds >= KINDS and varied and at_one_end(reached) else None
