"""A tape that is kept after its step: without graphs of the program's, its batches counted."""

from __future__ import annotations

from torch import Tensor, nn

from debugtracer.recorder.state.attributes import AttributeCopy
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.roots import RootState
from debugtracer.recorder.tape.entry import Leaf, tensors
from debugtracer.recorder.tape.step_tape import Segment


def without_graphs(segment: Segment) -> None:
    """Detach the inputs of a kept tape, so that it keeps no graphs of the user's alive."""
    for leaf in segment.leaves.values():
        if has_graph(leaf.tensor):
            leaf.tensor = leaf.tensor.detach()


def has_graph(tensor: Tensor) -> bool:
    """True for a tensor with a graph, also where asking raises: a view whose base was written meanwhile (FSDP)."""
    try:
        return tensor.grad_fn is not None
    except RuntimeError:
        return True


def without_carried_graphs(state: RootState) -> RootState:
    """The same state but for attributes that hold a graph of the user's."""
    plain = AttributeCopy([])
    plain.values = [kept for kept in state.attributes.values if not any(map(has_graph, tensors(kept[2:])))]
    return RootState(state.root, {}, plain)


def batch_bytes(segment: Segment) -> int:
    """The bytes of the inputs that a segment keeps alive; parameters are alive anyway."""
    return sum(
        held_bytes(leaf.tensor)
        for leaf in segment.leaves.values()
        if isinstance(leaf, Leaf) and not isinstance(leaf.tensor, nn.Parameter)
    )
