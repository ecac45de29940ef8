"""Do the values move with the axes?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.permuted_view import PermutedView
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ViewPermuted(Check, frozen=True):
    """A view gives a tensor its own sizes in another order, where a transpose was meant.

    What it catches
        `x.view(batch, channels, points)` of (batch, points, channels); attention heads that are put back without a
        transpose; `torch.stack(windows).view(time, batch, 1)`; two views of a batch joined with `cat` and taken apart
        with `view(batch, 2, -1)`; shots that lie class by class and are averaged as `view(shots, classes, -1).mean(0)`;
        `h_n.view(batch, -1)` of two directions; `edge_index = torch.tensor(pairs).view(2, -1)`.
    Why it matters
        view and reshape keep the order of memory, so a row of the new axis holds values of several channels and
        points. Every size is right, nothing crashes, and the network learns what it can of a scrambled input.
    How it decides
        The sizes after are those before in another order (axes of size 1 left out; of tables, those of samples alone:
        stacked in the step, or a batch of a loader), and what is made of it reaches an op that reads the axes: a linear
        layer, convolution, norm, softmax, matrix product, a loss, a fold over an axis, or a `cat` behind the moved axes
        that pairs it with tensors that were not seen so (computed, or copied: noise, a constant and a parameter have no
        order). A note where axes that are split and joined as they lie give those sizes too, (batch, 64, 8) as (batch,
        8, 64) may be eight steps stacked to one; not of copies that `repeat` or `expand` made. Or `cat` joined k
        tensors of n rows along dimension 0, nothing in the step made rows of (n, k), and a view takes them, or what was
        made of them row by row, apart as (n, k): neighbours of one part become pairs. Or rows that a view made of (a,
        b) are followed through layers, taken apart as (b, a) and folded over one of the two, also where these are
        exchanged and cut first. Or whole numbers of (n, 2) become (2, n), and a model of as many nodes is given them as
        connections that are not those of the list. A view that is undone, splits or joins axes is left alone.
    What to do
        `x.transpose(1, 2)`; for joined parts `view(k, n, ...).transpose(0, 1)`, or `torch.stack(parts, 1)`.
    Example
        step 0, rank 0: view (net.py:21) gives (32, 128, 3) the sizes (32, 3, 128), and conv1d (net.py:22) reads the
        new axes, whose rows hold values of several old ones; expected axes that move with their values. Use transpose
        or permute.
    """

    needs: ClassVar[tuple[type[PermutedView]]] = (PermutedView,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "move axes with transpose or permute; view and reshape only split and join neighbouring ones",
        "print x[0, :, 0] before and after: it must be a row of the new axis",
    )
    proved_by: ClassVar[str] = "model/stone_scans"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(PermutedView):
            place = Place(frame=fact.frame, symptom_frame=fact.reader_frame)
            yield self.finding(window, "note" if fact.whole else "warning", described(fact), ref=fact.ref, place=place)


def described(fact: PermutedView) -> str:
    """The message of one view."""
    seen, reader = f"{fact.function}{spot(fact.frame)}", f"{fact.reader}{spot(fact.reader_frame)}"
    if fact.layer:
        return (
            f"{seen} gives the last states of {fact.layer}, {fact.shape[0]} (layers and directions) of {fact.shape[1]} "
            f"rows, the sizes {fact.result}: a row of it holds states of {min(fact.shape[:2])} rows of the batch; "
            f"expected those of one. Use h.transpose(0, 1).reshape({fact.shape[1]}, -1), or torch.cat([h[-2], h[-1]], "
            "1)."
        )
    if fact.flattened:
        return (
            f"{seen} takes rows that were made of {fact.flattened}, one after another, apart as {fact.result[:2]}, "
            f"and {reader} goes over them: what it puts together comes from several rows of the first; expected the "
            f"order in which they lie. Use view({fact.flattened[0]}, {fact.flattened[1]}, -1)."
        )
    if fact.parts:
        return (
            f"{seen} takes {fact.shape[0]} rows, joined from {fact.parts} tensors of {fact.result[0]} rows, apart as "
            f"{fact.result[:2]}: what is paired are neighbours of one tensor; expected the same row of each. Use "
            f"view({fact.parts}, {fact.result[0]}, ...).transpose(0, 1), or torch.stack(parts, 1)."
        )
    if fact.whole:
        return (
            f"{seen} gives {fact.shape} the sizes {fact.result}, and {reader} reads the new axes; right where "
            "neighbouring rows were to be joined, or rows to be cut. To move the axes use transpose or permute."
        )
    return (
        f"{seen} gives {fact.shape} the sizes {fact.result}, and {reader} reads the new axes, whose rows hold values "
        "of several old ones; expected axes that move with their values. Use transpose or permute."
    )
