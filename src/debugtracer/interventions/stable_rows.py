"""The stable forms of recorded operators: the tensors of an op changed in memory before it runs, so that its derivative
sees the same values."""

from __future__ import annotations

from typing import Any

import msgspec
from torch import Tensor

from debugtracer.interventions.eps_rows import with_eps
from debugtracer.interventions.offline_rerun import Before, OfflineRerun, as_argument, number_of
from debugtracer.interventions.stable_forms import FORMS, LOSS, MEAN, NORMALISE, Form, away_from_zero
from debugtracer.recorder.capsule.recorded import OpRow
from debugtracer.trace.birth import Birth

ALIASES = {
    "linalg_vector_norm": "norm", "cdist_forward": "cdist", "euclidean_dist": "cdist", "safe_softmax": "softmax",
    "masked_softmax": "softmax", "scaled_dot_product_flash_attention_for_cpu": "scaled_dot_product_attention",
    "scaled_dot_product_efficient_attention": "scaled_dot_product_attention", "nll_loss_forward": "nll_loss",
    "nll_loss2d_forward": "nll_loss", "native_layer_norm": "layer_norm", "native_batch_norm": "batch_norm",
    "cudnn_batch_norm": "batch_norm", "native_batch_norm_legit": "batch_norm", "native_group_norm": "group_norm",
    "fused_rms_norm": "rms_norm",
}  # fmt: skip
"""Aten operators whose stable form is that of the torch function."""
LEAST_EPS = 1e-5  # what the normalisations of torch take when nothing is said


def alias(name: str) -> str:
    """The torch function whose form a recorded operator has."""
    return ALIASES.get(name, name)


def form_of(name: str) -> Form | None:
    """The stable form of a recorded operator by its bare name."""
    return FORMS.get(alias(name))


def rows_at(tape: OfflineRerun, birth: Birth, names: frozenset[str]) -> list[tuple[int, OpRow, str]]:
    """The forward ops of these names on the guilty line; the operator of birth alone where it has a stable form
    itself."""
    frame = birth.frame
    found = []
    for number, row, name, place in tape.ops():
        here = tape.program.frames[place.frames[0]] if place.frames else None
        inside = tape.program.frames[place.library] if place.library is not None else None
        same = here is not None and frame is not None and (here.file, here.line) == (frame.file, frame.line)
        same = same and inside == birth.library
        if (
            same
            and place.forward_op is None
            and place.direction != "update"
            and name in names
            and form_of(name) is not None
            and not harmless(row, name)
        ):
            found.append((number, row, name))
    own = {(op or "").split("::")[-1].strip("_") for op in (birth.op, birth.inner_op)}
    return [one for one in found if one[2] in own] or found


def harmless(row: OpRow, name: str) -> bool:
    """True for a whole power that is not negative, which is defined everywhere."""
    power = number_of(row.args[1]) if name == "pow" and len(row.args) > 1 else None
    return power is not None and power >= 0 and power.is_integer()


def stabilise(tape: OfflineRerun, number: int, row: OpRow, name: str, eps: float) -> str:
    """Ask for the stable form of one op; the answer is its words."""
    form = form_of(name)
    assert form is not None
    divisor = number_of(row.args[1]) if name == "div" and len(row.args) > 1 else None
    if form is NORMALISE:
        with_eps(tape, number, row, max(eps, LEAST_EPS))
    elif form is MEAN:
        tape.after.setdefault(number, []).append(zero_where_empty)
    elif form is LOSS:
        tape.after.setdefault(number, []).append(count_one)
    elif divisor is not None:
        divide_by(tape, row, float(away_from_zero(divisor, eps)))
    else:
        tape.before.setdefault(number, []).append(in_memory(tape, form, name, eps))
        tape.doubts.append(
            lambda: (
                ""
                if tape.values_changed
                else f"every value that {name} reads there is one that its stable form leaves as it is"
            )
        )
        return form.words
    tape.values_changed += 1
    return form.words


def divide_by(tape: OfflineRerun, divided: OpRow, divisor: float) -> None:
    """Replace the divisor of an op, and of its derivative, which has it among its own arguments."""
    line = tape.program.places[divided.place].frames[:1]
    for number, row, name, place in tape.ops():
        if (
            name == "div"
            and row.args[1] == divided.args[1]
            and place.frames[:1] == line
            and (row is divided or place.direction == "backward")
        ):
            tape.other[number] = msgspec.structs.replace(row, args=[row.args[0], as_argument(divisor), *row.args[2:]])


def in_memory(tape: OfflineRerun, form: Form, name: str, eps: float) -> Before:
    """The change that the live form makes to the arguments of its call, written into their memory."""

    def change(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        def take(*changed: Any, **named: Any) -> None:
            for old, new in [
                *zip(args, changed, strict=False),
                *((kwargs[key], value) for key, value in named.items() if key in kwargs),
            ]:
                if isinstance(old, Tensor) and isinstance(new, Tensor) and new is not old:
                    tape.values_changed += int((old != new).sum())
                    write(old, new)

        take.__name__ = name
        # logsumexp takes a list of one
        dims = tuple(a[0] if n == 1 and isinstance(a, list) and len(a) == 1 else a for n, a in enumerate(args))
        form.run(take, dims, dict(kwargs), eps)

    return change


def write(tensor: Tensor, values: Tensor) -> None:
    """Write values into the memory of a tensor; an expanded dimension has it once."""
    for dim, stride in enumerate(tensor.stride()):
        if stride == 0 and tensor.shape[dim] > 1:
            tensor, values = tensor.narrow(dim, 0, 1), values.narrow(dim, 0, 1)
    tensor.copy_(values)


def zero_where_empty(outs: list[Tensor | None]) -> None:
    """Replace NaN by 0, the mean of nothing."""
    for tensor in outs:
        if tensor is not None:
            tensor.nan_to_num_(nan=0.0)


def count_one(outs: list[Tensor | None]) -> None:
    """Make (loss, total weight) of no target 0 and 1."""
    loss, weight = outs[0], outs[1]
    if loss is not None and weight is not None and weight.dim() == 0 and not bool(weight):
        loss.zero_()
        weight.fill_(1)
