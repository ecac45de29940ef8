"""Which tensors of different dtypes met?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

REFUSED = re.compile(
    r"must have the same dtype|expected (scalar type|m1 and m2 to have the same dtype|target dtype)|to have one of the "
    r"following scalar types|Input type \(.*\) and (bias|weight) type|Found dtype \w+ but expected|result type .* "
    r"can't be cast|mixed dtype|not implemented for '\w+'"
)


class DtypeMismatch(Check, frozen=True):
    """A module, an operator or a loss was given tensors of dtypes that it does not combine.

    What it catches
        float64 arrays from numpy in a float32 model, uint8 images, float labels for cross entropy, half precision on
        one side only.
    Why it matters
        torch names two dtypes; which tensor has the odd one takes a debugger.
    How it decides
        The exception is one of torch's dtype errors; the tensors and the parameters' dtype are read from the call that
        raised.
    What to do
        Convert the tensor where it is made: `.float()` for inputs, `.long()` for class labels; or run the forward under
        autocast.
    Example
        step 0, rank 0: 0 (Linear, float32) was given input float64 (16, 8); expected float32. Convert it where the
        dataset makes it (.float()).
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "dtype_mismatch"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "convert the tensor where it is made: .float() for inputs, .long() for class labels",
        "with half precision: run the forward under torch.autocast instead of converting one side",
    )
    proved_by: ClassVar[str] = "numerics/numpy_features"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such dtypes."""
        for crash in window.new(Crash):
            if (
                crash.error in ("RuntimeError", "TypeError", "NotImplementedError")
                and REFUSED.search(crash.message)
                and not crash.fetching
            ):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which module, which tensor."""
        module = crash.modules[0] if crash.modules else None
        odd = next((t for t in crash.tensors if module and t.dtype != module.dtype and t.name in ("input", "x")), None)
        target = next((t for t in crash.tensors if t.name == "target"), None)
        if module is not None and module.dtype and odd is not None:
            seen = (
                f"{module.path or '(root)'} ({module.kind}, {module.dtype}) was given {odd.name} {odd.dtype} "
                f"{odd.shape}; expected {module.dtype}"
            )
        elif "target dtype" in crash.message and target is not None:
            seen = (
                f"{crash.torch_calls[0]} was given a target of dtype {target.dtype} {target.shape}; expected int64 "
                "class numbers"
            )
        else:
            named = ", ".join(f"{t.name} {t.dtype}" for t in crash.tensors[:6])
            seen = (
                "an operator met dtypes that do not go together "
                f"({crash.message.splitlines()[0].rstrip('.')}){f'; there are {named}' if named else ''}"
            )
        return self.finding(
            window,
            "error",
            f"{seen}. Convert it where it is made (.float() for inputs, .long() for class labels).",
            ref=crash.ref,
            place=crash.place(),
        )
