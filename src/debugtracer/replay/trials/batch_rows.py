"""The inputs of a recorded step, the rows of its batch and the loss of each."""

from __future__ import annotations

import torch
from torch import Tensor

from debugtracer.observers.loss.loss_rows import loss_node, row_losses, rows_of_loss
from debugtracer.recorder.tape.batches import Batch
from debugtracer.recorder.tape.entry import Leaf, Slot
from debugtracer.recorder.tape.held_rows import all_rows
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext


def rows_of(loss: Tensor, rows: int, failed: Segment, context: ReplayContext) -> Tensor | None:
    """The loss of each row as the loss function saved it, in the order of the batch; None where it is not known."""
    node = loss_node(loss.grad_fn)
    found = row_losses(node, rows) if node is not None else None
    batch = batch_of(failed, context)
    taken = rows_of_loss(node, context.batches, batch) if found is not None and batch is not None else all_rows(rows)
    if found is None or sorted(taken.at) != list(range(rows)):
        return None  # of some of the rows, or they cannot be told from each other
    ordered = torch.empty_like(found)
    ordered[list(taken.at)] = found.detach()
    return ordered


def batch_of(failed: Segment, context: ReplayContext) -> Batch | None:
    """The batch that a step took its inputs from."""
    hits = (context.batches.find(leaf.tensor) for leaf in inputs_of(failed))
    return next((hit[0] for hit in hits if hit is not None and hit[0].rows), None)


def inputs_of(segment: Segment) -> list[Leaf]:
    """Return the inputs of a step, what it drew at random included."""
    return list({id(r): r for e in segment.entries for r in e.references() if isinstance(r, Leaf)}.values())


def rows_of_batch(failed: Segment, context: ReplayContext) -> int | None:
    """Count the rows of the failing batch: as its loader says, else the first dimension of what the first module is
    given."""
    batch = batch_of(failed, context)
    if batch is not None:
        return batch.rows
    first = next((e for e in failed.entries if e.kind == "module"), None)
    given = [tensor_of(r, failed) for r in (first.references() if first is not None else ())]
    return next((t.shape[0] for t in given if t is not None and t.dim()), None)


def tensor_of(reference: Slot | Leaf, segment: Segment) -> Tensor | None:
    """The tensor of an input, or of a random draw that was kept as a value; None for what a call has made."""
    if isinstance(reference, Leaf):
        return reference.tensor
    entry = segment.entries[reference.entry] if reference.segment == segment.number else None
    made: Leaf | None = entry.args[reference.output] if entry is not None and entry.kind == "const" else None
    return made.tensor if made is not None else None
