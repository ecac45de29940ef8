"""Compares the targets of a cross-entropy over places with the ids that the model was given at the same places: of a
text with hidden words, do the others count as well?"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import INDEXED
from debugtracer.trace.facts.scored_givens import ScoredGivens

MOST = 16  # look-ups of a step (ours)
FEWEST = 64  # targets (ours)
LARGEST = 1_000_000  # targets that are compared (ours)
ONE_ID = 0.75  # of the places that differ, read as one id (ours: BERT hides 8 of 9 of them so)


class Shares(NamedTuple):
    """What was compared."""

    places: int
    same: int
    hidden: int
    mask: int


class ScoredGivensObserver(Observer):
    """Compares ids in inspected steps, and keeps them until the step ends; a host sync for each such loss."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[Tensor] = []

    def reset(self) -> None:
        self.given.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.reset()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget the look-ups of the step."""
        self.reset()

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note ids of places, and compare them with the targets of a loss."""
        name = getattr(function, "__name__", "")
        if not isinstance(output, Tensor) or not output.requires_grad:
            return
        if name == "embedding" and args and isinstance(args[0], Tensor) and is_dense(args[0]) and args[0].dim() == 2:
            if len(self.given) < MOST and FEWEST <= args[0].numel() <= LARGEST:
                self.given.append(args[0].detach())
        elif name in INDEXED and self.given and not output.dim():
            asked = arguments(name, args, kwargs)
            target = asked["target"]
            if isinstance(target, Tensor) and is_dense(target) and not target.is_floating_point():
                self.compare(target, int(asked["ignore_index"]), raw_frames(3))

    def compare(self, target: Tensor, ignored: int, raw: RawFrames) -> None:
        """Emit what the places of the targets hold, but where a decoder reads the targets themselves."""
        alike = [ids for ids in self.given if ids.numel() == target.numel() and ids.device == target.device]
        if not alike or any(is_shifted(ids, target) for ids in alike):
            return
        found = next((shares for ids in alike if (shares := shares_of(ids, target, ignored)) is not None), None)
        if found is not None:
            self.run.emit(
                ScoredGivens(
                    ref=self.run.ref("loss"), places=found.places, same=found.same, hidden=found.hidden,
                    mask=found.mask, frame=first(raw), made=guarded("observers.loss.scored_givens")(maker)(raw),
                )
            )  # fmt: skip


def is_shifted(ids: Tensor, target: Tensor) -> bool:
    """Whether the ids are the targets moved on by one place: what a decoder reads."""
    rows = target.reshape(ids.shape)
    return ids.shape[1] > 1 and float((ids[:, 1:] == rows[:, :-1]).float().mean()) > 0.5


def shares_of(ids: Tensor, target: Tensor, ignored: int) -> Shares | None:
    """How many targets are read at their own place, and how many are hidden behind one id that is no target."""
    ids, target = ids.flatten(), target.flatten()
    counts = target != ignored
    differs = counts & (ids != target)
    places, others = int(counts.sum()), int(differs.sum())
    if places < FEWEST or not others:
        return None
    mask = ids[differs].mode().values
    hidden = int((ids[differs] == mask).sum())
    if hidden < ONE_ID * others or bool((target[counts] == mask).any()):
        return None
    return Shares(places, places - others, hidden, int(mask))


def maker(raw: RawFrames) -> Frame | None:
    """The line that wrote the targets of the loss at these lines last."""
    made = made_first(argument_origin(frames_of(raw), tuple(INDEXED), "target", 1))
    return made[-1] if made else None
