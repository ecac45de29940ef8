"""Follows the gradients of each term of a loss to the update that uses them, or to the call that clears them."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.cut_inputs import CutInput, CutInputs
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES
from debugtracer.observers.graph.summands import hanging, summands
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.unused_term import UnusedTerm
from debugtracer.trace.step import StepRef

BACKWARDS = 48  # looked at from the start (ours): eight rounds of a GAN with five updates of its critic each
MOST_TERMS = 16  # of a loss (ours)
MOST_ROUNDS = 8  # backwards of which the updates are waited for (ours)


class Term:
    """One summand of a loss."""

    def __init__(self, reached: frozenset[int], cut: CutInput | None) -> None:
        self.reached, self.cut = reached, cut
        self.cleared: set[int] = set()
        self.by: RawFrames = ()
        """The line that cleared gradients of it."""
        self.passed: set[int] = set()
        """Parameters whose optimizer has stepped without them."""
        self.holder: weakref.ref[Optimizer] | None = None
        """The last optimizer that did."""
        self.user: weakref.ref[Optimizer] | None = None
        """The optimizer that used a gradient of it."""

    @property
    def settled(self) -> bool:
        """Whether it is known what became of its gradients."""
        return self.user is not None or self.passed >= self.reached

    def clear(self, ids: set[int], raw: RawFrames) -> None:
        """Note gradients that are gone."""
        gone = ids & self.reached
        if gone:
            self.cleared |= gone
            self.by = self.by or raw

    def step(self, optimizer: Optimizer, ids: set[int]) -> None:
        """Note an update: it uses what was not cleared."""
        mine = ids & self.reached
        if mine - self.cleared:
            self.user = self.user or weakref.ref(optimizer)
        elif mine:
            self.passed |= mine
            self.holder = weakref.ref(optimizer)


class Round:
    """One backward of a loss of several terms."""

    def __init__(self, terms: list[Term], raw: RawFrames, ref: StepRef) -> None:
        self.terms, self.raw, self.ref = terms, raw, ref


class UnusedTermsObserver(Observer):
    """Walks the graphs of the first backwards where two optimizers live; one optimizer costs nothing."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.rounds: list[Round] = []
        self.inputs = CutInputs()
        self.told: set[tuple[RawFrames, int, int]] = set()
        """Terms that went unused in a round."""
        self.count = 0

    def reset(self) -> None:
        self.forget()
        self.told, self.count = set(), 0

    def missed(self) -> None:
        """Forget the backwards before: their updates may be over."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed."""
        self.rounds = []
        self.inputs.forget()

    def rest(self) -> None:
        """Forget all, and leave the events of a step."""
        self.forget()
        self.run.unsubscribe(self.called, self.left, self.backward_begins, self.zeroed, self.step_begins)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen where a second one has come."""
        if self.count <= BACKWARDS:
            self.run.subscribe(self.called, self.left, self.backward_begins, self.zeroed, self.step_begins)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what is cut off."""
        if len(self.run.optimizers) > 1:
            self.inputs.called(function, (args, kwargs), output, self.run.iteration)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what networks make and take."""
        if len(self.run.optimizers) > 1:
            self.inputs.left(module, (args, kwargs), output, self.run.iteration)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Take the losses apart and note what each term reaches; end after the first ones."""
        self.count += 1
        if self.count > BACKWARDS:
            self.rest()
            return
        if len(self.run.optimizers) < 2:
            return
        nodes = summands(losses, MOST_TERMS)
        raw = raw_frames(1)
        self.rounds = [one for one in self.rounds[-MOST_ROUNDS:] if one.raw != raw]  # not settled when it comes again
        held = {id(p): p for o in self.run.optimizers for p in parameters(o)}
        if self.rounds:
            self.clear({key for key, p in held.items() if p.grad is None}, ())  # without zero_grad
        if len(nodes) > 1:
            found = [hanging(node, MOST_PART_NODES) for node in nodes]
            terms = [Term(frozenset(f[0] & held.keys()), self.cut_in(f[1])) for f in found if f is not None]
            if len(terms) == len(nodes):
                self.rounds.append(Round(terms, raw, self.run.ref("backward")))

    def cut_in(self, numbers: set[int]) -> CutInput | None:
        """What a term took without its graph."""
        return next((one for node, one in self.inputs.entries.items() if node in numbers), None)

    def zeroed(self, owner: Any) -> None:
        """Note gradients that are cleared."""
        if self.rounds:
            ids = {id(p) for p in (parameters(owner) if isinstance(owner, Optimizer) else owner.parameters())}
            self.clear(ids, raw_frames(1))

    def clear(self, ids: set[int], raw: RawFrames) -> None:
        """Tell it to all terms."""
        for one in self.rounds:
            for term in one.terms:
                term.clear(ids, raw)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Note which terms an update uses; emit where all of a loss are settled and one was not used."""
        if len(self.run.optimizers) < 2:
            self.run.unsubscribe(self.called, self.left, self.zeroed, self.step_begins)
            return
        held = parameters(optimizer)
        ids = {id(p) for p in held}
        if self.rounds:
            self.clear({id(p) for p in held if p.grad is None}, ())
        waiting = []
        for one in self.rounds:
            for term in one.terms:
                term.step(optimizer, ids)
            if all(term.settled for term in one.terms):
                self.emit(one)
            else:
                waiting.append(one)
        self.rounds = waiting

    def emit(self, one: Round) -> None:
        """Write down the terms that nobody used, and those of them that somebody uses after all."""
        used = [term for term in one.terms if term.user is not None]
        for number, term in enumerate(one.terms):
            place = (one.raw, number, len(one.terms))
            if term.reached and used and (term.user is None or place in self.told):
                self.told.add(place)
                self.run.emit(self.fact(one, number, term, used))

    def fact(self, one: Round, number: int, term: Term, used: list[Term]) -> UnusedTerm:
        """What became of one term."""
        holder = term.holder() if term.holder is not None else None
        trained = {key for other in used for key in other.reached}
        cut = term.cut if term.cut is not None and term.cut.weights & (trained - term.reached) else None
        user = next((o for other in used if other.user is not None and (o := other.user()) is not None), None)
        return UnusedTerm(
            ref=one.ref,
            number=number,
            terms=len(one.terms),
            used=term.user is not None,
            parameters=len(term.reached),
            backward=first(one.raw),
            kind=type(holder).__name__ if holder is not None else "",
            built=self.run.built_at(holder) if holder is not None else None,
            other_kind=type(user).__name__ if user is not None else "",
            other_built=self.run.built_at(user) if user is not None else None,
            cleared=first(term.by),
            cut=first(cut.cut) if cut is not None else None,
            taken=first(cut.taken) if cut is not None else None,
        )
