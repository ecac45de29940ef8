"""Follows parameters that have two names: a tied embedding and head that load_state_dict(assign=True) or a conversion turns into two."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.probe import Patches
from debugtracer.probes.skipped_code import compiling
from debugtracer.probes.taker import Taker
from debugtracer.recorder.identity import ById
from debugtracer.recorder.roots import plain_path
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.ties import TieGone

AFTER = 8  # updates looked at after a tie has gone: the first one that trains both tells (ours)
CALLS = ("load_state_dict", "_apply")  # after these a parameter may be another tensor
Pair = tuple[str, str]


@dataclass
class Break:
    """One tie that is gone."""

    how: str
    frame: Frame | None
    equal: bool


@dataclass
class Known:
    """The ties of one module."""

    tied: set[Pair] = field(default_factory=set)
    broken: dict[Pair, Break] = field(default_factory=dict)


class TiesTaker(Taker):
    """Compares identities and addresses, around rare calls and on inspected steps; values only when a tie has just gone."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.known: ById[nn.Module, Known] = ById()
        self.depth = self.due = 0
        self.off = False

    def install(self) -> None:
        """Patch the calls after which a parameter may be another tensor."""
        self.off = False
        for word in CALLS:
            self.patches.wrap(nn.Module, word, functools.partial(self.around, word))

    def remove(self) -> None:
        """As it was."""
        self.off = True
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.known.clear()

    def around(self, word: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """One such method; calls it makes itself pass."""

        @functools.wraps(original)
        def method(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            if compiling() or self.off or self.depth:
                return original(module, *args, **kwargs)
            self.depth += 1
            try:
                before = guarded("probes.ties: before")(ties)(module) or set()
                result = original(module, *args, **kwargs)
                if before:
                    guarded("probes.ties: after")(self.look)(module, before, word)
                return result
            finally:
                self.depth -= 1

        return method

    def look(self, module: nn.Module, before: set[Pair], word: str) -> None:
        """Which of the ties are gone."""
        now, known = named(module), self.known.setdefault(module, Known())
        for pair in before:
            known.tied.add(pair)
            if pair in known.broken or not apart(now, pair):
                continue
            a, b = (now[name].detach() for name in pair)
            with torch.no_grad(), self.desk.paused():
                equal = a.numel() == b.numel() and not a.is_meta and a.device == b.device and bool(torch.equal(a.reshape(-1), b.reshape(-1)))
            known.broken[pair] = Break(word, self.desk.here(), equal)
            self.due = AFTER

    def step_closed(self, optimizer: Optimizer) -> None:
        """Ties that are gone, not mended since, and whose two ends an optimizer trains."""
        self.due -= self.due > 0
        if not self.desk.inspecting and not self.due:
            return
        for root in self.desk.modules():
            known = self.known.setdefault(root, Known())
            known.tied |= ties(root)
            now = named(root) if known.tied else {}
            for pair in known.tied:
                if pair not in known.broken and apart(now, pair):
                    known.broken[pair] = Break("", None, False)
        held = {id(p) for one in {id(o): o for o in [*self.desk.built, optimizer]}.values() for p in parameters(one)}
        for module, known in list(self.known.items()):
            if known.broken:
                self.tell(module, known, held)

    def tell(self, module: nn.Module, known: Known, held: set[int]) -> None:
        """Each pair that is trained apart, once."""
        now = named(module)
        mended = [pair for pair in known.broken if not apart(now, pair)]
        for pair in mended:
            del known.broken[pair]
        trained = {pair: one for pair, one in known.broken.items() if all(is_trained(now[name], held) for name in pair)}
        for pair, one in trained.items():
            self.desk.tell(
                TieGone(
                    ref=self.desk.ref("update", self.desk.iteration - 1),
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
    return dict(module.named_parameters(remove_duplicate=False))


def ties(module: nn.Module) -> set[Pair]:
    """(first name, further name) of the parameters that have several."""
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
    """Both names are there, for as many values as before, and are two tensors."""
    a, b = now.get(pair[0]), now.get(pair[1])
    return a is not None and b is not None and a is not b and a.numel() == b.numel() and (address(a) is None or address(a) != address(b))


def is_trained(tensor: Tensor, held: set[int]) -> bool:
    """It has a gradient and an optimizer."""
    return tensor.requires_grad and tensor.grad is not None and id(tensor) in held
