"""What arithmetic made a bad value: overflow, domain, inf-inf, 0/0 or 0*inf, decided from the op and the values it
read."""

from __future__ import annotations

import re

from debugtracer.trace.birth import BirthKind, TensorFacts
from debugtracer.trace.number import as_float

DIVIDES = {
    "div": 1,
    "divide": 1,
    "true_divide": 1,
    "floor_divide": 1,
    "remainder": 1,
    "fmod": 1,
    "reciprocal": 0,
    "addcdiv": 2,
}
DOMAIN = {
    "log", "log2", "log10", "log1p", "xlogy", "xlog1py", "sqrt", "rsqrt", "pow", "acos", "asin", "acosh", "atanh",
    "logit", "erfinv", "lgamma", "digamma", "polygamma", "mvlgamma",
    "special_ndtri", "special_zeta", "ndtri", "float_power", "igamma", "igammac", "linalg_cholesky_ex", "linalg_inv_ex",
    "linalg_solve_ex",
}  # fmt: skip
PRODUCTS = {
    "mul",
    "multiply",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "matmul",
    "mv",
    "addmv",
    "dot",
    "vdot",
    "convolution",
    "convolution_backward",
    "addcmul",
    "prod",
    "cumprod",
    "linear",
}
MEANS = {"mean", "nanmean", "nll_loss_forward", "nll_loss2d_forward", "var", "std", "var_mean", "std_mean",
    "native_layer_norm", "native_group_norm", "native_batch_norm",
         "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm", "mse_loss", "binary_cross_entropy",
         "smooth_l1_loss", "huber_loss",
         "_embedding_bag", "avg_pool2d"}  # fmt: skip
# of MEANS, those that square what they read (in float32 or wider, whatever the dtype of the input)
SQUARES = {"var", "std", "var_mean", "std_mean", "native_layer_norm", "native_group_norm", "native_batch_norm",
           "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm", "mse_loss"}  # fmt: skip
LARGEST_SQUARED = {"float64": 1.3e154}  # the square root of the largest number, of all others that of float32
SOFTMAX = {
    "softmax",
    "log_softmax",
    "safe_softmax",
    "masked_softmax",
    "logsumexp",
    "logcumsumexp",
    "logaddexp",
    "sub",
    "rsub",
}


def base(op: str) -> str:
    """Return the bare op name: `addcdiv` for `aten::_foreach_addcdiv_`."""
    name = op.split("::")[-1]
    name = name.removeprefix("_foreach_") if name.startswith("_foreach_") else name
    return name.rstrip("_") if not name.startswith("_native") else name


def reported(op: str) -> str:
    """The op as a birth names it: `_foreach_x_` is `x`, the rest stays."""
    return re.sub(r"^aten::_foreach_(\w+?)_?$", r"aten::\1", op)


def short(op: str) -> str:
    """Return the base name without the underscore in front."""
    return base(op).lstrip("_")


def masks_by_design(op: str) -> bool:
    """True for ops in which -inf means `leave this out`: a NaN out of them is their own, not their input's."""
    name = short(op)
    return name in SOFTMAX or "attention" in name or "softmax" in name


def kind_of(
    op: str, nan: bool, infinite_inputs: bool, inputs: tuple[TensorFacts, ...], half_update: bool = False
) -> BirthKind:
    """The kind of an event; `inputs` carry the values at the bad coordinates."""
    name = short(op)
    if infinite_inputs and nan:
        return (
            "0*inf" if name in PRODUCTS or name in DIVIDES else "domain" if name in ("sin", "cos", "tan") else "inf-inf"
        )
    if name in DIVIDES:
        return division(DIVIDES[name], nan, inputs)
    if name.startswith("fused_"):
        return "0/0" if nan else "domain" if half_update else "overflow"
    if not nan:
        return "domain" if name in DOMAIN and not grew(name, inputs) else "overflow"
    if name in MEANS or base(op) in MEANS:
        return "overflow" if squares_overflow(name, base(op), inputs) else "0/0"
    if name in PRODUCTS or masks_by_design(op):
        return "overflow"  # finite inputs: the inside of the op left the range
    return "domain"


def squares_overflow(name: str, full: str, inputs: tuple[TensorFacts, ...]) -> bool:
    """True where the op squares its first input, and the squares leave the range although the values do not."""
    if not inputs or not {name, full} & SQUARES:
        return False
    largest = max((abs(as_float(end)) for end in (inputs[0].low, inputs[0].high) if end is not None), default=0.0)
    return largest > LARGEST_SQUARED.get(inputs[0].dtype, 1.8e19)


def division(place: int, nan: bool, inputs: tuple[TensorFacts, ...]) -> BirthKind:
    """Classify a division: x/0 is outside the domain, 0/0 has no value, and a quotient of finite numbers overflows."""
    if nan:
        return "0/0"
    divisor = inputs[place].values if place < len(inputs) else ()
    return "domain" if any(float(v) == 0 for v in divisor) or (not divisor and place >= len(inputs)) else "overflow"


def grew(name: str, inputs: tuple[TensorFacts, ...]) -> bool:
    """True for pow of a base other than 0, which is an overflow, not a pole."""
    return (
        name in ("pow", "float_power")
        and bool(inputs)
        and bool(inputs[0].values)
        and all(float(v) != 0 for v in inputs[0].values)
    )
