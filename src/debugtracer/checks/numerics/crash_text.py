"""Does the text of the exception name a cause that no other check of crashes has found?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash, KnownWords, TensorSeen, first_difference
from debugtracer.trace.facts.raised_expression import RaisedExpression
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

INDEX = "index_out_of_range"
"""The class of an index outside the dimension it was used on."""
NEW = "set the state back (to None) where new rows begin, or keep only the rows that go on"
ALIKE = "bring sample {} to the form of the others at that line (a conversion), or leave it out"


class CrashText(Check, frozen=True):
    """The program died of an exception whose words are known from logs of failed trainings.

    What it catches
        A loss that refuses logits for probabilities, a state dict that does not fit, a worker that was killed, a
        decomposition that failed, a generator on another device: whatever `debug-tracer explain` knows and no check of
        its own reads.
    Why it matters
        The report of a run must not know less of its last words than the reader of a text log.
    How it decides
        The traceback goes through the same table as `debug-tracer explain`. It speaks from `certainty` on. From words
        alone nothing is confirmed. An index outside its dimension is told at the line that made it, where the line that
        raised has one index and it can be followed in the source; the state that a recurrent layer refuses at the line
        that made or keeps it. A sample that could not be made is fetched again
        beside others, and told at the line where its value first has another form than theirs. Where the failing call
        was given NaN or Inf the words are only a consequence. It is silent where a check that has read the tensors of
        the same crash has spoken.
    What to do
        What the class of the fault advises.
    Example
        step 0, rank 0: binary_cross_entropy needs probabilities and was given values outside 0..1 (logits without a
        sigmoid, or NaN) (train.py:22); expected a call that torch accepts. Use BCEWithLogitsLoss.
    """

    needs: ClassVar[tuple[type[Crash], type[RaisedExpression]]] = (Crash, RaisedExpression)
    at_end: ClassVar[bool] = True
    symptom: ClassVar[str] = "crash"
    fallback: ClassVar[bool] = True
    proved_by: ClassVar[str] = "model/raw_scores"

    certainty: float = 0.5
    """Of the class from the words alone, 0..0.9 (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for an exception whose words are known."""
        sample_known = any(fact.sample is not None for fact in window.seen(RaisedExpression))
        for crash in window.seen(Crash) if window.ended else ():
            if crash.words is None or (sample_known and not crash.words.kind):
                continue  # numerics/crash-values has the values that words without a class are about
            if crash.words.certainty >= self.certainty:
                yield self.describe(window, crash, crash.words)

    def describe(self, window: Window, crash: Crash, words: KnownWords) -> Finding:
        """What the words say, and the user's line they were raised from."""
        bad = next((t for t in crash.tensors if t.nonfinite), None)
        if bad is not None:
            return self.spoiled(window, crash, words, bad)
        frame = crash.frames[0] if crash.frames else None
        built = crash.built if words.kind == "loss_misuse" else None
        at = spot(frame)
        index = crash.index if words.kind == INDEX else None
        form = crash.form if index is None else None
        sample = form.index if form is not None else crash.sample if words.layer == "data" else None
        at += f" for sample {sample}" if sample is not None else ""
        at += made_at(index.made) if index is not None else first_difference(form)
        made = f"; the loss is built at {file_line(built)}" if built is not None else ""
        state = crash.state
        odd = form.frame if form is not None else state.frame if state is not None else None
        if state is not None:
            at += f"; the state {'of the batch before is kept' if state.kept else 'is made'}{spot(state.frame)}"
        remedies = (ALIKE.format(sample), *words.remedies) if form is not None and odd is not None else words.remedies
        remedies = (NEW, *remedies) if state is not None and state.kept else remedies
        advice = remedies[0] if remedies else "read the traceback"
        found = self.finding(
            window,
            "error",
            f"{words.because}{at}{made}; expected a call that does not raise. {advice[0].upper()}{advice[1:]}.",
            ref=crash.ref,
            place=Place(
                module=crash.modules[0].path if crash.modules else None,
                op=words.op,
                frame=built or (index.made[0] if index is not None else odd or frame),
                symptom_frame=frame,
                sample_index=(sample,) if sample is not None else None,
            ),
            kind=words.kind or None,
            confidence=words.certainty,
            remedies=remedies,
            certainty=words.certainty,
        )
        return msgspec.structs.replace(found, layer=words.layer, suspects=words.others)

    def spoiled(self, window: Window, crash: Crash, words: KnownWords, bad: TensorSeen) -> Finding:
        """What the call was given was not finite: the exception follows from what made it so."""
        return self.finding(
            window,
            "error",
            f"{crash.error}: {crash.message.splitlines()[0].rstrip('.')}; {bad.name} holds {bad.nonfinite} values that "
            "are NaN or Inf; expected finite ones. Look for what made them: the exception follows from it.",
            ref=crash.ref,
            place=crash.place(),
            nonfinite=bad.nonfinite,
            certainty=words.certainty,
        )
