"""Which gradients of an optimizer an update has used, and which of those still stand when the next backward adds to
them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames
from debugtracer.recorder.run_state import parameters

Mark = tuple[int, int]  # identity and version of a gradient tensor
REPEATS = 3  # updates that are looked at after one that used gradients again (ours)
LOOKS = 32  # used gradients asked for a value other than 0 (ours); the first one answers for nearly all loops


def mark_of(parameter: Tensor) -> Mark | None:
    """Return identity and version of a gradient; None without one. Nothing is read."""
    grad = parameter.grad
    return None if grad is None else (id(grad), grad._version)


def has_value(grad: Tensor | None) -> bool:
    """Whether any element is not 0 (NaN is not). A host sync on a device."""
    if grad is None:
        return False
    values = grad.detach()
    if values.is_sparse:
        values = values._values()
    return bool((values != 0).any().item()) if values.numel() else False


class GradientUse:
    """One optimizer. Holds identities and versions, never a tensor."""

    def __init__(self, optimizer: Optimizer, number: int) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.number = number
        self.kind = type(optimizer).__name__
        self.steps = 0
        self.used: dict[int, Mark] = {}
        """Gradients as the last update left them, by parameter."""
        self.standing: set[int] = set()
        """Parameters whose used gradient stood, unchanged and not 0, at a later backward."""
        self.frames: RawFrames = ()
        """The first backward that found one."""
        self.iteration = 0
        self.before: dict[int, Mark | None] = {}
        self.fresh: set[int] = set()
        """Parameters to whose gradient a backward has written since the last update."""
        self.followed = 0
        """Updates that are to be looked at yet, for one has used the gradients of the one before it."""

    def held(self) -> list[Tensor]:
        """The parameters of the optimizer; none when it is gone."""
        optimizer = self.optimizer()
        return [] if optimizer is None else parameters(optimizer)

    def backward_begins(self, frames: RawFrames, iteration: int) -> None:
        """Note used gradients that are still there, and forget those that were cleared."""
        held = self.held()
        self.before = {id(p): mark_of(p) for p in held}
        if self.standing:
            if not any(has_value(p.grad) for p in [p for p in held if id(p) in self.standing][:LOOKS]):
                self.clear(self.standing)
        elif self.used:
            left = [p for p in held if self.used.get(id(p)) == self.before[id(p)] and id(p) in self.used]
            if any(has_value(p.grad) for p in left[:LOOKS]):
                self.standing, self.frames, self.iteration = {id(p) for p in left}, frames, iteration
            self.used = {id(p): self.used[id(p)] for p in left}

    def backward_ended(self) -> bool:
        """Whether it wrote gradients of this optimizer."""
        written = {id(p) for p in self.held() if mark_of(p) not in (None, self.before.get(id(p)))}
        self.fresh |= written
        self.before = {}
        return bool(written)

    def clear(self, ids: Iterable[int]) -> None:
        """Note that the gradients of these parameters were cleared."""
        for key in list(ids):
            self.used.pop(key, None)
            self.standing.discard(key)

    def forget(self) -> None:
        """Drop every note of a gradient: calls were missed."""
        self.before = {}
        self.used.clear()
        self.standing.clear()
        self.fresh.clear()

    def clipped(self, ids: set[int]) -> None:
        """Note a clip after the update, which changes a used gradient without clearing it."""
        for p in self.held():
            mark = mark_of(p)
            if id(p) in ids and id(p) in self.used and mark is not None:
                self.used[id(p)] = mark

    def empty(self) -> bool:
        """True if no gradient other than 0 is there."""
        grads = [p.grad for p in self.held() if p.grad is not None]
        return not any(has_value(g) for g in grads)

    def stale(self) -> list[Tensor]:
        """The parameters whose gradient was used before, never cleared, and added to."""
        return [p for p in self.held() if id(p) in self.standing and id(p) in self.fresh and self.same(p)]

    def repeated(self, words: Iterable[str]) -> int:
        """How many parameters have the very gradient that the last update used, without a backward among the calls
        since; 0 where all of these are 0."""
        left = (
            []
            if "backward" in words or self.fresh
            else [p for p in self.held() if id(p) in self.used and self.used[id(p)] == mark_of(p)]
        )
        again = len(left) if any(has_value(p.grad) for p in left[:LOOKS]) else 0
        self.followed = REPEATS if again else max(self.followed - 1, 0)
        return again

    def same(self, parameter: Tensor) -> bool:
        """True if its gradient is still the tensor that was used."""
        mark, used = mark_of(parameter), self.used.get(id(parameter))
        return mark is not None and used is not None and mark[0] == used[0]

    def took(self) -> None:
        """Note that the update used the present gradients."""
        self.used = {id(p): mark for p in self.held() if (mark := mark_of(p)) is not None}
        self.standing.clear()
        self.fresh.clear()
        self.steps += 1
