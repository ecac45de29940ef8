"""Notes from which position on training asks a model for the next word, and from which an evaluation writes on."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.loss.untrained_ends import joined
from debugtracer.observers.model.token_trials import next_token, texts
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.untrained_start import UntrainedStart

ELEMENTS = 2**20  # targets that are looked at (ours)
CALLS = 4  # calls of models and of losses that are noted in a step (ours)
LOOKS = 8  # inspected steps, after which a model that was given no such texts is left alone (ours)
AGREED = 2  # inspected steps with the same first position, before an evaluation is compared (ours)
EVALUATIONS = 512  # calls of evaluations that are looked at (ours)


class AskedFrom(NamedTuple):
    """The targets of one loss."""

    name: str
    target: Tensor
    ignored: int
    raw: RawFrames


class Start:
    """What training asks of one root, and what an evaluation has given it last."""

    def __init__(self, place: int) -> None:
        self.place: int | None = place
        """The first position with a target; None where texts differ."""
        self.steps = 0
        self.loss = ""
        self.raw: RawFrames = ()
        self.made: tuple[Frame, ...] = ()
        self.before: Tensor | None = None
        self.grown = False
        self.calls = 0


class UntrainedStartsObserver(Observer):
    """Keeps ids of an inspected step until its backward, and those of the last call of an evaluation. On a device each
    is copied to the host once."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[tuple[nn.Module, Tensor]] = []
        self.targets: list[AskedFrom] = []
        self.roots: ById[nn.Module, Start] = ById()
        self.looks = 0

    def reset(self) -> None:
        self.forget()
        self.roots.clear()

    def missed(self) -> None:
        """Forget the ids of a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the ids of the step in flight."""
        self.given, self.targets = [], []

    @of_functions(INDEXED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the targets of a loss over classes."""
        name = getattr(function, "__name__", "")
        if name not in INDEXED or not torch.is_grad_enabled() or len(self.targets) >= CALLS:
            return
        given = arguments(name, args, kwargs)
        target = given["target"]
        if not target.is_floating_point() and 0 < target.numel() <= ELEMENTS:
            self.targets.append(AskedFrom(name, target.detach(), int(given["ignore_index"]), raw_frames(1)))

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the ids of a call in training; compare one of an evaluation with the last."""
        if torch.is_grad_enabled():
            if self.run.inspecting and len(self.given) < CALLS:
                self.given += [(module, tokens.detach()) for tokens in texts(args, kwargs)]
            return
        known = self.roots.get(module)
        if known is not None and known.place is not None and known.steps >= AGREED:
            tokens = next(texts(args, kwargs), None)
            if tokens is not None and tokens.numel() <= ELEMENTS:
                self.evaluated(module, known, tokens.detach().cpu())

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note the first position that has a target."""
        given, targets = self.given, self.targets
        self.forget()
        for loss in targets:
            on_host = loss.target.cpu()
            for module, tokens in given:
                ids = tokens.cpu()
                counted = next_token(*joined(ids, on_host, loss.ignored))
                if counted is not None and counted.shape[0] == ids.shape[0]:
                    self.note(module, loss, counted)
                    break
        self.looks += 1
        if self.looks >= LOOKS and all(one.place is None for one in self.roots.values()):
            self.run.unsubscribe(self.called, self.left, self.backward_begins)

    def note(self, module: nn.Module, loss: AskedFrom, counted: Tensor) -> None:
        """Learn from one batch; texts that begin at several positions say nothing."""
        begins = counted[counted.any(1)].long().argmax(1).unique()
        place = int(begins[0]) if len(begins) == 1 else None
        known = self.roots.get(module)
        if known is None:
            known = self.roots[module] = Start(place or 0)
        if place is None or place != known.place or place < 2:
            known.place = None
            return
        known.steps += 1
        if not known.loss:
            known.loss, known.raw = loss.name, loss.raw
            found = self.run.batches.find(loss.target)
            known.made = found[0].loader.made(found[1]) if found is not None else ()

    def evaluated(self, module: nn.Module, known: Start, tokens: Tensor) -> None:
        """Look whether texts grow by a word; emit where they began one short of what training asks for."""
        before, known.before = known.before, tokens
        known.calls += 1
        if known.calls >= EVALUATIONS:
            known.place = known.before = None
            return
        if before is None or tokens.shape != (before.shape[0], before.shape[1] + 1):
            known.grown = False
            return
        grows, known.grown = not known.grown and torch.equal(tokens[:, :-1], before), True
        if not grows:
            return
        begun = before.shape[1]
        if begun != known.place:
            known.place = known.before = None  # texts of other lengths are written on as well
            return
        self.run.emit(
            UntrainedStart(
                ref=self.run.ref("forward", self.run.iteration - 1), root=type(module).__name__, first=begun,
                steps=known.steps, given=begun, loss=known.loss, loss_frame=first(known.raw),
                frame=first(raw_frames(2)), made=known.made,
            )
        )  # fmt: skip
