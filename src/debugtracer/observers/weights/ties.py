"""Follows parameters that have two names: a tied embedding and head that load_state_dict(assign=True) or a conversion
turns into two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.skipped_code import compiling
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.roots import plain_path
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.ties import TieGone

AFTER = 8  # updates checked after a tie has gone: the first one that trains both emits it (ours)
CALLS = ("load_state_dict", "_apply")  # after these a parameter may be another tensor
Pair = tuple[str, str]


@dataclass
class BrokenTie:
    """One tie that is gone."""

    how: str
    frame: Frame | None
    equal: bool


@dataclass
class KnownTie:
    """The ties of one module."""

    tied: set[Pair] = field(default_factory=set)
    broken: dict[Pair, BrokenTie] = field(default_factory=dict)


class TiesObserver(Observer):
    """Compares identities and addresses, around rare calls and on inspected steps; values only when a tie has just
    gone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.known: ById[nn.Module, KnownTie] = ById()
        self.due = 0

    def install(self) -> None:
        """Patch the calls after which a parameter may be another tensor."""
        self.calls.off = False
        for word in CALLS:
            self.calls.patches.wrap(nn.Module, word, functools.partial(self.around, word))

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.known.clear()

    def around(self, word: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap one such method; calls it makes itself are not noted."""

        def compared(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            before = guarded("observers.optimizer.ties: before")(ties)(module) or set()
            result = original(module, *args, **kwargs)
            if before:
                guarded("observers.optimizer.ties: after")(self.compare_ties)(module, before, word)
            return result

        @functools.wraps(original)
        def method(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.calls.passes():
                return original(module, *args, **kwargs)
            return self.calls.inside(compared, module, *args, **kwargs)

        return method

    def compare_ties(self, module: nn.Module, before: set[Pair], word: str) -> None:
        """Find which of the ties are gone."""
        now, known = named(module), self.known.setdefault(module, KnownTie())
        for pair in before:
            known.tied.add(pair)
            if pair in known.broken or not apart(now, pair):
                continue
            a, b = (now[name].detach() for name in pair)
            with torch.no_grad(), self.run.paused():
                equal = (
                    a.numel() == b.numel()
                    and not a.is_meta
                    and a.device == b.device
                    and bool(torch.equal(a.reshape(-1), b.reshape(-1)))
                )
            known.broken[pair] = BrokenTie(word, self.run.here(), equal)
            self.due = AFTER

    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit ties that are gone, not repaired since, and whose two ends an optimizer trains."""
        self.due -= self.due > 0
        if not self.run.inspecting and not self.due:
            return
        for root in self.run.modules():
            known = self.known.setdefault(root, KnownTie())
            known.tied |= ties(root)
            now = named(root) if known.tied else {}
            for pair in known.tied:
                if pair not in known.broken and apart(now, pair):
                    known.broken[pair] = BrokenTie("", None, False)
        held = {
            id(p) for one in {id(o): o for o in [*self.run.optimizers, optimizer]}.values() for p in parameters(one)
        }
        for module, known in list(self.known.items()):
            if known.broken:
                self.emit(module, known, held)

    def emit(self, module: nn.Module, known: KnownTie, held: set[int]) -> None:
        """Emit each pair that is trained apart, once."""
        now = named(module)
        mended = [pair for pair in known.broken if not apart(now, pair)]
        for pair in mended:
            del known.broken[pair]
        trained = {pair: one for pair, one in known.broken.items() if all(is_trained(now[name], held) for name in pair)}
        for pair, one in trained.items():
            self.run.emit(
                TieGone(
                    ref=self.run.ref("update", self.run.iteration - 1),
                    name=plain_path(pair[0]),
                    other=plain_path(pair[1]),
                    numel=now[pair[0]].numel(),
                    how=one.how,
                    frame=one.frame,
                    equal=one.equal,
                    count=sum(other.how == one.how for other in trained.values()),
                )
            )
            known.tied.discard(pair)
            del known.broken[pair]


def named(module: nn.Module) -> dict[str, Tensor]:
    """Every name of every parameter."""
    return dict(nn.Module.named_parameters(module, remove_duplicate=False))  # some programs have their own


def ties(module: nn.Module) -> set[Pair]:
    """Return (first name, further name) of the parameters that have several."""
    first: dict[object, str] = {}
    found: set[Pair] = set()
    for name, p in named(module).items():
        keys = [key for key in (id(p), address(p)) if key is not None]
        known = next((first[key] for key in keys if key in first), None)
        if known is not None:
            found.add((known, name))
        for key in keys:
            first.setdefault(key, name)
    return found


def address(tensor: Tensor) -> tuple[int, int, int] | None:
    """Where its values lie; None for a tensor without memory of its own to look at."""
    try:
        with torch._C.DisableTorchFunction():
            start = tensor.untyped_storage().data_ptr()
            return (start, int(tensor.storage_offset()), tensor.numel()) if start and tensor.numel() else None
    except (NotImplementedError, RuntimeError):
        return None  # meta, sparse, fake and sharded tensors


def apart(now: dict[str, Tensor], pair: Pair) -> bool:
    """True if both names are there, for as many values as before, and are two tensors."""
    a, b = now.get(pair[0]), now.get(pair[1])
    return (
        a is not None
        and b is not None
        and a is not b
        and a.numel() == b.numel()
        and (address(a) is None or address(a) != address(b))
    )


def is_trained(tensor: Tensor, held: set[int]) -> bool:
    """True for a tensor with a gradient and an optimizer."""
    return tensor.requires_grad and tensor.grad is not None and id(tensor) in held
