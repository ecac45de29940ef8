"""Finds codes that a model chooses by the place of a minimum, compares with what they stand for, and hands on in its
place, while no gradient goes past the choice."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import MOST_NODES, numbers
from debugtracer.observers.graph.model_origins import LAYOUT
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.straight_through import StraightThrough

CHOICES = frozenset({"argmin", "argmax", "min", "max", "topk"})
LOOKUPS = frozenset(
    {"embedding", "__getitem__", "index_select", "gather", "matmul", "mm", "bmm", "__matmul__", "einsum", "linear"}
)
MARKS = frozenset({"one_hot", "scatter", "scatter_"})
"""Functions that write places as rows with a single one."""
APART = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cosine_similarity", "pairwise_distance"})
DIFFERENCES = frozenset({"sub", "__sub__", "__rsub__", "rsub"})
SIGHTS = frozenset({"size", "dim", "numel", "__len__", "stride", "is_contiguous", "unique", "bincount"})
MOST_CHOICES = 8  # of one step (ours)
MOST_SCORING = 20_000  # nodes of their scores (ours: a twentieth of a second)
LOOKS = 16  # inspected steps (ours)
ALL_LEAVES = 2**64 - 1  # the number that every leaf's node has


class Codes(NamedTuple):
    """What was looked up by one choice."""

    choice: int
    """Its number in the step."""
    name: str
    module: str
    shape: tuple[int, ...] = ()
    raw: RawFrames = ()
    """The line of the lookup; () before it."""


class ChosenCodesObserver(Observer):
    """Follows identities and numbers of nodes; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Tensor, Codes] = ById()
        self.looked_up: dict[int, Codes] = {}
        self.sources: dict[int, set[int]] = {}
        """The nodes that the scores of each choice were made by; none of scores without a graph."""
        self.lookups: dict[int, int] = {}
        """How often codes were looked up by a choice: two times where one of them passes a gradient of its own."""
        self.handed: dict[int, RawFrames] = {}
        """The lines at which its codes first go into something else."""
        self.meant: dict[int, set[int]] = {}
        """The nodes of the tensor that the codes of a choice are compared with."""
        self.used: dict[int, set[int]] = {}
        """The nodes of what else was made of its codes."""
        self.compared: set[int] = set()
        """The nodes of comparisons."""
        self.looks = self.count = 0
        """Inspected steps, and choices so far."""

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was chosen in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        if self.sources:
            self.known.data.clear()
            for store in (self.looked_up, self.sources, self.meant, self.used, self.lookups, self.handed):
                store.clear()
            self.compared.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow a choice to its codes, and these to what they are compared with and handed to."""
        name = getattr(function, "__name__", "")
        if name in CHOICES:
            self.choose(name, args, output)
            return
        if not self.sources or name in SIGHTS:
            return
        given = [(value, codes) for value in tensors((args, kwargs)) if (codes := self.known.get(value)) is not None]
        if not given:
            return
        value, codes = given[0]
        if not codes.raw:
            self.follow(name, codes, output)
        elif name in LAYOUT:
            self.mark(codes, output)
        elif isinstance(output, Tensor) and output.grad_fn is not None:
            other = [v for v in tensors((args, kwargs)) if v is not value and v.shape == value.shape]
            if name in APART or (name in DIFFERENCES and other):
                self.compare(name, value, codes, other, output)
            else:
                self.handed.setdefault(codes.choice, raw_frames(1))
                self.used.setdefault(codes.choice, set()).add(int(output.grad_fn._sequence_nr()))

    def choose(self, name: str, args: tuple[Any, ...], output: Any) -> None:
        """Note places that scores gave: as a rule they have no graph, for none goes past the choice."""
        scores = args[0] if args else None
        if not isinstance(scores, Tensor) or not scores.is_floating_point():
            return
        places = [v for v in tensors(output) if v.dtype == torch.int64]
        if not places or not self.has_room():
            return
        number, self.count = self.count, self.count + 1
        self.sources[number] = nodes(scores) if scores.grad_fn is not None else set()
        self.mark(Codes(number, name, ""), places)

    def has_room(self) -> bool:
        """Whether one more choice can be followed; the oldest without a graph gives way: an evaluation makes many."""
        if len(self.sources) >= MOST_CHOICES:
            oldest = next((number for number, sources in self.sources.items() if not sources), None)
            if oldest is None:
                return False
            del self.sources[oldest]
        return True

    def mark(self, codes: Codes, output: Any) -> None:
        """Remember tensors as these."""
        for value in tensors(output):
            self.known[value] = codes

    def follow(self, name: str, codes: Codes, output: Any) -> None:
        """Follow places to the codes that are looked up there."""
        if not isinstance(output, Tensor) or not is_dense(output):
            return
        if name in LOOKUPS and output.is_floating_point():
            module = running_module(2)
            found = codes._replace(
                raw=raw_frames(2), shape=tuple(output.shape), module=type(module).__name__ if module is not None else ""
            )
            self.looked_up[codes.choice] = found
            self.lookups[codes.choice] = self.lookups.get(codes.choice, 0) + 1
            self.mark(found, output)
        elif name in MARKS or name in LAYOUT:
            self.mark(codes, output)

    def compare(self, name: str, value: Tensor, codes: Codes, other: list[Tensor], output: Tensor) -> None:
        """Note what the codes are to be near: a tensor that their choice was scored by, which learns from it."""
        if output.grad_fn is not None:
            self.compared.add(int(output.grad_fn._sequence_nr()))
        for one in other:
            if one.grad_fn is None or self.known.get(one) is not None:
                continue
            meant, sources = nodes(one), self.sources.get(codes.choice, set())
            scored = meant <= sources if sources else not value.requires_grad
            if (name in APART or not value.requires_grad) and meant and scored:
                self.meant.setdefault(codes.choice, set()).update(meant)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit codes that the loss hangs on beside the comparisons, where it does not hang on what they stand for."""
        if not self.meant:
            return
        reached = numbers((loss for loss in losses if loss.grad_fn is not None), MOST_NODES, self.compared)
        if len(reached) >= MOST_NODES:
            return
        for choice, meant in self.meant.items():
            codes = self.looked_up.get(choice)
            if codes is None or reached.isdisjoint(self.used.get(choice, ())) or not reached.isdisjoint(meant):
                continue
            found, on = frames_of(codes.raw), frames_of(handed_on(codes.raw, self.handed.get(choice, ())))
            self.run.emit(
                StraightThrough(
                    ref=self.run.ref(), how="missing", shape=codes.shape, module=codes.module, choice=codes.name,
                    frame=found[0] if found else None, handed_on=on[0] if on else None,
                    twice=self.lookups[choice] > 1,
                )
            )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step; the form of a model is known after some."""
        self.forget()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins, self.step_closed)


def handed_on(looked_up: RawFrames, used: RawFrames) -> RawFrames:
    """The line of the innermost function that has both the lookup and the use below it."""
    codes = {code for code, _ in looked_up}
    return next(((pair,) for pair in used if pair[0] in codes), ())


def nodes(value: Tensor) -> set[int]:
    """The numbers of the nodes that made a tensor, without the leaves, which all have one."""
    return numbers([value], MOST_SCORING) - {ALL_LEAVES}
