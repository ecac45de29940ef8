"""Which sample each place of a batch belongs to, where a collate_fn joins samples of different lengths end to end
(graphs, bags of ids): each is fetched again and made a batch of alone. What is not proved by values is not named."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.tape.batches import Batch
from debugtracer.replay.fetch.child import in_child
from debugtracer.replay.fetch.followed import SECONDS
from debugtracer.replay.fetch.sample import Pipeline, as_worker, pipeline_of
from debugtracer.replay.fetch.samples_by_value import same

MOST = 4096  # samples of a batch that are fetched again (ours)
Leaves = Mapping[str, Tensor]


def joined_samples(batch: Batch, length: int) -> tuple[int, ...] | None:
    """The dataset index behind each place of a dimension of this length; None where no tensor of the batch is that
    long, or where the samples do not join to what the batch holds."""
    indices = batch.drawn
    held = {path: leaf.detach().cpu() for path, leaf in batch.tensors() if leaf.dim()}
    if not indices or length == len(indices) or len(indices) > MOST:
        return None
    if all(len(leaf) != length for leaf in held.values()):
        return None
    try:
        pipeline = pipeline_of(batch.loader)
        if pipeline.streams or not pipeline.batched:
            return None
        found = in_child(lambda: laid_out(pipeline, batch, held, length), SECONDS)
    except (ReplayRefused, OSError):
        return None
    return tuple(found) if found is not None else None


def laid_out(pipeline: Pipeline, batch: Batch, held: Leaves, length: int) -> list[int] | None:
    """The index of the sample at each place; runs in the child."""
    as_worker(pipeline, batch.number)
    indices = batch.drawn or ()
    with torch.no_grad():
        alone = [dict(leaves_of(pipeline.collated([pipeline.sample(index)]))) for index in indices]
    shares = [parts for path, leaf in held.items() if (parts := lengths(leaf, path, alone)) is not None]
    of_this = {parts for parts in shares if sum(parts) == length}
    if len(of_this) != 1 or not any(is_joined(leaf, path, alone) for path, leaf in held.items()):
        return None
    return [index for index, count in zip(indices, of_this.pop(), strict=True) for _ in range(count)]


def lengths(leaf: Tensor, path: str, alone: list[dict[str, Tensor]]) -> tuple[int, ...] | None:
    """How many places of a leaf each sample fills; None where they do not add up to it."""
    parts = [one.get(path) for one in alone]
    known = [part.shape[0] for part in parts if part is not None and part.dim() and part.shape[1:] == leaf.shape[1:]]
    return tuple(known) if len(known) == len(parts) and sum(known) == leaf.shape[0] else None


def is_joined(leaf: Tensor, path: str, alone: list[dict[str, Tensor]]) -> bool:
    """Whether a leaf is what the samples alone hold, one behind the other, and in no other order."""
    parts = [one[path] for one in alone] if lengths(leaf, path, alone) is not None else []
    if len(parts) < 2 or any(part.dtype != leaf.dtype for part in parts):
        return False
    turned = torch.cat(parts[::-1])
    return same(torch.cat(parts), leaf) and not same(turned, leaf)
