"""The root modules a loop calls: their names, and the state that a forward changes (buffers, Python counters)."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.parameter import is_lazy

from debugtracer.recorder.state.attributes import AttributeCopy, Key, changed, everything, signatures
from debugtracer.recorder.state.buffer_values import put, value_of
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.rng import HostDraws
from debugtracer.recorder.state.sharded import holds_shards, owners

FIRST_COPY_BYTES = 256 * 1024**2  # buffers copied on the first call, before it is known which ones move (ours)
LEARN_CALLS = 3  # calls after which the moving counters of a module are known (ours)


class RootState:
    """State of a root at the start of a segment: what must be put back before its forward is executed again."""

    def __init__(self, root: Root, buffers: dict[int, tuple[Tensor, Tensor]], attributes: AttributeCopy) -> None:
        self.root = root
        self.buffers = buffers
        """id -> (buffer, its value)."""
        self.attributes = attributes

    def restore(self) -> None:
        """Restore values in place, and which buffer stands under which name."""
        for buffer, value in self.buffers.values():
            put(buffer, value)
        self.attributes.restore()


class Root:
    """One root module and what is learned about it."""

    def __init__(self, module: nn.Module, owner: nn.Module | None) -> None:
        self.module = weakref.ref(module)
        self.owner = weakref.ref(owner) if owner is not None else None
        """An enclosing module whose method called it (LightningModule.training_step), for names."""
        self.has_parameters = any(True for _ in module.parameters())
        self.first = next(
            ((m._parameters, name) for m in module.modules() for name, p in m._parameters.items() if p is not None),
            None,
        )
        """Where its first parameter lies."""
        self.draws = HostDraws()
        self.moving: dict[Key, weakref.ref[nn.Module]] = {}
        """Names of the buffers that were seen to move, by their modules."""
        self.not_held: set[str] = set()
        """Buffers that cannot be copied, in words."""
        self.versions: dict[int, int] = {}
        self.values: dict[int, tuple[Tensor, Tensor]] = {}
        self.attributes: dict[Key, weakref.ref[nn.Module]] = {}
        """Plain attributes that were seen to change."""
        self.seen: dict[Key, Any] = {}
        self.calls = {True: 0, False: 0}
        """Calls watched in training and in evaluation: what moves in the one may rest in the other."""
        self.mutates_inputs = False
        self.deliberate_inf = False
        """Its output holds infinities on purpose (a vocabulary mask): looked at once."""

    def swapped(self, module: nn.Module) -> dict[str, Tensor]:
        """The tensors that functional_call has put in place of parameters; empty where its first one is its own."""
        # a scripted module has no plain dictionary of parameters, and nobody can swap them
        held = self.first[0] if self.first is not None else None
        if self.first is None or not isinstance(held, dict) or type(held.get(self.first[1])) is not Tensor:
            return {}
        return {name: tensor for name, tensor in module.named_parameters() if type(tensor) is Tensor}

    def before(self) -> RootState:
        """What a forward may change, copied: all buffers at first, then only those that were seen to move."""
        module = self.module()
        if module is None:
            return RootState(self, {}, AttributeCopy([]))
        learning, calls = self.learning(module), self.calls[module.training]
        if learning:
            self.versions = {id(b): b._version for b in module.buffers()}
            self.seen = signatures(module)
        candidates = [b for b in module.buffers() if not is_lazy(b)] if calls == 0 else self.moving_buffers()
        if calls == 0 and sum(held_bytes(b) for b in candidates) > FIRST_COPY_BYTES:
            candidates = self.moving_buffers()
        copies = [(b, value_of(b)) for b in candidates]
        self.not_held |= {f"of {b.dtype}" for b, value in copies if value is None}
        values = {id(b): (b, value) for b, value in copies if value is not None}
        self.values = values if learning else {}
        if learning:
            return RootState(self, values, everything(module))
        owners = [(owner(), name) for (_, name), owner in self.attributes.items()]
        return RootState(self, values, AttributeCopy([(m, name) for m, name in owners if m is not None]))

    def moving_buffers(self) -> list[Tensor]:
        """The buffers that stand now where some were seen to move."""
        held = [(owner(), name) for (_, name), owner in self.moving.items()]
        found = [m._buffers[name] for m, name in held if m is not None and name in m._buffers]  # a script has no get()
        return [buffer for buffer in found if buffer is not None]

    def learning(self, module: nn.Module) -> bool:
        """True until enough calls were watched in this mode."""
        return self.calls[module.training] < LEARN_CALLS

    def after(self) -> None:
        """Learn which buffers and counters moved."""
        module = self.module()
        if module is None or not self.learning(module):
            return
        self.calls[module.training] += 1
        for part in module.modules():
            for name, buffer in part._buffers.items():
                if buffer is not None and self.moved(part, buffer):
                    self.moving[(id(part), name)] = weakref.ref(part)  # an id may be that of one that is gone
        self.attributes.update({key: weakref.ref(m) for key, m in changed(module, self.seen).items()})

    def moved(self, owner: nn.Module, buffer: Tensor) -> bool:
        """True for a moved buffer; norms in training always count (they write without a new version), on the CPU values
        are compared."""
        if buffer._version != self.versions.get(id(buffer)) or (owner.training and isinstance(owner, _NormBase)):
            return True
        kept = self.values.get(id(buffer))
        return (
            kept is not None
            and buffer.device.type == "cpu"
            and buffer.layout is torch.strided
            and not torch.equal(kept[1], buffer)
        )


class Roots:
    """All root modules seen, without keeping any alive."""

    def __init__(self) -> None:
        self.known: ById[nn.Module, Root] = ById()
        self.sharded = False
        """Some of their parameters lie in parts on several ranks."""

    def get(self, module: nn.Module) -> Root | None:
        """What is known of a module, None if it was never a root."""
        return self.known.get(module)

    def add(self, module: nn.Module, owner: nn.Module | None) -> Root:
        """A module called as root for the first time."""
        root = self.known[module] = Root(module, owner)
        self.sharded = self.sharded or holds_shards([module])
        return root

    def alive(self) -> list[nn.Module]:
        """The roots that hold parameters and are still alive."""
        return [module for module, root in list(self.known.items()) if root.has_parameters]

    def named_parameters(self) -> dict[int, str]:
        """Map the id of each parameter to its path below the root that ran, without wrapper prefixes. The first root
        wins."""
        names: dict[int, str] = {}
        for module, root in list(self.known.items()):
            top = (root.owner() if root.owner is not None else None) or module
            for name, parameter in top.named_parameters():
                names.setdefault(id(parameter), plain_path(name))
        for whole, shard in owners([module for module, _ in list(self.known.items())]).items() if self.sharded else ():
            known = names.get(id(shard)) or names.get(whole)
            if known is not None:
                names[whole] = names[id(shard)] = known
        return names


def plain_path(name: str) -> str:
    """A module path without the wrappers of DDP and torch.compile."""
    return ".".join(p for p in name.split(".") if p not in {"module", "_orig_mod"})


def unwrapped(module: nn.Module) -> nn.Module:
    """The module inside DistributedDataParallel: a replay computes locally and needs no other rank."""
    inner = getattr(module, "module", None)
    return (
        inner
        if isinstance(module, torch.nn.parallel.DistributedDataParallel) and isinstance(inner, nn.Module)
        else module
    )
