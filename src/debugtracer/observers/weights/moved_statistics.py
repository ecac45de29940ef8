"""Follows the running statistics of batch norms in a part that is frozen but left in training mode."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.freezing import freezing_line
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.fresh_statistics import norms_of
from debugtracer.observers.weights.frozen_norms import FrozenNorms, frozen_part, has_initial_statistics
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.moved_statistics import MovedStatistics
from debugtracer.trace.number import number

LEAST = 20  # updates between two looks (ours: 0.9 ** 20 is 0.12)


class MovedStatisticsObserver(Observer):
    """Reads flags before the first update of an optimizer and in inspected steps; waits for a device there and at
    evaluations, where a frozen part has batch norms that move."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.groups: list[FrozenNorms] = []
        self.known: ById[_BatchNorm, bool] = ById()
        """Norms that are followed: True; that are not to be: False (new ones, and those of an average of weights)."""
        self.looked: ById[nn.Module, bool] = ById()
        self.calls = 0
        """In training mode, before the first update that follows."""
        self.due = LEAST

    def reset(self) -> None:
        self.groups.clear()
        self.known.clear()
        self.looked.clear()
        self.calls, self.due = 0, LEAST

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Look at the models again: another training begins."""
        self.again()

    def restored(self, word: str, owner: Any) -> None:
        """Begin anew with what was loaded; what is loaded again and again while it is followed is a copy."""
        if not isinstance(owner, nn.Module):
            return
        loaded = {id(norm) for _, norm in norms_of(owner)}
        for group in [g for g in self.groups if any(id(norm) in loaded for norm in g.alive())]:
            self.leave(group, copied=group.settled)
        for _, norm in norms_of(owner):
            if self.run.step == 0:
                self.known.pop(norm, None)
        self.again()

    def again(self) -> None:
        """Look at every model when it is called next."""
        self.looked.clear()
        if all(group.settled for group in self.groups):
            self.calls = 0
        self.run.subscribe(self.entered, self.step_closed)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Look at a model before its first batch; measure where an evaluation begins."""
        if not module.training:
            if self.groups and self.run.step >= self.due:
                self.measure()
            return
        self.calls += 1
        if module not in self.looked:
            self.follow(module)

    def follow(self, root: nn.Module) -> None:
        """Begin with the norms of a root that are not known yet."""
        self.looked[root] = True
        if not (every := norms_of(root)):
            return
        part = frozen_part(root)
        frozen = {id(norm) for _, norm in part.norms}
        for _, norm in every:
            if id(norm) not in frozen and norm.training and not self.known.get(norm, True):
                del self.known[norm]  # it is trained now
        found = []
        for name, norm in part.norms:
            if norm not in self.known:
                self.known[norm] = not has_initial_statistics(norm) and not self.is_meant(norm)
                found += [(name, norm)] if self.known[norm] else []
        if found:
            self.groups.append(FrozenNorms(root, part._replace(norms=found), self.run.ref(), raw_frames(1)))

    def is_meant(self, norm: _BatchNorm) -> bool:
        """Whether the program has put this very norm into training mode."""
        last = self.run.mode_calls.last(norm)
        return last is not None and (last[0] is norm or not last[1].mode)

    def step_closed(self, optimizer: Optimizer) -> None:
        """Keep, after the first update, the norms that training has called."""
        self.run.unsubscribe(self.step_closed)
        self.settle(anew=self.calls > LEAST)
        if not self.groups:
            self.run.unsubscribe(self.entered)

    def settle(self, anew: bool = False) -> None:
        """Tell parts that train from parts that were called in training mode before it; `anew`: these calls have moved
        the statistics."""
        for group in [g for g in self.groups if not g.settled]:
            group.settle()
            if not group.trains():
                self.leave(group)
            elif anew:
                group.keep()

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Look for parts that were frozen meanwhile, and measure."""
        if not self.run.inspecting:
            return
        before = len(self.groups)
        for root in self.run.modules():
            if root.training:
                self.follow(root)
        if len(self.groups) > before:
            self.run.subscribe(self.entered, self.step_closed)
        for group in self.groups:
            group.look_at_mode()
        if self.groups and self.run.step >= self.due:
            self.measure()

    def measure(self) -> None:
        """Compare every part that trains; let go of those whose weights train or move."""
        self.due = self.run.step + LEAST
        with torch.no_grad():
            for group in list(self.groups):
                if group.unfrozen():
                    self.leave(group)
                elif not group.samples.stand(gone=True):
                    self.leave(group, copied=True)
                elif group.settled and group.in_training_mode and self.run.step - group.ref.step >= LEAST:
                    group.measure(self.run.step)
                    self.note_mode(group)

    def note_mode(self, group: FrozenNorms) -> None:
        """Note which call put a part into training mode, while its modules are there, and name the part as that call
        does."""
        alive, root = group.alive(), group.root()
        last = self.run.mode_calls.last(alive[0], mode=True) if alive else None
        if last is None or root is None:
            return
        group.put_into_training(last[1].raw)
        around = next((name for name, module in last[0].named_modules() if module is root), None)
        if around is not None and not group.named_by_call:
            group.rename(last[0], around)

    def leave(self, group: FrozenNorms, copied: bool = False) -> None:
        """Follow a part no more: for good where somebody copies weights into it."""
        self.groups.remove(group)
        for norm in group.alive():
            self.known.pop(norm, None)
            if copied:
                self.known[norm] = False

    def ended(self) -> None:
        """Emit what each part came to."""
        self.measure()
        for group in self.groups:
            if group.moves:
                self.announce(group)

    def announce(self, group: FrozenNorms) -> None:
        """Write down one part, at the line that put it into training mode."""
        furthest = max(group.moves, key=lambda move: max(move.gap, move.ratio - 1))
        self.run.emit(
            MovedStatistics(
                ref=group.ref, root=group.kind, part=group.path,
                whole=group.whole, module=group.names[0], norms=len(group.names), furthest=furthest.name,
                gap=number(furthest.gap), ratio=number(furthest.ratio), steps=group.steps, frame=first(group.mode_line),
                on_root=group.named_by_call, frozen_by=frozen_by(group), called_at=first(group.raw),
            )
        )  # fmt: skip


def frozen_by(group: FrozenNorms) -> Frame | None:
    """The only line that freezes in the files of the loop and of the model."""
    frames = [frame for frame in (first(group.raw), first(group.mode_line)) if frame is not None]
    made = getattr(sys.modules.get(group.made_in), "__file__", None)
    return freezing_line([*(frame.file for frame in frames), *([made] if made else [])])
