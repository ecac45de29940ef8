"""Are tied parameters still one?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.ties import TieGone
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CALLED = {"load_state_dict": "load_state_dict(assign=True)", "_apply": "a conversion (.to, .half, .double)"}


class TieBroken(Check, frozen=True):
    """Two names of one parameter have become two parameters, which are trained apart.

    What it catches
        An embedding and a head that share their weight until load_state_dict(assign=True) puts two tensors in their
        places, or until a model whose tie is one of memory only (nn.Parameter(embedding.weight.data)) is converted with
        .to, .half or .double.
    Why it matters
        The model has more parameters than it was built with, the two drift apart, and code that relies on the tie
        (saving one of them, generation) is wrong.
    How it decides
        Names of parameters that share storage before load_state_dict or a conversion, or at an inspected step, and do
        not share it in an update after that, while both have a gradient and an optimizer. A warning when a call broke
        it and both still had the same values then; a note otherwise: an assignment, or a file with two different
        tensors, may be wanted.
    What to do
        Tie again after loading or converting: head.weight = embedding.weight (tie_weights() in transformers), before
        the optimizer is built.
    Example
        step 0, rank 0: since load_state_dict(assign=True) (train.py:31) emb.weight and head.weight, which were one, are
        two parameters of 4096 values and are trained apart; expected them to share their storage. Tie them again after
        it: head.weight = emb.weight.
    """

    needs: ClassVar[tuple[type[TieGone]]] = (TieGone,)
    kind: ClassVar[str] = "tie_broken"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "tie them again after it and before the optimizer is built: head.weight = embedding.weight",
        "load without assign=True",
    )
    proved_by: ClassVar[str] = "model/poems_from_export"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for each pair that is no longer tied."""
        for fact in window.new(TieGone):
            since = f"since {CALLED.get(fact.how, fact.how)}{spot(fact.frame)} " if fact.how else ""
            others = f" (and {fact.count - 1} more pairs)" if fact.count > 1 else ""
            yield self.finding(
                window,
                "warning" if fact.how and fact.equal else "note",
                f"{since}{fact.name} and {fact.other}{others}, which were one, are two parameters of {fact.numel} "
                "values and are trained apart; expected them "
                f"to share their storage. Tie them again after it: {fact.other} = {fact.name}.",
                ref=fact.ref,
                place=Place(param=fact.other, module=fact.other.rpartition(".")[0], frame=fact.frame),
                numel=fact.numel,
            )
