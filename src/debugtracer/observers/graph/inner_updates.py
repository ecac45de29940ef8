"""Follows inner losses to the weights that are adapted by them, and to the loss that is computed with those."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.adapted_weights import SUMS
from debugtracer.observers.graph.graph_walk import node_of, numbers
from debugtracer.observers.loss.unmasked_bootstraps import FORMS, flat
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.inner_update import InnerUpdate
from debugtracer.trace.facts.loss_call import LOSSES

DIFFERENCES = frozenset({"sub", "__sub__", "subtract"})
MOST = 2048  # tensors followed in a step (ours)
MOST_OUTER = 16  # outer losses of a step whose graph is walked (ours)


class Unread:
    """A tensor that was made before the inner loss: has anything read it?"""

    def __init__(self, value: Tensor, raw: RawFrames) -> None:
        self.shape, self.dtype, self.raw, self.read = tuple(value.shape), value.dtype, raw, False

    def is_like(self, target: Tensor) -> bool:
        """Whether it could be such a target, or those of several tasks."""
        shape = tuple(target.shape)
        own = self.shape[1:] if len(self.shape) == len(shape) + 1 else self.shape
        return self.dtype == target.dtype and len(own) == len(shape) > 0 and own[1:] == shape[1:]

    def goes_with(self, other: Unread) -> bool:
        """Whether another one could be the inputs of these targets."""
        return other is not self and other.shape[0] == self.shape[0]


class LossOfRows:
    """One call of a loss function."""

    def __init__(self, output: Tensor, target: Tensor, raw: RawFrames) -> None:
        self.target, self.raw, self.inner = target.detach(), raw, False
        node = node_of(output)
        self.node = int(node._sequence_nr()) if node is not None else -1
        self.reached: frozenset[int] = frozenset()
        """Adapted weights that it leads to, by node."""


class InnerUpdatesObserver(Observer):
    """Follows identities in inspected steps, of programs that ask for gradients of weights with a graph; keeps targets
    until the backward and no tensor with a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.adapts = False
        """The program has done so."""
        self.reset()

    def reset(self) -> None:
        self.losses: ById[Tensor, LossOfRows] = ById()
        self.called_losses: list[LossOfRows] = []
        self.gradients: ById[Tensor, tuple[int, int]] = ById()
        """A gradient, or a multiple of one: id of its weight, and the sign of the multiple."""
        self.adapted: ById[Tensor, int] = ById()
        """Adapted weights and their nodes."""
        self.nodes: set[int] = set()
        self.ascending = 0
        self.made: RawFrames = ()
        self.unread: ById[Tensor, Unread] = ById()
        self.unread_seen: list[Unread] = []
        self.inner = False
        """An inner gradient was asked for in this step."""

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def fetched(self, batch: Batch, data: Any) -> None:
        """Note the tensors of a batch."""
        if self.adapts:
            for value in flat([data]):
                self.note(value)

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note what a model reads."""
        self.reads(args)

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin at a loss; go on at autograd.grad, at the update that is made of it, and at the losses after it."""
        name = getattr(function, "__name__", "")
        if function is torch.autograd.grad:
            self.asked(args, kwargs, output)
            return
        self.follow_rows(name, args, kwargs, output)
        if name in LOSSES and torch.is_grad_enabled():
            self.note_loss(args, kwargs, output)
        elif self.inner and isinstance(output, Tensor) and len(self.adapted) < MOST:
            self.combined(name, args, kwargs, output)

    def follow_rows(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note which tensors are read, and new ones before the inner loss."""
        if not self.adapts:
            return
        same = self.unread.get(args[0]) if name in FORMS and args and isinstance(args[0], Tensor) else None
        if same is None:
            self.reads((*args, *kwargs.values()))
            for value in flat([output]):
                self.note(value)
        elif isinstance(output, Tensor):
            self.unread[output] = same

    def reads(self, given: tuple[Any, ...]) -> None:
        """Note that these are read."""
        if self.unread:
            for value in flat(list(given)):
                known = self.unread.get(value)
                if known is not None:
                    known.read = True

    def note(self, value: Any) -> None:
        """Remember a tensor that nothing has read yet."""
        if isinstance(value, Tensor) and value.dim() and not value.requires_grad and len(self.unread) < MOST:
            self.unread[value] = Unread(value, raw_frames(3))

    def note_loss(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a loss, and whether it is one of adapted weights."""
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(target, Tensor) or not isinstance(output, Tensor) or output.dim() or not output.requires_grad:
            return
        loss = LossOfRows(output, target, raw_frames(3))
        self.losses[output] = loss
        if len(self.called_losses) < MOST:
            self.called_losses.append(loss)
        if self.nodes and sum(1 for one in self.called_losses if one.reached) < MOST_OUTER:
            loss.reached = frozenset(self.nodes & numbers([output]))
        self.unread_seen = [one for one in self.unread.values() if not one.read] or self.unread_seen

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note gradients with a graph that a loss has for weights."""
        outputs, inputs = [*tensors(args[:1])], [*tensors(args[1:2])]
        loss = self.losses.get(outputs[0]) if len(outputs) == 1 else None
        keeps = args[4] if len(args) > 4 else kwargs.get("create_graph", False)
        if loss is None or not keeps or not isinstance(output, tuple) or len(output) != len(inputs):
            return
        held = {id(p) for optimizer in self.run.optimizers for p in parameters(optimizer)}
        if not all(id(one) in held or one in self.adapted for one in inputs):
            return  # of an input: a penalty, an attack
        loss.inner = self.inner = self.adapts = True
        for weight, gradient in zip(inputs, output, strict=True):
            if isinstance(gradient, Tensor) and len(self.gradients) < MOST:
                self.gradients[gradient] = id(weight), 1

    def combined(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Follow a multiple of a gradient to the weight that it is added to."""
        known = next(((k, at) for at, a in enumerate(args[:2]) if (k := self.multiple(a)) is not None), None)
        if known is None:
            return
        (weight, sign), at = known
        other = args[1 - at] if len(args) > 1 else None
        if name in ("neg", "__neg__", "negative"):
            self.gradients[output] = weight, -sign
        elif name in PRODUCTS and (factor := sign_of(other)):
            self.gradients[output] = weight, sign * factor
        elif name in SUMS and id(other) == weight and (times := sign_of(kwargs.get("alpha", 1))):
            node = node_of(output)
            if node is None or (name in DIFFERENCES and at == 0) or name == "__rsub__":
                return
            self.made = self.made or raw_frames(3)
            self.adapted[output] = int(node._sequence_nr())
            self.nodes.add(int(node._sequence_nr()))
            self.ascending += sign * times * (-1 if name in DIFFERENCES else 1) > 0

    def multiple(self, value: Any) -> tuple[int, int] | None:
        """What is known of a gradient."""
        return self.gradients.get(value) if isinstance(value, Tensor) else None

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what the outer losses of this backward are made of."""
        if self.nodes:
            found = numbers(losses)
            outer = [one for one in self.called_losses if one.reached and not one.inner and one.node in found]
            if outer:
                self.run.emit(self.fact(outer))
        self.reset()

    def fact(self, outer: list[LossOfRows]) -> InnerUpdate:
        """Compare the targets of outer losses with those of inner ones."""
        inner = [one.target for one in self.called_losses if one.inner]
        places = {place_of(target) for target in inner}
        left = [one for one in self.unread_seen if not one.read]
        unread = [one for one in left if any(map(one.is_like, inner)) and any(map(one.goes_with, left))]
        return InnerUpdate(
            ref=self.run.ref(), updates=len(self.nodes), ascending=self.ascending, outer=len(outer),
            same=sum(place_of(one.target) in places for one in outer), unread=len(unread), frame=first(self.made),
            outer_frame=first(outer[-1].raw), unread_frame=first(unread[0].raw) if unread else None,
        )  # fmt: skip


def place_of(value: Tensor) -> tuple[Any, ...]:
    """Which numbers these are: two slices of the same rows are the same."""
    return value.data_ptr(), tuple(value.shape), value.stride(), value.dtype


def sign_of(factor: Any) -> int:
    """The sign of all numbers of a factor; 0 where they differ, or it is none."""
    if isinstance(factor, (int, float)):
        return (factor > 0) - (factor < 0)
    if not isinstance(factor, Tensor) or not factor.numel():
        return 0
    low, high = factor.detach().aminmax()
    return int(low > 0) - int(high < 0)
