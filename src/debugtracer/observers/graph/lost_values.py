"""Looks, where the loss stands out, for a tensor that is 0 everywhere though what made it cannot be: its values were
lost on the way."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.line import user_frame
from debugtracer.callsites.origins.handed_over import handed_to, written_of
from debugtracer.observers.graph.zero_inputs import FEWEST, KEPT, ZeroInput, cannot_vanish, layer_of, zero_inputs
from debugtracer.observers.loaders.sample_maker import maker_of
from debugtracer.observers.loss.loss_rows import OutlyingLoss
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.lost_values import LostValues
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

MOST_READ, MOST_EMITTED = 40, 8  # losses that are looked into, and that are told (ours)
FETCHED = 8  # samples of the batch that are fetched again (ours)
SELDOM = 2  # at most every other step in which an input is 0 may be one of them by right (ours)
KNOWN = 2  # other steps without one that must have been looked at (ours)
LEARNT = 8  # backward calls of a step that are looked at (ours): LBFGS makes twenty of one graph


class LostStep(NamedTuple):
    """What is told unless the next step has it, too."""

    ref: StepRef
    lost: tuple[tuple[str, int], ...]
    facts: tuple[LostValues, ...]


class LostValuesObserver(Observer):
    """On the CPU only, as the loss is read there alone. Inspected steps say what is 0 by right: padding, a layer that
    begins at 0."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.standout = OutlyingLoss()
        self.zero_by_right: Counter[tuple[str, int]] = Counter()
        """Inputs that were 0 in steps whose loss does not stand out, and in how many."""
        self.looks = self.read = self.emitted = 0
        self.step, self.looks_of_step = -1, 0
        self.suspect: LostStep | None = None

    def missed(self) -> None:
        """Learn the losses anew."""
        self.standout = OutlyingLoss()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look into a loss that stands out, the one after it, and those of inspected steps."""
        value = self.standout.push(losses)
        if value is None:
            if len(losses) == 1 and (self.suspect is not None or (self.run.inspecting and self.is_one_of_few())):
                self.learn(losses[0])
        elif self.read < MOST_READ and self.emitted < MOST_EMITTED and self.looks >= KNOWN:
            self.read += 1
            with torch.no_grad():
                self.look(losses[0], value)

    def is_one_of_few(self) -> bool:
        """Whether this backward is one of the first of its step."""
        self.looks_of_step = self.looks_of_step + 1 if self.run.step == self.step else 1
        self.step = self.run.step
        return self.looks_of_step <= LEARNT

    def learn(self, loss: Tensor) -> None:
        """Note what is 0 in a step like all others, and tell what was not in the one before."""
        self.looks += 1
        with torch.no_grad():
            now = {one.key for one in zero_inputs(loss)}
        self.zero_by_right.update(now)
        held, self.suspect = self.suspect, None
        if held is not None and not now.intersection(held.lost):
            for fact in held.facts:
                self.emitted += not fact.by_right
                self.run.emit(fact)

    def look(self, loss: Tensor, value: float) -> None:
        """Keep what was lost in this step until the next one."""
        seldom = [one for one in zero_inputs(loss) if SELDOM * self.zero_by_right[one.key] <= self.looks]
        found = [one for one in seldom if one.key not in self.zero_by_right]
        facts = [fact for one in reversed(found) if (fact := self.described(one, value)) is not None]
        layers = [one for one in reversed(seldom) if KEPT[one.key[0]][0] != "target"]
        facts = facts or [self.fact(one, value, by_right=True) for one in layers]
        if facts:
            self.suspect = LostStep(facts[0].ref, tuple(one.key for one in found or seldom), tuple(facts[:1]))

    def described(self, one: ZeroInput, value: float) -> LostValues | None:
        """The fact, where it is proved: the program did not write into the batch and its samples hold other values, or
        what made the tensor cannot be 0."""
        layer = layer_of(one.node, self.run.names())
        told = self.in_batch(one.tensor) if one.made_by is None else None
        if told is not None:
            path, samples, frame = told
        elif one.tensor.numel() < FEWEST or not layer or not cannot_vanish(one.made_by):
            return None
        else:
            path, samples, frame = "", (), handed_to(self.run.modules(), layer)
        return self.fact(one, value, path=path, samples=samples, frame=frame)

    def fact(self, one: ZeroInput, value: float, by_right: bool = False, **more: Any) -> LostValues:
        """What is told of one input."""
        return LostValues(
            ref=self.run.ref("loss"), module=layer_of(one.node, self.run.names()), shape=tuple(one.tensor.shape),
            value=number(value), usual=number(self.standout.usual()), looks=self.looks, by_right=by_right,
            **{"frame": None, **more},
        )  # fmt: skip

    def in_batch(self, lost: Tensor) -> tuple[str, tuple[int, ...], Frame | None] | None:
        """The place in the batch, samples that hold other values there, and its line: of a tensor of the batch itself,
        or of what a line that moves it made of it. None where the values are not known to be others."""
        hit, link = self.run.batches.find(lost), written_of(lost, user_frame(1))
        if hit is not None:
            samples = self.held_by_samples(*hit)
            return (hit[1], samples, link.frame if link is not None else hit[0].loader.frame) if samples else None
        batch = self.run.batches.last()
        if batch is None or link is None or link.kind != "handed":
            return None
        alike = [(p, t) for p, t in batch.tensors() if t.dtype == lost.dtype and t.numel() == lost.numel()]
        return (alike[0][0], (), link.frame) if len(alike) == 1 and bool(alike[0][1].any()) else None

    def held_by_samples(self, batch: Batch, path: str) -> tuple[int, ...]:
        """The first samples of a batch that hold something else at this place when they are fetched again; none where
        the program wrote into it since."""
        leaf = dict(batch.tensors()).get(path)
        maker, indices = maker_of(batch.loader), (batch.indices or ())[:FETCHED]
        if leaf is None or leaf._version or maker is None or not self.run.function_tests:
            return ()
        found = []
        try:
            with maker.unchanged(self.run):
                for index in indices:
                    again = dict(leaves_of(maker.batch_of(index))).get(path)
                    if again is not None and bool(again.any()):
                        found.append(index)
        except (Exception, SystemExit):
            return ()  # the user's code; it may need what only a worker has
        return tuple(found)
