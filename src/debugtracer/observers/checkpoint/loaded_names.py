"""Compares the names of a state with those of the module that it is loaded into, where a load may leave names out."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from debugtracer.callsites.origins.filtered_state import filtered_at
from debugtracer.errors import guarded
from debugtracer.observers.checkpoint.checkpoint_parts import CheckpointParts, print_of
from debugtracer.observers.checkpoint.name_prefix import fitted, is_swapped, name_prefix
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.trace.facts.names_ignored import NamesIgnored

FEW = 2  # names that must fit where nothing was loaded: one may fit by chance (ours)
MANY = 4  # where something was: a head may be left out under another name on purpose (ours)


class Loading:
    """One load, until the next update shows with which values training goes on."""

    def __init__(self, owner: nn.Module, kept: dict[str, Tensor], fact: NamesIgnored) -> None:
        self.owner, self.fact = weakref.ref(owner), fact
        self.held = {id(p) for p in owner.parameters()}
        self.names, self.mark = tuple(kept), print_of(kept)

    def stands(self) -> bool:
        """Whether what the load left out still has the values it had. Call under no_grad."""
        owner = self.owner()
        if owner is None:
            return False
        own = own_tensors(owner)
        return print_of({name: own[name] for name in self.names if name in own}) == self.mark


class LoadedNames:
    """Asked at each load and once at the update after it."""

    def __init__(self, run: ObservedRun) -> None:
        self.run = run
        self.pending: list[Loading] = []
        self.read: list[CheckpointParts] = []
        """Files that were read and of which no tensor was loaded yet."""

    def reset(self) -> None:
        """Forget what was loaded so far."""
        self.pending.clear()
        self.read.clear()

    def loaded(self, owner: nn.Module, given: Any, result: Any, assigned: bool = False) -> None:
        """Compare the names of one load; a later one of the same module takes its place. A mapping that may read a file
        each time it is asked is left alone. `assigned`: the module has the given tensors now, whatever was loaded
        (`assign=True`)."""
        held = {id(p) for p in owner.parameters()}
        self.pending = [one for one in self.pending if not (one.held <= held or held <= one.held)]
        if not isinstance(given, dict) or not held:
            return
        tensors = {str(name): t for name, t in dict.items(given) if isinstance(t, Tensor) and is_sized(t)}
        own, missing = own_tensors(owner), set(getattr(result, "missing_keys", ()))
        file, ids = None, {id(t) for t in tensors.values()}
        source = next((f for f in reversed(self.read) if any(id(t) in ids for t in f.weights.values())), None)
        self.read = [f for f in self.read if not any(id(t) in ids for t in f.weights.values())]
        unexpected = set(getattr(result, "unexpected_keys", ()))
        if source is not None and not assigned and not unexpected:
            file, taken = self.filtered(source, tensors, own)
            if file is not None:
                tensors, missing = stored(file), set(own) - taken
                unexpected = set(tensors) - taken
        elif self.read and not assigned and all(is_same(t, own.get(name)) for name, t in tensors.items()):
            file = self.read[-1]  # the program has left out what does not fit, and nothing fits
            tensors, missing, unexpected = stored(file), set(own), set(stored(file))
            if unexpected & missing or not last_parts(unexpected) & last_parts(missing):
                return  # names that fit were converted, or taken by other means; or it is a file of something else
        if missing and unexpected:
            self.compare(owner, tensors, own, missing, unexpected, file is not None)

    def filtered(
        self, source: CheckpointParts, tensors: dict[str, Tensor], own: dict[str, Tensor]
    ) -> tuple[CheckpointParts | None, set[str]]:
        """The file of which the program has given some tensors under their own names, with the module's own for the
        rest or without; and these names."""
        names = {id(t): name for name, t in stored(source).items()}
        taken = {name for name, t in tensors.items() if id(t) in names}
        plain = all(names[id(tensors[name])] == name for name in taken)
        rest = all(is_same(t, own.get(name)) for name, t in tensors.items() if name not in taken)
        return (source, taken) if plain and rest else (None, taken)

    def compare(
        self,
        owner: nn.Module,
        tensors: dict[str, Tensor],
        own: dict[str, Tensor],
        missing: set[str],
        unexpected: set[str],
        filtered: bool,
    ) -> None:
        """Keep the load in mind where nothing was taken, or where another prefix would have let much be taken."""
        left = {name: shape_of(t) for name, t in tensors.items() if name in unexpected}
        kept = {name: t for name, t in own.items() if name in missing}
        shapes, loaded = {name: shape_of(t) for name, t in kept.items()}, len(tensors) - len(left)
        prefix = name_prefix(left, shapes)
        least = min(MANY if loaded else FEW, len(left))
        if prefix is not None and not (prefix.removed or prefix.added):
            prefix = None  # names that fit as they are need none
        healed = prefix is not None and prefix.healed >= least
        # the file holds other things, too, or a part of this name
        if (
            prefix is not None
            and healed
            and (prefix.healed < len(left) / 2 or (loaded and prefix.removed and prefix.added))
        ):
            healed = is_most(fitted(left, shapes, prefix.removed, prefix.added), own)
        # of a load that took something, a part may be meant to be left out for one of another name
        swapped = prefix is not None and loaded > 0 and is_swapped(prefix)
        if not kept or not (loaded == 0 or (healed and not swapped)):
            return
        fits = prefix if healed and prefix is not None else None
        here = self.run.here()
        fact = NamesIgnored(
            ref=self.run.ref("update", max(self.run.iteration - 1, 0)), owner=type(owner).__name__, given=len(tensors),
            loaded=loaded, missing=len(kept), healed=fits.healed if fits else 0,
            removed=fits.removed if fits else "", added=fits.added if fits else "",
            given_name=next((n for n in left if not fits or n.startswith(fits.removed)), ""),
            own_name=next((n for n in kept if not fits or n.startswith(fits.added)), ""), filtered=filtered,
            frame=here, kept=guarded("loaded_names")(filtered_at)(here) if filtered else None,
        )  # fmt: skip
        self.pending.append(Loading(owner, kept, fact))

    def settle(self) -> None:
        """Emit the loads whose values were not written since by other means."""
        pending, self.pending = self.pending, []
        with torch.no_grad(), self.run.paused():
            for one in pending:
                if one.stands():
                    self.run.emit(one.fact)


def own_tensors(owner: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers of a module by their names, those that have a shape. The program may have methods of
    its own in place of torch's."""
    every = (
        *nn.Module.named_parameters(owner, remove_duplicate=False),
        *nn.Module.named_buffers(owner, remove_duplicate=False),
    )
    return {name: tensor for name, tensor in every if is_sized(tensor)}


def is_sized(tensor: Tensor) -> bool:
    """Whether it has one shape by now."""
    return not is_lazy(tensor) and not tensor.is_nested


def last_parts(names: set[str]) -> set[str]:
    """What tensors are called inside their modules."""
    return {name.rpartition(".")[2] for name in names}


def is_most(names: list[str], own: dict[str, Tensor]) -> bool:
    """Whether these are more than half of the values of a module."""
    return 2 * sum(own[name].numel() for name in names) > sum(t.numel() for t in own.values())


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape of a tensor as plain numbers."""
    return tuple(int(size) for size in tensor.shape)


def is_same(given: Tensor, own: Tensor | None) -> bool:
    """Whether both are one memory."""
    if own is None or given.device != own.device or given.layout is not torch.strided:
        return given is own
    return bool(given.untyped_storage()._cdata == own.untyped_storage()._cdata)


def stored(file: CheckpointParts) -> dict[str, Tensor]:
    """The weights of a file, by the names in their state."""
    states = sorted(file.states, key=len, reverse=True)
    named = {}
    for path, tensor in file.weights.items():
        state = next((s for s in states if s and path.startswith(f"{s}.")), "")
        named[path[len(state) + 1 :] if state else path] = tensor
    return named
