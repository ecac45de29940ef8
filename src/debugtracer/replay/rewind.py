"""The world around a replay: saved before it, set back to the start of the step, and restored after it bit for bit."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.recorder.copies import UpdateCopy
from debugtracer.recorder.rng import RngState
from debugtracer.recorder.roots import RootState
from debugtracer.replay.keepsakes import Keepsakes


class World:
    """Everything a replay may touch: generators, gradients, buffers, Python counters, written leaves, parameters when an update is replayed."""

    def __init__(self, parameters: Iterable[Tensor], states: list[RootState], written: Iterable[Tensor] = (), copies: Iterable[UpdateCopy] = ()) -> None:
        self.parameters = list({id(p): p for p in parameters}.values())
        self.states = states
        self.copies = [c for c in copies if c is not None]
        self.rng = RngState()
        self.grads = [(p, p.grad) for p in self.parameters]
        roots = [m for m in (s.root.module() for s in states) if m is not None]
        self.buffers = [(b, b.detach().clone()) for b in {id(b): b for m in roots for b in m.buffers()}.values()]
        self.attributes = [(m, dict(m.__dict__)) for root in roots for m in root.modules()]
        self.keepsakes = Keepsakes([m for root in roots for m in root.modules()], ())
        self.written = [(t, t.detach().clone()) for t in {id(t): t for t in written}.values()]
        self.now = [snapshot(c) for c in self.copies]

    def rewind(self) -> None:
        """To the start of the recorded step."""
        for parameter in self.parameters:
            parameter.grad = None
        for state in self.states:
            state.restore()
        for copy in self.copies:
            copy.restore()

    def restore(self) -> None:
        """To the moment before the replay."""
        for copy in self.now:
            copy.restore()
        for tensor, value in (*self.buffers, *self.written):
            tensor.data.copy_(value)
        for module, attributes in self.attributes:
            put_back(module, attributes)
        self.keepsakes.restore()
        for parameter, grad in self.grads:
            parameter.grad = grad
        self.rng.restore()


def put_back(module: nn.Module, attributes: dict[str, Any]) -> None:
    """Attributes a forward has set (self.last_weights = ...) as they were."""
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
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Compiled regions run eagerly so that ops can be seen. Without Dynamo nothing is compiled, and asking would import it (seconds)."""
    if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
        with torch.compiler.set_stance("force_eager"):
            yield
    else:
        yield
