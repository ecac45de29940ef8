"""Replicas and batches of ranks."""

from __future__ import annotations

from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.replicas import Replica
from tests.checks.windows import LOADER, ref


def a_replica(
    step: int = 0, rank: int = 0, before: tuple[int, ...] = (1, 2), grads: tuple[int, ...] = (3, 4), **more: object
) -> Replica:
    """Two parameters under DistributedDataParallel on ranks 0 and 1."""
    known: dict[str, object] = {
        "wrapper": "DistributedDataParallel", "frame": None, "group": (0, 1), "hooked": False, "bypassed": None,
        "optimizer": "SGD", "built": None, "lr": 0.1, "names": ("0.weight", "0.bias"), "grad_l2": 1.0, "param_l2": 2.0,
        "bad": False,
    } | more  # fmt: skip
    return Replica(ref=ref(step, rank), before=before, grads=grads, **known)  # type: ignore[arg-type]


def a_batch(
    step: int, rank: int = 0, indices: tuple[int, ...] = (5, 6), digests: tuple[int, ...] = (7,), **more: object
) -> BatchSeen:
    """Two rows of a loader."""
    known: dict[str, object] = {"sampler": "RandomSampler", "shards": False, "length": 100, "rows": 2} | more
    known = {"loader": 0} | known
    return BatchSeen(ref=ref(step, rank), frame=LOADER, indices=indices, digests=digests, **known)  # type: ignore[arg-type]
