"""Are all layers that receive gradients registered in a module?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_reach import GraphReach, Stranger
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class UnregisteredParams(Check, frozen=True):
    """Layers are used that no module has registered.

    What it catches
        A Python list or dict of layers instead of nn.ModuleList or nn.ModuleDict; a layer built anew in each forward.
    Why it matters
        `parameters()`, `.to()` and `state_dict()` do not see them: they are not trained, not moved and not saved.
    How it decides
        Autograd's graph ends in an nn.Parameter that is in no called module's named_parameters and in no optimizer. It
        is an error when it hangs in a container of at least two modules of a registered module, or is another one in
        each step. A single hidden module (a teacher kept out of the state on purpose) or a loose parameter is a note,
        and a warning where its weights keep the values a new layer is drawn with. So is a plain tensor that a module
        keeps, drawn as weights are; coordinates and images are not.
    What to do
        Use nn.ModuleList, nn.ModuleDict or nn.ParameterList; build layers in __init__.
    Example
        step 0, rank 0: 4 parameters receive gradients and are registered in no module: blocks.0.weight and 3 more hang
        in a plain container (blocks, line 14); expected them in parameters(). Use nn.ModuleList.
    """

    needs: ClassVar[tuple[type[GraphReach]]] = (GraphReach,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "unregistered_params"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "use nn.ModuleList, nn.ModuleDict or nn.ParameterList",
        "build layers in __init__, not in forward",
    )
    proved_by: ClassVar[str] = "model/list_of_stages"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per container."""
        for fact in window.new(GraphReach):
            groups: dict[str | None, list[Stranger]] = {}
            for stranger in fact.strangers:
                groups.setdefault(stranger.owner, []).append(stranger)
            for owner, found in groups.items():
                key = owner, fact.fresh, fact.drawn
                if key not in window.memory(self):
                    window.memory(self)[key] = True
                    yield self.describe(window, fact, found)

    def describe(self, window: Window, fact: GraphReach, found: list[Stranger]) -> Finding:
        """Build the finding with the attribute or container that holds the layers."""
        first, many = found[0], len(found)
        if first.plain:
            return self.plain(window, fact, found)
        more = f" and {many - 1} more" if many > 1 else ""
        fresh = first.owner is None and fact.fresh
        line = f", line {first.frame.line}" if first.frame else ""
        if first.owner is not None:
            what, remedy = (
                f"{first.path}{more} hang in a plain container ({first.owner}{line})",
                "Use nn.ModuleList, nn.ModuleDict or nn.ParameterList",
            )
        elif fresh:
            what, remedy = (
                f"those of shape {first.shape}{more} are new in each step{line}",
                "Build the layer in __init__",
            )
        else:
            what, remedy = (
                f"one of shape {first.shape}{more} belongs to nothing{line}",
                "Register it, or hand it to an optimizer",
            )
        sure = fresh or first.members > 1
        kept = ", and keep the values a new layer is drawn with" if fact.drawn and not fresh else ""
        return self.finding(
            window,
            "error" if sure else "warning" if kept else "note",
            f"{many} parameters receive gradients and are registered in no module: {what}{kept}; expected them in "
            f"parameters(). {remedy}.",
            ref=fact.ref,
            exact=sure,
            place=Place(module=first.owner, param=first.path, frame=first.frame),
            parameters=float(many),
        )

    def plain(self, window: Window, fact: GraphReach, found: list[Stranger]) -> Finding:
        """A tensor that was meant as a Parameter."""
        first = found[0]
        line = f" ({first.frame.code})" if first.frame and first.frame.code else ""
        return self.finding(
            window,
            "warning",
            f"{first.path}, a plain tensor of shape {first.shape}{line}, asks for gradients and receives them, and "
            "neither an optimizer nor state_dict() "
            "holds it: it keeps the values it was drawn with; expected an nn.Parameter. Wrap it: nn.Parameter(...).",
            ref=fact.ref,
            exact=False,
            place=Place(module=(first.owner or "").rpartition(".")[0], param=first.path, frame=first.frame),
            remedies=(
                "wrap the tensor in nn.Parameter, so that parameters(), .to() and state_dict() see it",
                "or register_buffer, without requires_grad",
            ),
            parameters=float(len(found)),
        )
