"""Finds draws from a distribution without a graph that go into a loss, where what made the distribution needs their
gradient: `sample()` in the place of `rsample()`."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Collection
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.frames import USER, RawFrames, place_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, leaves, node_of, parameter_ids
from debugtracer.observers.graph.model_origins import tensors as tensors_of
from debugtracer.observers.graph.straight_through import DISTRIBUTIONS
from debugtracer.observers.graph.summands import hanging, summands
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.recorder.tape.functions import DRAWS, RANDOM_INPLACE
from debugtracer.trace.facts.graph_reach import SampledLatent
from debugtracer.trace.facts.loss_call import LOSSES

RANDOM = DRAWS | RANDOM_INPLACE
LOGARITHMS = frozenset({"log", "log1p", "lgamma", "xlogy", "logsumexp"})
"""One of them is in the density of each distribution that can be drawn from with a derivative."""
ASKED = frozenset({"sample", "rsample", "log_prob"})
MOST = 256  # tensors, and nodes, followed in a step (ours)
MOST_DRAWS = 24  # draws, and densities, of a step (ours)
MOST_SUMMANDS = 64  # of a loss (ours)
NAMED = 8  # parameters named


class LatentDraw(NamedTuple):
    """One call of `sample()`, or of `torch.normal` with a graph, whose derivative is 0."""

    number: int
    function: str
    raw: RawFrames
    behind: frozenset[int]
    """Ids of the parameters that made the distribution."""


class UntrainedLatent(NamedTuple):
    """A draw in a loss, and the parameters to which the part of the loss that it enters gives nothing."""

    draw: LatentDraw
    lost: frozenset[int]
    elsewhere: frozenset[int]
    """Ids of what the rest of the loss hangs on."""


class SampledLatentsObserver(Observer):
    """Follows identities; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.drawn: dict[int, tuple[weakref.ref[Tensor], LatentDraw]] = {}
        """id -> a tensor made of a draw, without a graph."""
        self.entries: dict[int, LatentDraw] = {}
        """Number of the node where one enters a graph."""
        self.draws: ById[Any, LatentDraw] = ById()
        """Distribution -> its draw."""
        self.count = 0
        """Draws noted."""
        self.ends: set[int] = set()
        """Numbers of the nodes of `torch.normal`."""
        self.measured: set[int] = set()
        """Numbers of draws whose density was asked for."""
        self.trained: set[int] = set()
        """Ids of parameters that a density or a drawn derivative hangs on."""
        self.densities: ById[Any, bool] = ById()
        """Distributions that were asked for one."""
        self.named: set[int] = set()
        """Numbers of the nodes of named losses."""
        self.found: list[UntrainedLatent] = []
        self.settled: list[UntrainedLatent] = []
        """Those of the last step that no optimizer has closed yet which holds the parameters."""

    def reset(self) -> None:
        self.missed()

    def missed(self) -> None:
        """Forget what was drawn in a step that was not seen to its end."""
        self.forget()
        self.settled.clear()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        for one in (self.drawn, self.entries, self.draws.data, self.ends, self.measured, self.trained, self.named):
            one.clear()
        self.densities.data.clear()
        self.found.clear()
        self.count = 0

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin at a draw, go on through what is made of it, and note what else trains a distribution."""
        name = getattr(function, "__name__", "")
        if name in RANDOM:
            self.begin(name, args, kwargs, output)
        elif name in LOGARITHMS and torch.is_grad_enabled():
            self.density()
        elif (
            name != "kl_div"
            and (name in LOSSES or name.endswith("_loss"))
            and isinstance(output, Tensor)
            and output.requires_grad
        ):
            self.named_loss(output)
        if self.drawn:
            known = next((one for value in tensors((args, kwargs)) if (one := self.of(value)) is not None), None)
            if known is not None:
                self.go_on(known, output)

    def named_loss(self, loss: Tensor) -> None:
        """Note the node of a named loss."""
        node = node_of(loss)
        if node is not None and len(self.named) < MOST:
            self.named.add(int(node._sequence_nr()))

    def begin(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what is drawn by `sample` of a distribution that could be drawn from with a derivative; one that is
        drawn from so is trained by it."""
        if self.count >= MOST_DRAWS or not isinstance(output, Tensor):
            return
        called = asked()
        if called is not None:
            method, distribution = called
            behind = self.made_by(distribution)
            if method == "rsample":
                self.trained |= behind
            elif method == "sample" and behind and getattr(distribution, "has_rsample", False):
                function = f"{type(distribution).__name__}.sample"
                if distribution not in self.draws:
                    self.draws[distribution] = self.draw(function, behind)
                self.keep(output, self.draws[distribution])
        elif name == "normal" and torch.is_grad_enabled() and (node := node_of(output)) is not None:
            behind = self.parameters_of(tensors((args, kwargs)))
            if behind:
                number = int(node._sequence_nr())
                self.ends.add(number)
                self.entries[number] = self.draw("torch.normal", behind)

    def draw(self, function: str, behind: frozenset[int]) -> LatentDraw:
        """A draw at the line that runs."""
        self.count += 1
        return LatentDraw(self.count, function, raw_frames(3), behind)

    def density(self) -> None:
        """Note a distribution whose density is asked for."""
        called = asked()
        if called is None or called[0] != "log_prob" or called[1] in self.densities:
            return
        self.densities[called[1]] = True
        if len(self.densities) <= MOST_DRAWS:
            self.trained |= self.made_by(called[1])

    def made_by(self, distribution: Any) -> frozenset[int]:
        """The ids of the parameters that a distribution hangs on."""
        return self.parameters_of(tensors_of(distribution, 4))

    def parameters_of(self, values: Any) -> frozenset[int]:
        """The ids of the parameters that tensors hang on, not past a draw."""
        given = [value for value in values if value.requires_grad]
        if not self.ends:
            return parameter_ids(leaves(given, MOST_PART_NODES))
        found: set[int] = set()
        for value in given:
            node = node_of(value)
            below = hanging(node, MOST_PART_NODES, self.ends) if node is not None else ({id(value)}, set())
            found |= below[0] if below is not None else set()
        return frozenset(found)

    def go_on(self, draw: LatentDraw, output: Any) -> None:
        """Follow one call that takes what was drawn."""
        if torch.is_grad_enabled():
            called = asked()
            if called is not None and called[0] == "log_prob" and self.made_by(called[1]):
                self.measured.add(draw.number)
        for value in tensors(output):
            node = node_of(value)
            if node is None:
                self.keep(value, draw)
            elif len(self.entries) < MOST:
                self.entries[int(node._sequence_nr())] = draw

    def of(self, value: Tensor) -> LatentDraw | None:
        """The draw that a tensor is made of."""
        known = self.drawn.get(id(value))
        return known[1] if known is not None and known[0]() is value else None

    def keep(self, value: Tensor, draw: LatentDraw) -> None:
        """Remember a tensor without a graph."""
        if len(self.drawn) < MOST or id(value) in self.drawn:
            self.drawn[id(value)] = WeakRef(value), draw

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look which parts of the loss the draws enter, and what these hang on."""
        self.settled.clear()
        roots = [loss.grad_fn for loss in losses if loss.grad_fn is not None]
        if not self.entries or not roots or len(self.densities) > MOST_DRAWS:
            return
        nodes = summands(losses, MOST_SUMMANDS, joined=True) or roots
        below = [hanging(node, MOST_PART_NODES, self.ends) for node in nodes]
        known = [one for one in below if one is not None]
        if len(known) < len(below):
            return
        self.trained |= self.of_losses(roots)
        for draw in {self.entries[number] for _, numbers in known for number in numbers & self.entries.keys()}:
            places = {number for number, one in self.entries.items() if one == draw}
            inside = [leaf for leaf, numbers in known if numbers & places]
            rest = [leaf for leaf, numbers in known if not numbers & places]
            lost = draw.behind.difference(*inside)
            if lost and any(inside):
                self.found.append(UntrainedLatent(draw, lost, frozenset().union(*rest)))

    def of_losses(self, roots: Collection[Any]) -> set[int]:
        """What named losses hang on."""
        found: set[int] = set()
        stack = list(roots)
        seen = set(stack)
        while stack and self.named:
            node = stack.pop()
            if int(node._sequence_nr()) in self.named:
                below = hanging(node, MOST_PART_NODES, self.ends)
                found |= below[0] if below is not None else set()
                continue
            fresh = [child for child, _ in node.next_functions if child is not None and child not in seen]
            seen.update(fresh)
            stack.extend(fresh)
        return found

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit what the optimizer holds of the parameters that nothing else trains."""
        for one in self.found:
            lost = one.lost - self.trained
            if lost and one.draw.number not in self.measured:
                self.settled.append(one._replace(lost=lost))
        held = {id(parameter) for parameter in parameters(optimizer) if parameter.requires_grad}
        waiting = [one for one in self.settled if held.isdisjoint(one.lost)]
        for one in self.settled:
            if not held.isdisjoint(one.lost):
                self.emit(one, type(optimizer).__name__, held)
        self.forget()
        self.settled = waiting

    def emit(self, one: UntrainedLatent, optimizer: str, held: set[int]) -> None:
        """Write down one draw."""
        names, lost = self.run.names(), one.lost & held
        named = [name for key, name in names.items() if key in lost]
        self.run.emit(
            SampledLatent(
                ref=self.run.ref("update"), function=one.draw.function, optimizer=optimizer, lost=tuple(named[:NAMED]),
                count=len(lost), elsewhere=not lost.isdisjoint(one.elsewhere), frame=first(one.draw.raw),
            )
        )  # fmt: skip


def asked() -> tuple[str, Any] | None:
    """The method of a distribution of torch that the program has called and that runs, and the distribution; None
    without one."""
    frame: FrameType | None = sys._getframe(2)
    found: FrameType | None = None
    while frame is not None and place_of(frame.f_code) != USER:
        code = frame.f_code
        if code.co_name in ASKED and code.co_filename.startswith(DISTRIBUTIONS):
            found = frame
        frame = frame.f_back
    return (found.f_code.co_name, local(found, "self")) if found is not None else None
