"""The state around a replay: saved before it, set back to the start of the step, and restored exactly after it."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.attributes import AttributeCopy, buffer_names
from debugtracer.recorder.state.buffer_values import put, value_of
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.quiet_warnings import quiet_warnings
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.state.roots import RootState
from debugtracer.recorder.state.version_counters import version_counters
from debugtracer.recorder.tape.entry import Entry
from debugtracer.replay.user_state import UserStateGuard


class ReplayedState:
    """Everything a replay may touch: generators, gradients, buffers, Python counters, written leaves, parameters when
    an update is replayed.

    Raises ReplayRefused where the model's code uses what cannot be taken back: queues, iterators, held locks.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        states: list[RootState],
        written: Iterable[Tensor] = (),
        copies: Iterable[UpdateCopy] = (),
        entries: Iterable[Entry] = (),
    ) -> None:
        self.parameters = list({id(p): p for p in parameters}.values())
        self.states = states
        self.copies = [c for c in copies if c is not None]
        self.rng = RngState()
        self.grads = [(p, p.grad) for p in self.parameters]
        roots = [m for m in (s.root.module() for s in states) if m is not None]
        held = {id(b): b for m in roots for b in m.buffers()}.values()
        self.buffers = [(b, value) for b in held if (value := value_of(b)) is not None]
        self.places = AttributeCopy([place for root in roots for place in buffer_names(root)])
        self.attributes = [(m, dict(m.__dict__)) for root in roots for m in root.modules()]
        self.user_state = UserStateGuard([m for root in roots for m in root.modules()], ())
        if self.user_state.refusal:
            raise ReplayRefused(self.user_state.refusal)
        for generator in generators(entries):
            self.user_state.in_place.keep(generator)
        self.written = [(t, t.detach().clone()) for t in {id(t): t for t in written}.values()]
        self.written += [
            (t, value) for t, value in self.user_state.in_place.tensors if all(t is not w for w, _ in self.written)
        ]
        self.now = [snapshot(c) for c in self.copies]
        self.versions: list[Any] = []
        self.preserve(
            [
                *self.parameters,
                *(p for c in self.copies for p in c.parameters),
                *(b for b, _ in self.buffers),
                *(t for t, _ in self.written),
            ]
        )

    def preserve(self, tensors: Iterable[Tensor]) -> None:
        """Preserve version counters with the values: a graph of the user's that is still to be walked backward may need
        them."""
        self.versions += version_counters(tensors)

    def rewind(self) -> None:
        """Restore the start of the recorded step."""
        for parameter in self.parameters:
            parameter.grad = None
        for state in self.states:
            state.restore()
        for copy in self.copies:
            copy.restore()

    def restore(self) -> None:
        """Restore the state from before the replay."""
        for copy in self.now:
            copy.restore()
        for tensor, value in (*self.buffers, *self.written):
            put(tensor, value)
        self.places.restore()
        for version in self.versions:
            version.__exit__()
        for module, attributes in self.attributes:
            put_back(module, attributes)
        self.user_state.restore()
        for parameter, grad in self.grads:
            parameter.grad = grad
        self.rng.restore()


def generators(entries: Iterable[Entry]) -> Iterator[torch.Generator]:
    """The generators that calls of the loop were given."""
    for entry in entries:
        yield from (v for v in (*entry.args, *entry.kwargs.values()) if isinstance(v, torch.Generator))


def put_back(module: nn.Module, attributes: dict[str, Any]) -> None:
    """Restore attributes that a forward has set (self.last_weights = ...)."""
    now = module.__dict__
    for name in [n for n in now if n not in attributes]:
        del now[name]
    for name, value in attributes.items():
        if now.get(name) is not value:
            now[name] = value


def snapshot(copy: UpdateCopy) -> UpdateCopy:
    """The present state of the same optimizer."""
    optimizer = copy.optimizer()
    present = UpdateCopy(optimizer, copy.parameters)  # type: ignore[arg-type]
    present.take()
    return present


@contextlib.contextmanager
def hushed() -> Iterator[None]:
    """The user's forward runs again: what it prints was printed already."""
    with quiet_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Run compiled regions eagerly so that ops can be seen. Without Dynamo do nothing: asking would import it
    (seconds)."""
    if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
        with torch.compiler.set_stance("force_eager"):
            yield
    else:
        yield


@contextlib.contextmanager
def as_compiled() -> Iterator[None]:
    """Run compiled code again inside of `eager()`."""
    with torch.compiler.set_stance("default"):
        yield
