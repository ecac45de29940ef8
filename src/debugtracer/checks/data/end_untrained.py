"""Is the end of a text ever a target?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.untrained_end import UntrainedEnd
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BY_MASK = "Set labels to -100 where the attention mask is 0."
BY_ID = "Give the padding an id of its own, or ignore it by its place."


class EndUntrained(Check, frozen=True):
    """The token that ends each text has the id of the padding, and the loss ignores both.

    What it catches
        `tokenizer.pad_token = tokenizer.eos_token` with labels that are -100 wherever the id is the padding's;
        `ignore_index=PAD` where PAD ends the texts, too.
    Why it matters
        The loss looks right, and the model never learns to stop: it writes until the longest answer allowed.
    How it decides
        The targets are the next tokens. In nine texts of ten one and the same id follows the last token that is a
        target, it fills the rest of the row, and it is a target nowhere. That the first of them is the end of the text
        and no padding is known in `looks` inspected steps: by a mask that came with the tokens and keeps it, or by the
        samples of the dataset, which end so before they are filled; or, in `more` steps of at least two widths, by the
        longest text of each batch, which ends so though nothing had to be filled, while the texts end in several other
        ids before it.
    What to do
        Mask the labels where the attention mask is 0, or give the padding an id of its own.
    Example
        step 1, rank 0: id 0 ends all 32 texts and fills their rows, and cross_entropy (train.py:51) ignores it
        everywhere; expected the first one of each text as a target. Set labels to -100 where the attention mask is 0.
    """

    needs: ClassVar[tuple[type[UntrainedEnd]]] = (UntrainedEnd,)
    kind: ClassVar[str] = "label_mask_wrong"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "mask by position, not by id: labels = input_ids.masked_fill(attention_mask == 0, -100)",
        "give the padding an id of its own, other than that of the end of a text",
    )
    proved_by: ClassVar[str] = "data/never_full_stop"

    looks: int = 2  # inspected steps with a mask (ours)
    more: int = 4  # inspected steps without (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each line; said once."""
        memory = window.memory(self)
        for fact in window.new(UntrainedEnd):
            seen = memory.setdefault(fact.frame, [])
            if seen is None:
                continue
            seen.append(fact)
            known = sum(f.attended or f.sampled for f in seen) >= self.looks
            if not known and (len(seen) < self.more or len({f.width for f in seen}) < 2):
                continue
            memory[fact.frame] = None
            yield self.finding(
                window,
                "warning",
                f"id {fact.token} ends all {fact.rows} texts and fills their rows, and {fact.loss}{spot(fact.frame)} "
                f"ignores it everywhere{made_at(fact.made).replace(', made', '; the targets are made')}; expected the "
                f"first one of each text as a target. {BY_MASK if fact.attended else BY_ID}",
                ref=seen[0].ref,
                place=Place(
                    frame=fact.left_out or (fact.made[0] if fact.made else fact.frame), symptom_frame=fact.frame
                ),
                token=fact.token,
                texts=fact.rows,
                remedies=self.remedies if fact.attended else self.remedies[::-1],
            )
