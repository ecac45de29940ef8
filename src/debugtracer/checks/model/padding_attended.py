"""Does an attention look at the texts or at their padding?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.attended_padding import AttendedPadding
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

MEANS = {
    "multi_head_attention_forward": "in key_padding_mask True means: ignore",
    "scaled_dot_product_attention": "in a boolean attn_mask True means: take part",
    "masked_fill": "masked_fill shuts out where the mask is True",
}
"""What a mask says to the function that takes it (their pages)."""
TURN = "Turn the mask round"


class PaddingAttended(Check, frozen=True):
    """The mask of an attention lets in the padding and shuts out all that is not.

    What it catches
        A tokenizer's attention mask (1 for a token) given as `key_padding_mask` or `src_key_padding_mask`, where True
        means ignore; a padding mask given to `scaled_dot_product_attention`, where True means take part.
    Why it matters
        No position sees another token. The loss falls a little, by what each token says alone, and nothing crashes.
    How it decides
        In `looks` inspected steps one and the same id (or vector) stands at all positions that the mask lets in, at one
        end of each row; it stands nowhere else; and at the positions that the mask shuts out stand at least four
        others. Both are read from the mask and from what the model was given.
    What to do
        Turn the mask round: `src_key_padding_mask=~mask`.
    Example
        step 1, rank 0: the mask of multi_head_attention_forward (train.py:31) lets in 38 % of the positions, at which
        only id 0 stands, and shuts out all others (64 ids): in key_padding_mask True means: ignore; expected the
        opposite. Turn the mask round.
    """

    needs: ClassVar[tuple[type[AttendedPadding]]] = (AttendedPadding,)
    kind: ClassVar[str] = "input_ignored"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = ("turn the mask round where it is handed over: ~mask (mask == 0)",)
    proved_by: ClassVar[str] = "model/weather_words"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(AttendedPadding):
            memory[fact.frame] = memory.get(fact.frame, 0) + 1
            if memory[fact.frame] != self.looks:
                continue
            only = "one and the same vector stands" if fact.value is None else f"only id {fact.value} stands"
            more = "ids" if fact.value is not None else "vectors"
            yield self.finding(
                window,
                "error",
                f"the mask of {fact.function}{spot(fact.frame)} lets in {100 * float(fact.kept):.0f} % of the "
                f"positions, at which {only}, and shuts out all others ({fact.shut} {more}): "
                f"{MEANS[fact.function]}; expected the opposite. {TURN}.",
                ref=fact.ref,
                place=Place(frame=fact.frame, module=fact.module),
                kept=float(fact.kept),
                shut=float(fact.shut),
            )
