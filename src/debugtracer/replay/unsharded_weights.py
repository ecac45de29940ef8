"""Sharded modules (FSDP2) made whole on this rank for a while: every rank gathers the weights once, then each replays
its own step alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.sharded import is_sharded, shards

FSDP = "torch.distributed.fsdp"
HOOKS = ("_forward_pre_hooks", "_forward_hooks")


class UnshardedWeights:
    """The weights of some modules, gathered. Making one is a collective: every rank must do it at the same place.
    Raises ReplayRefused."""

    def __init__(self, roots: Iterable[nn.Module], max_bytes: int) -> None:
        self.roots = list(roots)
        known = {id(shard.sharded_param): shard for shard in shards(self.roots)}
        refuse(self.roots, known, max_bytes)
        self.twins: dict[int, nn.Parameter] = {}
        """id of a sharded parameter -> the whole one that stands for it."""
        self.places: list[tuple[nn.Module, str, nn.Parameter]] = []
        with torch.no_grad():
            for key, shard in known.items():
                full = shard.sharded_param.full_tensor().detach()
                dtype = shard.mp_policy.param_dtype or full.dtype
                twin = self.twins[key] = nn.Parameter(
                    full.to(dtype).clone(), requires_grad=shard.sharded_param.requires_grad
                )
                info = shard._module_info
                owners = [
                    (info.module, info.param_name),
                    *zip(info.shared_modules, info.shared_param_names, strict=True),
                ]
                self.places += [(module, name, twin) for module, name in owners]

    def parameter(self, parameter: Tensor) -> Tensor:
        """The whole parameter for one that the optimizer holds."""
        return self.twins.get(id(parameter), parameter)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Give the modules the whole weights inside the context, so that they wait for no rank; restore them at
        exit."""
        kept = [(module, name, module._parameters[name]) for module, name, _ in self.places]
        hooks = [
            (module, name, getattr(module, name).copy())
            for root in self.roots
            for module in root.modules()
            for name in HOOKS
        ]
        for module, name, twin in self.places:
            module._parameters[name] = twin
        for module, name, held in hooks:
            getattr(module, name).clear()
            getattr(module, name).update({key: hook for key, hook in held.items() if not of_fsdp(hook)})
        casts = [handle for root in self.roots for module in root.modules() for handle in cast_inputs(module)]
        try:
            yield
        finally:
            for handle in casts:
                handle.remove()
            for module, name, held in hooks:
                getattr(module, name).clear()
                getattr(module, name).update(held)
            for module, name, parameter in kept:
                module._parameters[name] = parameter


def refuse(roots: list[nn.Module], known: dict[int, Any], max_bytes: int) -> None:
    """Raise ReplayRefused where gathering does not give modules that compute alone; every rank comes to the same
    answer."""
    sharded = {id(p): p for root in roots for p in root.parameters() if is_sharded(p)}
    if any(key not in known or mesh_dimensions(p) != 1 for key, p in sharded.items()):
        raise ReplayRefused(
            "the weights are split by more than FSDP2 over one mesh (tensor or pipeline parallel), and cannot be put "
            "together here"
        )
    size = sum(p.numel() * p.element_size() for p in sharded.values())
    if size > max_bytes:
        raise ReplayRefused(f"the whole weights need {size} bytes on each rank, more than copy_bytes ({max_bytes})")


def mesh_dimensions(parameter: Any) -> int:
    """Return 1 where the ranks form one row."""
    return int(parameter.device_mesh.ndim)


def of_fsdp(hook: Any) -> bool:
    """True for a hook that FSDP has put on a module: it would gather or cast."""
    return str(getattr(hook, "__module__", "")).startswith(FSDP) or type(
        getattr(hook, "__self__", None)
    ).__module__.startswith(FSDP)


def cast_inputs(module: nn.Module) -> list[Any]:
    """The cast of floating inputs that a mixed-precision policy asks for."""
    ask: Any = getattr(module, "_get_fsdp_state", None)
    state = ask() if ask is not None else None
    policy = getattr(state, "_mp_policy", None)
    if policy is None or policy.param_dtype is None or not policy.cast_forward_inputs:
        return []

    def cast(_: nn.Module, args: Any, kwargs: Any) -> Any:
        return tree_map(
            lambda v: v.to(policy.param_dtype) if isinstance(v, Tensor) and v.is_floating_point() else v, (args, kwargs)
        )

    return [module.register_forward_pre_hook(cast, with_kwargs=True, prepend=True)]
