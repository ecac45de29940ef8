"""The tensors that a loop without an optimizer trains, found by their gradients, and whether it has changed them."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from debugtracer.recorder.gate.norms import FAKE
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.step_tape import Segment

MOST_SETS = 8  # sets of tensors that take turns (ours): the two networks of a GAN are two


class TrainedTensors:
    """Keeps none alive."""

    def __init__(self) -> None:
        self.roots: ById[nn.Module, list[WeakRef[Tensor]]] = ById()
        """Parameters of each root at its last call; functional_call has put its own in their place by then."""
        self.called: dict[int, list[WeakRef[Tensor]]] = {}
        """Those of the roots called with a graph since the last backward."""
        self.own: ById[Tensor, WeakRef[Tensor] | None] = ById()
        """Leaves of the loop's own -> the gradient that was seen, with its version beside it."""
        self.versions: dict[int, int] = {}
        self.of_roots = False
        """Those of the last backward belong to modules that were called, not to the loop itself."""
        self.made_anew = False
        """The loop had made those of the last backward in the same step: only its calls tell which they are."""
        self.keeps = False
        """Root calls are not told: each backward is taken for one of all that is known."""
        self.latest: list[WeakRef[Tensor]] = []
        """The tensors of the last backward."""
        self.norms: dict[tuple[int, ...], tuple[list[float], list[tuple[int, ...]]]] = {}
        """Identities of tensors that had gradients together -> their norms at their last backward, and shapes."""

    def reset(self) -> None:
        """Reset to an empty state."""
        for held in (self.roots, self.called, self.own, self.versions, self.latest, self.norms):
            held.clear()
        self.keeps = False

    def entered(self, module: nn.Module) -> None:
        """Note the parameters of a root that is called."""
        held = self.roots.get(module)
        if held is None or not held or held[0]() is not next(iter(module.parameters()), None):
            held = self.roots[module] = [WeakRef(parameter) for parameter in module.parameters()]
        self.called[id(module)] = held

    def with_gradients(self, segment: Segment) -> list[Tensor]:
        """The tensors of the last backward that have a gradient: of the roots called, else of the loop's own."""
        called, self.called = self.called, {}
        found = [p for held in called.values() for r in held if (p := r()) is not None and has_gradient(p)]
        self.of_roots, self.made_anew = bool(found), False
        return list(dict.fromkeys(found)) if len(called) > 1 else found or self.own_leaves(segment)

    def own_leaves(self, segment: Segment) -> list[Tensor]:
        """The leaves of the loop's own to whose gradients this backward has written: those it made anew in this step,
        as a functional update does, else those that stay."""
        made = [tensor for reference, _ in segment.made.values() if (tensor := reference()) is not None]
        new = [t for t in made if t.requires_grad and t.is_leaf and t.grad is not None]
        self.made_anew = bool(new)
        if new:
            return list(dict.fromkeys(new))
        if not segment.rested:
            for leaf in segment.leaves.values():
                tensor = leaf.tensor
                if tensor.requires_grad and tensor.is_leaf and tensor not in self.own:
                    self.own[tensor] = None
        fresh = self.fresh_leaves()
        self.settle(fresh)
        return fresh

    def fresh_leaves(self) -> list[Tensor]:
        """The known leaves of the loop's own that have another gradient than when they were last settled."""
        return [tensor for tensor in self.own if self.is_fresh(tensor)]

    def is_fresh(self, tensor: Tensor) -> bool:
        """True if a leaf has another gradient than when it was last settled."""
        grad, seen = tensor.grad, self.own.get(tensor)
        if grad is None:
            return False
        return seen is None or seen() is not grad or self.versions.get(id(tensor)) != grad._version

    def settle(self, leaves: Sequence[Tensor]) -> None:
        """Take the gradients that these leaves of the loop's own have now for seen."""
        for tensor in leaves:
            if (grad := tensor.grad) is not None:
                self.own[tensor], self.versions[id(tensor)] = WeakRef(grad), grad._version

    def at_rest(self) -> list[Tensor]:
        """The tensors of the last backward as far as they are known without the calls of the loop; `counted` goes on
        to the next."""
        if not self.of_roots:
            return self.fresh_leaves()
        # has_gradient written out: it would be a call for each tensor
        held = [p for references in self.called.values() for r in references if (p := r()) is not None]
        found = [p for p in held if p.is_leaf and p.grad is not None]
        return list(dict.fromkeys(found)) if len(self.called) > 1 else found

    def counted(self, tensors: Sequence[Tensor]) -> None:
        """Make ready for the next backward, after these were looked at at rest."""
        self.left_out()
        if not self.of_roots:
            self.settle(tensors)

    def left_out(self) -> None:
        """Make ready for the next backward, after one at which nothing was looked at."""
        if not self.keeps:
            self.called = {}

    def are_always_the_same(self) -> bool:
        """Whether one set of tensors had gradients together in the last backward calls, none of them made anew."""
        return len(self.norms) == 1 and not self.made_anew

    def rest_calls(self, rests: bool) -> None:
        """Take the next backward calls for calls of all roots that are known, until rest_calls(False)."""
        self.keeps = rests
        if rests:
            self.called = {id(module): held for module, held in self.roots.items()}

    def last(self) -> list[Tensor]:
        """The tensors of the last backward, if all of them are alive."""
        ids = next(reversed(self.norms), ())
        return tensors if len(tensors := [t for r in self.latest if (t := r()) is not None]) == len(ids) else []

    def changed(self, tensors: Sequence[Tensor], norms: list[float], replaced: bool = True) -> bool:
        """Whether these tensors have other norms than at their last backward, or, with `replaced`, have all taken the
        place of others of the same shapes, as in a functional update and as the inputs of a pipeline stage; the norms
        are remembered."""
        self.latest = [WeakRef(tensor) for tensor in tensors]
        ids, shapes = tuple(map(id, tensors)), [tuple(tensor.shape) for tensor in tensors]
        before = self.norms.pop(ids, None)
        if before is not None:
            changed = before[0] != norms
        elif not replaced:
            changed = False
        else:
            last = next(reversed(self.norms.items()), None)
            changed = last is not None and last[1][1] == shapes and not set(last[0]) & set(ids)
        self.norms[ids] = norms, shapes
        if len(self.norms) > MOST_SETS:
            del self.norms[next(iter(self.norms))]
        return changed


def has_gradient(tensor: Tensor) -> bool:
    """Whether a leaf has a gradient with values; torch warns where that of an inner tensor is asked for."""
    return tensor.is_leaf and tensor.grad is not None and not tensor.is_meta and type(tensor).__name__ != FAKE
