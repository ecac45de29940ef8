"""Does the loss hang on any parameter at all?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.graph_reach import LossWithoutGraph as Loose
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LossWithoutGraph(Check, frozen=True):
    """backward() is called on a tensor that hangs on no parameter.

    What it catches
        A loss rebuilt from a number (`torch.tensor(loss.item(), requires_grad=True)`), computed in numpy, or under
        `no_grad`.
    Why it matters
        With requires_grad=True nothing crashes and nothing is ever learned; without it backward() raises.
    How it decides
        The tensor has no grad_fn when backward begins. A Parameter or a tensor of several values is left alone. The
        line is the last call of the step that took a tensor with a graph and gave none, if the step was inspected.
    What to do
        Keep the tensor: no .item(), .numpy(), .data, torch.tensor() between the model and backward(), and no `no_grad`
        around the forward.
    Example
        step 0, rank 0: backward() is called on a loss that hangs on no parameter: item at line 31 ended the graph;
        expected a loss computed from the model's output. Keep the tensor.
    """

    needs: ClassVar[tuple[type[Loose]]] = (Loose,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the tensor between the model and backward(): no .item(), .numpy(), .data, torch.tensor()",
        "take the forward out of no_grad",
    )
    proved_by: ClassVar[str] = "model/rebuilt_loss"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding once per line of such a backward."""
        for fact in window.new(Loose):
            if fact.frozen or fact.plain:  # model/all-frozen and optimizer/plain-tensors tell it
                continue
            cut = (
                f": {fact.cut.function} at line {fact.cut.frame.line} ended the graph"
                if fact.cut and fact.cut.frame
                else ""
            )
            yield self.finding(
                window,
                "error",
                f"backward() is called on a loss that hangs on no parameter{cut}; expected a loss computed from the "
                "model's output. Keep the tensor.",
                ref=fact.ref,
                place=Place(
                    module=fact.cut.module if fact.cut else None,
                    frame=(fact.cut.frame if fact.cut else None) or fact.frame,
                    symptom_frame=fact.frame,
                ),
            )
