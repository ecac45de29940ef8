"""Finds out which ranks average their gradients where no DistributedDataParallel says so: sharded models, and loops
that reduce gradients themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.data_group import BY_HAND, DataGroup

STEPS = 3  # updates that are looked at (ours)
MOST_OF = 0.5  # share of the elements of all gradients (ours: tensor-parallel ranks reduce those of their norms alone)


class DataGroupsObserver(Observer):
    """Reads who is in a group, exchanges nothing. Deaf after a few updates."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.reduced: dict[tuple[int, ...], int] = {}
        """Ranks -> elements of floating tensors that were reduced between them since the last backward began."""
        self.inside: dict[tuple[int, ...], list[torch.Size]] = {}
        """Ranks -> shapes of those that were reduced inside a backward: of a gradient, or of an activation that
        tensor-parallel ranks add up."""
        self.at: RawFrames = ()
        """The line of the program that reduced last."""
        self.updates = 0

    def install(self) -> None:
        """Listen to reductions, where torch has them."""
        if dist.is_available():
            self.patches.wrap(dist, "all_reduce", self.wrap)

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        """Drop the counts; a forked child has its own groups."""
        self.drop()
        self.updates = 0

    def drop(self) -> None:
        """Forget what was reduced."""
        self.reduced.clear()
        self.inside.clear()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Forget what was reduced in the forward: no gradient is there."""
        if self.updates >= STEPS:
            self.run.unsubscribe(self.backward_begins)
        self.reduced.clear()

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap torch.distributed.all_reduce to note what a program reduces itself."""

        @functools.wraps(original)
        def all_reduce(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if self.updates < STEPS:
                self.note(tensor, args[1] if len(args) > 1 else kwargs.get("group"))
            return original(tensor, *args, **kwargs)

        return all_reduce

    @guarded("observers.device.data_groups: all_reduce()")
    def note(self, tensor: Any, group: Any) -> None:
        """Count the elements of what may be a gradient."""
        if isinstance(tensor, Tensor) and tensor.is_floating_point() and not tensor.requires_grad:
            self.at = raw_frames(2)[:1]
            ranks = tuple(dist.get_process_group_ranks(group or dist.group.WORLD))
            if torch._C._current_graph_task_id() != -1:
                self.inside.setdefault(ranks, []).append(tensor.shape)
            else:
                self.reduced[ranks] = self.reduced.get(ranks, 0) + tensor.numel()

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit the groups of the first updates."""
        self.updates += 1
        if self.updates > STEPS:
            self.run.unsubscribe(self.step_begins)
            return
        if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2:
            return
        found = {group for root in self.run.modules() for group in sharded(root)}
        gradients = [p.grad for p in parameters(optimizer) if p.grad is not None]
        held, shapes = sum(grad.numel() for grad in gradients), {grad.shape for grad in gradients}
        for ranks, inside in self.inside.items():
            of_gradients = sum(shape.numel() for shape in inside if shape in shapes)
            self.reduced[ranks] = self.reduced.get(ranks, 0) + of_gradients
        found |= {(BY_HAND, ranks) for ranks, size in self.reduced.items() if size >= max(1.0, MOST_OF * held)}
        self.drop()
        for how, ranks in sorted(found):
            if len(ranks) > 1:
                at = first(self.at) if how == BY_HAND else None
                self.run.emit(
                    DataGroup(ref=self.run.ref("update", self.run.iteration - 1), how=how, group=ranks, at=at)
                )


def sharded(root: nn.Module) -> set[tuple[str, tuple[int, ...]]]:
    """The groups over which the parts of a model are sharded for data-parallel training."""
    found = set()
    for part in root.modules():
        if type(part).__module__.startswith("torch.distributed.fsdp") or hasattr(part, "_get_fsdp_state"):
            found.add(group_of(part))
    return {group for group in found if group is not None}


def group_of(part: nn.Module) -> tuple[str, tuple[int, ...]] | None:
    """The ranks of one sharded part; None where this torch does not say."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    if isinstance(part, FullyShardedDataParallel):
        ranks = dist.get_process_group_ranks(part.process_group)
        return "FullyShardedDataParallel", tuple(ranks)
    state = getattr(part, "_get_fsdp_state", lambda: None)()
    group = getattr(state, "_fsdp_param_group", None)
    mesh = getattr(getattr(group, "mesh_info", None), "mesh", None)
    root = root_of(mesh)
    if mesh is None or root is None or root.ndim != mesh.ndim:
        return None  # one of several kinds of parallelism: ranks of a sequence that is cut share their batches
    return "fully_shard", tuple(mesh.mesh.flatten().tolist())


def root_of(mesh: Any) -> Any:
    """The mesh that this one was cut from or flattened from, or itself; None where this torch does not say."""
    if hasattr(mesh, "_get_root_mesh"):
        return mesh._get_root_mesh()
    known = getattr(torch.distributed.device_mesh, "_mesh_resources", None)  # torch 2.6 to 2.9
    return known.get_root_mesh(mesh) if known is not None and mesh is not None else None
