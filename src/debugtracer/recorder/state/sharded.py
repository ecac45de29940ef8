"""Parameters that lie in parts on several ranks (FSDP2): what this rank holds of them, and the tensors by which its
forward uses them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

PROPERTIES = ("__get__", "__set__", "__delete__")


def is_sharded(tensor: Any) -> bool:
    """True for a DTensor: any sum over it would wait for the other ranks."""
    return type(tensor).__name__ == "DTensor"


def holds_shards(modules: Iterable[nn.Module]) -> bool:
    """True if some parameter of these modules lies in parts on several ranks."""
    return any(is_sharded(p) for module in modules for p in module.parameters())


def local(value: Any) -> Any:
    """The part of a sharded tensor that lies here, no copy and no graph; anything else as it is."""
    return value._local_tensor if is_sharded(value) else value


class Locally(TorchFunctionMode):
    """Inside, torch's functions see of a sharded tensor the part of this rank alone: what we measure never waits for
    another rank."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in PROPERTIES:
            return func(*args, **(kwargs or {}))
        args, kwargs = tree_map(local, (args, kwargs or {}))
        return func(*args, **kwargs)


def shards(modules: Iterable[nn.Module]) -> Iterator[Any]:
    """What `fully_shard` knows of each parameter: `sharded_param`, and once a forward ran `_unsharded_param`."""
    sharding: list[Any] = [m for root in modules for m in root.modules() if hasattr(m, "_get_fsdp_state")]
    for state in {id(m): m._get_fsdp_state() for m in sharding}.values():
        groups = getattr(state, "_fsdp_param_groups", None) or [
            group for group in (getattr(state, "_fsdp_param_group", None),) if group is not None
        ]
        for group in groups:
            yield from group.fsdp_params


def owners(modules: Iterable[nn.Module]) -> dict[int, Tensor]:
    """Map the id of each whole parameter that a forward uses to the sharded one that the optimizer holds."""
    return {
        id(shard._unsharded_param): shard.sharded_param
        for shard in shards(modules)
        if hasattr(shard, "_unsharded_param")
    }
