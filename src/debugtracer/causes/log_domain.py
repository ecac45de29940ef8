"""The logarithm of zero or of a negative number, also 0 * log(0)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import ClassVar

from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.hearing import Hearing
from debugtracer.causes.reading import SMALLEST, Reading, values
from debugtracer.trace.birth import Frame
from debugtracer.trace.verdict import Change

EDGE = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0, "xlogy": 0.0}


NEGATIVE = (
    "a negative argument is no rounding: look at the guilty rows (`debug-tracer report RUN --batch`) and repair or drop them in the dataset",
    "if negative values are meant, choose another transform: sign(x) * log1p(|x|), or a shift before the logarithm",
)


class LogDomain(Cause):
    """log(0) is -inf, log(x < 0) is NaN, and 0 * log(0) is NaN although its limit is 0."""

    kind: ClassVar[str] = "log_domain"
    proved_by: ClassVar[tuple[str, ...]] = ("stable-op", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr", "fresh-moments")
    rewrites: ClassVar[tuple[str, ...]] = ("log-of-scores", "clamp-argument", "clamp-logs")
    remedies: ClassVar[tuple[str, ...]] = (
        "take the loss from logits: log_softmax, logsigmoid, binary_cross_entropy_with_logits never see a probability of 0",
        "clamp the argument: torch.log(p.clamp_min(1e-8)) (1e-4 in float16)",
        "for p * log(p) clamp inside: p * p.clamp_min(1e-8).log() (torch.xlogy(p, p) is finite too, but its gradient at 0 is not)",
    )

    def signs(self, seen: Reading) -> Signs | None:
        """A forward log whose argument is at or below its edge, or a product of 0 and -inf."""
        name = next(iter(seen.ops & set(EDGE)), None)
        if seen.born("forward") and name:
            return self.log(seen, name)
        if seen.born("forward", "mul") and -math.inf in (*seen.at(0), *seen.at(1)) and 0.0 in (*seen.at(0), *seen.at(1)):
            sure = seen.made_by(0, *EDGE) or seen.made_by(1, *EDGE)
            return self.answer(seen, 0.85 if sure else 0.6, f"{seen.op} multiplies 0 by -inf, as 0 * log(0) does, and the product is NaN")
        return None

    def log(self, seen: Reading, name: str) -> Signs | None:
        """The log itself."""
        arguments = seen.at(1 if name == "xlogy" and len(seen.birth.inputs) > 1 else 0)
        if arguments and not any(v <= EDGE[name] for v in arguments):
            return None
        shown = f" of {values(arguments)}" if arguments else ""
        result = "NaN" if any(v < EDGE[name] for v in arguments) else "-inf"
        return self.answer(seen, 0.93 if arguments else 0.7, f"{seen.op} takes the logarithm{shown}, which is {result}", negative=result == "NaN")

    def change(self, seen: Reading | Hearing, frame: Frame, value: float | None = None) -> Change | None:
        """A clamp hides a negative argument instead of repairing it, so there is no change for one."""
        negative = isinstance(seen, Reading) and any(v < EDGE.get(name, 0.0) for name in seen.ops for v in seen.at(0))
        return None if negative else super().change(seen, frame, value)

    def answer(self, seen: Reading, confidence: float, because: str, negative: bool = False) -> Signs:
        """The signs with the remedies of a logarithm."""
        code = seen.birth.frame.code if seen.birth.frame else ""
        if negative:
            return Signs(confidence=confidence, because=because, remedies=NEGATIVE)
        remedies = self.remedies[2::-2] if "*" in code else self.remedies[:2]
        return Signs(confidence=confidence, because=because, remedies=remedies + apart(seen))


def apart(seen: Reading) -> tuple[str, ...]:
    """What an exact 0 of a softmax says of the scores: they lie further apart than the dtype's exponential reaches."""
    known = seen.facts.optimizer
    if not seen.made_by(0, "softmax") or seen.dtype not in SMALLEST:
        return ()
    at = f" (lr {float(known.lr):g} at {Path(known.frame.file).name}:{known.frame.line})" if known and known.lr is not None and known.frame else ""
    return (
        f"softmax gives 0 where a score lies {math.log(2 / SMALLEST[seen.dtype]):.0f} or more below the largest of its row: if no mask did that, the updates "
        f"are too large; divide the learning rate by 10{at} and clip the gradient: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before step()",
    )
