"""What a cause asks of the facts of an incident: op names without decoration, values at the bad places, growth of a
series."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass

from debugtracer.trace.birth import Birth, TensorFacts
from debugtracer.trace.incident import IncidentFacts, WeightWrite
from debugtracer.trace.made_at import made_at
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.place import Place

# smallest positive value, IEEE 754
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 5e-324}
LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.4028235e38, "float64": 1.797e308}
CLAMPS = frozenset({"relu", "threshold", "hardtanh", "clamp_min", "clamp"})
"""Operators that give exactly 0 for whatever lies below it."""
EXP_LIMIT = {"float16": 11.09, "bfloat16": 88.72, "float32": 88.72, "float64": 709.78}  # log of the above


def base(op: str | None) -> str:
    """Return the bare op name: `addcdiv` for `aten::_foreach_addcdiv_.Scalar`."""
    return (op or "").split("::")[-1].split(".")[0].strip("_").removeprefix("foreach_")


def plain_dtype(dtype: str) -> str:
    """Strip the prefix of torch: `torch.float16` is `float16`."""
    return dtype.removeprefix("torch.")


@dataclass(frozen=True)
class IncidentEvidence:
    """The facts of one incident with the questions that several causes ask."""

    facts: IncidentFacts

    @property
    def birth(self) -> Birth:
        """The birth; an empty one of kind `uninitialised` direction `input` never matches a rule."""
        return self.facts.birth or Birth(op=None, direction="input", kind="input", input_name="")

    @property
    def ops(self) -> frozenset[str]:
        """The base names of the op of birth and, inside a fused one, of the op of its decomposition."""
        return frozenset(filter(None, (base(self.birth.op), base(self.birth.inner_op))))

    def born(self, direction: str, *ops: str) -> bool:
        """True if the value was born in that direction, in one of those ops (in any if none is given)."""
        return (
            self.facts.birth is not None
            and self.birth.direction == direction
            and (not ops or bool(self.ops & set(ops)))
        )

    @property
    def attention(self) -> bool:
        """True if the op of birth is a fused attention; its first inputs are query, key, value, then the mask."""
        return any(
            op.startswith(
                ("scaled_dot_product", "native_multi_head_attention", "flash_attention", "efficient_attention")
            )
            for op in self.ops
        )

    @property
    def by_zero(self) -> bool:
        """True if the op divides by 0, or takes the logarithm or inverse root of 0, at every bad place."""
        name = base(self.birth.op)
        place = (
            0
            if name in ("reciprocal", "rsqrt", "log", "log2", "log10")
            else 1
            if name in ("div", "true_divide")
            else 2
            if name == "addcdiv"
            else None
        )
        return place is not None and bool(self.at(place)) and all(v == 0 for v in self.at(place))

    @property
    def dtype(self) -> str:
        """The dtype of the output of birth, "" if unknown."""
        return plain_dtype(self.birth.output.dtype) if self.birth.output else ""

    @property
    def born_inf(self) -> bool:
        """True if the output of birth holds Inf and no NaN: the range was left, nothing undefined was computed."""
        out = self.birth.output
        return self.birth.kind == "overflow" or (out is not None and not out.nan and bool(out.posinf or out.neginf))

    def tensor(self, place: int) -> TensorFacts | None:
        """The input of birth at that place among its tensor inputs."""
        return self.birth.inputs[place] if place < len(self.birth.inputs) else None

    def at(self, place: int) -> tuple[float, ...]:
        """The values of that input at the bad coordinates, as floats."""
        tensor = self.tensor(place)
        return tuple(float(v) for v in tensor.values) if tensor else ()

    def made_by(self, place: int, *words: str) -> bool:
        """True if that input was made by one of those ops, or, where that is not known, if the line of birth calls one
        of them."""
        tensor = self.tensor(place)
        if tensor is not None and tensor.made_by:
            return base(tensor.made_by) in words
        return bool(calls(self.birth.innermost.code if self.birth.innermost else "") & set(words))

    def clamped_at(self, place: int) -> Place | None:
        """The line that made an input exactly 0 by cutting off what lies below (relu), where that is another line than
        the op's: 0 is what it gives, so that is where a bound above 0 belongs."""
        tensor = self.tensor(place)
        at = tensor.made_at if tensor is not None and base(tensor.made_by) in CLAMPS else None
        here = self.birth.frame
        if at is None or here is None or (at.file, at.line) == (here.file, here.line) or any(self.at(place)):
            return None
        param = self.facts.bad_params[0] if self.facts.bad_params else None
        return Place(frame=at, module=self.birth.module, param=param)

    @property
    def op(self) -> str:
        """The op of birth as a sentence names it: `log`; the tensor's name for a bad input."""
        return base(self.birth.op) or self.birth.input_name or "an op"

    def recent(self, name: str) -> tuple[float, ...]:
        """The finite last values of a series, oldest first, the bad one excluded."""
        return tuple(v for v in map(float, self.facts.recent.get(name, [])) if math.isfinite(v))

    def growth(self, name: str) -> float:
        """The last value over the median of those before it (1.0 if there are fewer than 3)."""
        values = self.recent(name)
        if len(values) < 3:
            return 1.0
        middle = statistics.median(abs(v) for v in values[:-1])
        return abs(values[-1]) / middle if middle > 0 else 1.0

    @property
    def written_here(self) -> WeightWrite | None:
        """The program's own write into the parameter that was bad on entry, where a replay begins after it."""
        name = (self.birth.input_name or "").removeprefix("parameter ")
        return next((w for w in self.facts.written if not w.replayed and name in w.params), None)

    @property
    def carried_into_weights(self) -> WeightWrite | None:
        """The program's own write that carried a value from before the step into its weights; None for a bad batch."""
        if self.birth.kind != "input" or (self.birth.input_name or "batch").startswith("batch"):
            return None
        way = {(link.file, link.line) for link in self.birth.chain}
        return next((w for w in self.facts.written if w.replayed and (w.frame.file, w.frame.line) in way), None)

    @property
    def made_place(self) -> Place | None:
        """Where the value the incident began with was made, beside the module it was born in; None where that is not
        known."""
        if not self.facts.made:
            return None
        param = self.facts.bad_params[0] if self.facts.bad_params else None
        return Place(frame=self.facts.made[0], module=self.birth.module if self.birth.op else None, param=param)

    @property
    def made(self) -> str:
        """The lines that made the value as a clause: `, made at data.py:9 -> train.py:20`."""
        return made_at(self.facts.made)

    @property
    def pipeline(self) -> PipelineBirth | None:
        """Where the data pipeline made the batch bad, as far as it was followed."""
        found = self.facts.pipeline
        return found if found is not None and not found.refused else None

    @property
    def few_rows(self) -> bool:
        """True if some rows of the batch are guilty and others are not."""
        rows = self.birth.rows
        of = len(self.facts.loader.indices) if self.facts.loader and self.facts.loader.indices else None
        return bool(rows) and of is not None and len(rows or ()) < of


def calls(code: str) -> frozenset[str]:
    """The names that are called in one line of source; strings and comments do not count."""
    code = re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", code)
    return frozenset(re.findall(r"(\w+)\s*\(", code))


def values(numbers: tuple[float, ...], most: int = 3) -> str:
    """Format distinct values for a sentence: `0, 0, -1.5`."""
    return ", ".join(f"{v:.4g}" for v in list(dict.fromkeys(numbers))[:most])
