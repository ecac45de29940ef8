"""Follows what a network says of next states into a target that it is then compared with: does the graph go along?"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import leaves, node_of, numbers
from debugtracer.observers.loss.bootstrap_masks import ADDS, CARRIES, FEWEST, MOST, is_mask, tensors
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.loss_call import ELEMENTWISE
from debugtracer.trace.facts.policy_term import PolicyTerm

CHOOSES = frozenset({"max", "amax", "gather"})
"""What takes the value of one action of several."""
MOST_COMPARED = 4  # targets whose graph is walked in a step (ours)


class NextAnswer(NamedTuple):
    """What a network says, with a graph, and what became of it."""

    chosen: bool = False
    """It is the value of one action."""
    factor: bool = False
    """It was multiplied with a number or a mask of rows."""
    masked: bool = False
    added: RawFrames = ()
    """Where something without a graph was added."""


class ComparedTarget(NamedTuple):
    """A target beside what is fitted to it."""

    node: int
    """The number of the target's node."""
    both: frozenset[int]
    """The leaves that both reach, by their ids."""
    added: RawFrames
    raw: RawFrames


class HangingTargetsObserver(Observer):
    """Compares identities in inspected steps, and reads the graph of a loss where such a target was made."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.answers: ById[Tensor, NextAnswer] = ById()
        self.compared: list[ComparedTarget] = []

    def reset(self) -> None:
        self.answers.data.clear()
        self.compared.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what a network answers."""
        for value in tensors(output):
            if value.requires_grad and is_dense(value) and len(self.answers) < MOST:
                self.answers[value] = NextAnswer()

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow an answer to a product, to a sum, to a comparison."""
        name = getattr(function, "__name__", "")
        if not len(self.answers) or not args or len(self.answers) >= MOST:
            return
        if name in ELEMENTWISE or name in DIFFERENCES:
            self.compare([*args[:2], kwargs.get("input"), kwargs.get("target")])
        given = [a for a in args[:2] if isinstance(a, Tensor)]
        value, known = next(((a, k) for a in given if (k := self.answers.get(a)) is not None), (None, None))
        if value is None or known is None:
            return
        other = next((a for a in args[:2] if a is not value), None)
        if name in CARRIES and (name not in DIFFERENCES or not hangs(other)):
            for made in tensors(output):
                self.answers[made] = known._replace(chosen=known.chosen or name in CHOOSES)
        elif isinstance(output, Tensor) and output.requires_grad:
            self.combined(name, known, other, output)

    def combined(self, name: str, known: NextAnswer, other: Any, output: Tensor) -> None:
        """Follow a product, or a sum with what each row has earned."""
        if name in PRODUCTS and not known.added:
            if isinstance(other, (int, float)) or (
                isinstance(other, Tensor) and other.numel() == 1 and not hangs(other)
            ):
                self.answers[output] = known._replace(factor=True)
            elif isinstance(other, Tensor) and is_mask(other):
                self.answers[output] = known._replace(factor=True, masked=True)
        elif name in ADDS and known.factor and (known.chosen or known.masked) and is_earned(other, output):
            self.answers[output] = known._replace(added=raw_frames(3))

    def compare(self, given: list[Any]) -> None:
        """Note a target that is compared with an answer."""
        pair = [(a, k) for a in given if isinstance(a, Tensor) and (k := self.answers.get(a)) is not None]
        targets, said = [one for one in pair if one[1].added], [one for one in pair if not one[1].added]
        if len(targets) == len(said) == 1 and len(self.compared) < MOST_COMPARED:
            (target, known), (prediction, _) = targets[0], said[0]
            node, both = node_of(target), leaves([prediction]).keys() & leaves([target]).keys()
            if node is not None and both:
                self.compared.append(
                    ComparedTarget(int(node._sequence_nr()), frozenset(both), known.added, raw_frames(3))
                )

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit a target whose gradient reaches the network that is to be fitted to it."""
        inside = numbers(losses) if self.compared else set()
        trained = self.trained() if self.compared else set()
        for one in self.compared:
            if one.node in inside and one.both & trained:
                self.run.emit(
                    PolicyTerm(
                        ref=self.run.ref("backward"), term="target", parameters=len(one.both & trained),
                        frame=first(one.added), made=first(one.raw),
                    )
                )  # fmt: skip
                break
        self.reset()

    def trained(self) -> set[int]:
        """The parameters of all optimizers, by their ids."""
        return {id(p) for o in self.run.optimizers for group in o.param_groups for p in group["params"]}


def hangs(value: Any) -> bool:
    """Whether it is a tensor with a graph."""
    return isinstance(value, Tensor) and value.requires_grad


def is_earned(value: Any, total: Tensor) -> bool:
    """Whether it is a number of each row, without a graph, that went into a sum."""
    return isinstance(value, Tensor) and not hangs(value) and value.shape == total.shape and total.numel() >= FEWEST
