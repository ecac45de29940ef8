"""What torch functions make of a value: one row each, the same for `torch.f(x)`, `F.f(x)` and `x.f()`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from debugtracer.source.value import INF, TENSOR, TINY, Point, Value, clamped, mapped, powered, squared


class Given(Protocol):
    """The further arguments of a call."""

    def value(self, position: int, *keywords: str) -> Value | None:
        """The value of one, None if it is not given. Position 0 is the first after the tensor."""


Transfer = Callable[[Value, Given], Value]

SOFTMAX = (
    Point(0.0, "softmax is exactly 0 for a score 104 below the largest"),
    Point(1.0, "softmax is exactly 1 for a score 17 above the others"),
)
SIGMOID = (Point(0.0, "sigmoid is exactly 0 below -104"), Point(1.0, "sigmoid is exactly 1 above 17"))
TANH = (Point(-1.0, "tanh is exactly -1 below -10"), Point(1.0, "tanh is exactly 1 above 10"))
SAME = frozenset({
    "view", "view_as", "reshape", "reshape_as", "squeeze", "unsqueeze", "permute", "transpose", "swapaxes", "swapdims",
    "movedim", "t", "flatten", "unflatten", "ravel", "expand", "expand_as", "broadcast_to", "repeat",
    "repeat_interleave", "tile", "atleast_1d", "atleast_2d", "contiguous", "clone", "pin_memory", "to", "type",
    "type_as", "float", "double", "half", "bfloat16", "long", "int", "cpu", "cuda", "numpy", "tensor", "as_tensor",
    "from_numpy", "gather", "index_select", "narrow", "select", "unbind", "chunk", "split", "sort", "topk", "flip",
    "roll", "diagonal", "diag", "triu", "tril", "dropout", "dropout2d", "alpha_dropout", "identity", "requires_grad_",
    "retain_grad",
})  # fmt: skip
NUMBERS = frozenset(
    ("size", "dim", "numel", "nelement", "stride", "ndimension", "element_size", "data_ptr", "get_device")
)


def summed(x: Value, given: Given) -> Value:
    """A sum: of squares zero for a row of zeros, of a mask zero where nothing is selected."""
    if x.form == "bool":
        return Value(
            True,
            0.0,
            INF,
            (Point(0.0, "it counts, and is 0 when no element is selected"),),
            form="count",
            detached=True,
        )
    if x.form in ("squares", "sum_of_squares"):
        return Value(
            True,
            0.0,
            INF,
            (Point(0.0, "it is 0 for a row of zeros, or two equal rows"),),
            form="sum_of_squares",
            detached=x.detached,
        )
    form = "exp_sum" if x.form in ("exp", "exp_sum") else "sum"
    return (
        Value(True, 0.0 if x.low >= 0 else -INF, INF if x.high > 0 else 0.0, (), x.free, form, x.detached)
        if x.low <= 0
        else replace(x, high=INF, points=(), form=form)
    )


def averaged(x: Value, given: Given) -> Value:
    """A mean keeps bounds; what single elements reach, a mean seldom does."""
    if x.form == "bool":
        return replace(x, form="")
    if x.form in ("squares", "sum_of_squares"):
        whole = given.value(0, "dim") is None
        return replace(x, points=(Point(0.0, "it is 0 when all are 0", weak=whole),), form="mean_of_squares")
    return replace(x, tensor=x.tensor is not False, points=(), form="mean")


def extreme(x: Value, given: Given) -> Value:
    """Return the largest or smallest element."""
    return replace(x, points=(), form="max")


def norm(x: Value, given: Given) -> Value:
    """A norm; one of numbers drawn at random or selected by a condition is not 0."""
    if x.form == "nonzero":
        return Value(True, 0.0, INF, form="norm", detached=x.detached)
    return Value(
        True, 0.0, INF, (Point(0.0, "the norm of a vector of zeros is 0", weak=True),), form="norm", detached=x.detached
    )


def spread(x: Value, given: Given) -> Value:
    """A standard deviation or variance; that of a whole tensor is 0 only for a constant one."""
    if x.form == "nonzero":
        return Value(x.tensor, 0.0, INF, form="spread", detached=x.detached)
    whole = given.value(0, "dim") is None
    return Value(
        x.tensor,
        0.0,
        INF,
        (Point(0.0, "it is 0 where all values are equal", weak=whole),),
        form="spread",
        detached=x.detached,
    )


def exponential(x: Value, given: Given) -> Value:
    """Return what exp gives: never negative; it overflows above 88.7 unless its argument is bounded."""
    high = math.exp(x.high) if x.high < 80 else INF
    low = math.exp(x.low) if -80 < x.low < 80 else TINY
    points = tuple(replace(p, at=math.exp(p.at)) for p in x.points if p.at < 80)
    return Value(x.tensor, max(low, TINY), high, points, form="" if x.high < 80 else "exp", detached=x.detached)


def clamp(x: Value, given: Given) -> Value:
    """Bound the value by position or name of both limits."""
    return clamped(x, given.value(0, "min", "a_min"), given.value(1, "max", "a_max"))


def clamp_min(x: Value, given: Given) -> Value:
    """Bound the value from below."""
    return clamped(x, given.value(0, "min", "other"), None)


def clamp_max(x: Value, given: Given) -> Value:
    """Bound the value from above."""
    return clamped(x, None, given.value(0, "max", "other"))


def raised(x: Value, given: Given) -> Value:
    """A power with a constant exponent."""
    exponent = given.value(0, "exponent")
    return (
        powered(x, exponent.constant)
        if exponent is not None and exponent.constant is not None
        else Value(x.tensor, detached=x.detached)
    )


def filled(x: Value, given: Given) -> Value:
    """Return an unknown tensor: a masked_fill is taken for a guard."""
    return Value(True, detached=x.detached)


def relu(x: Value, given: Given) -> Value:
    """Return what relu gives: exactly zero for every negative argument."""
    if x.low >= 0:
        return replace(x, tensor=True)
    return Value(
        True,
        0.0,
        max(x.high, 0.0),
        (Point(0.0, "relu is exactly 0 for every negative argument", blocked=True),),
        detached=x.detached,
    )


def root(x: Value, given: Given) -> Value:
    """Return what sqrt gives, a norm for a sum or mean of squares."""
    return mapped(
        x, lambda v: math.sqrt(max(v, 0.0)), 0.0, INF, "norm" if x.form in ("sum_of_squares", "mean_of_squares") else ""
    )


def logarithm(x: Value, given: Given) -> Value:
    """Return what log gives: not above 0 for what is not above 1."""
    return Value(x.tensor, -INF, 0.0 if x.high <= 1 else INF, form="log", detached=x.detached)


def fixed(low: float, high: float, points: tuple[Point, ...] = (), form: str = "") -> Transfer:
    """A function with a range of its own."""
    return lambda x, given: Value(True, low, high, points, form=form, detached=x.detached)


def uniform(x: Value, given: Given) -> Value:
    """Return what torch.rand gives, which draws 0 but never 1."""
    return Value(
        True, 0.0, 1.0, (Point(0.0, "torch.rand draws exactly 0 about once in 16 million numbers"),), detached=True
    )


def detach(x: Value, given: Given) -> Value:
    """The same numbers without a gradient."""
    return replace(x, detached=True)


def as_number(x: Value, given: Given) -> Value:
    """Return the value as a detached Python number."""
    return replace(x, tensor=False, detached=True)


FUNCTIONS: dict[str, Transfer] = {
    **dict.fromkeys(("softmax", "softmin", "gumbel_softmax"), fixed(0, 1, SOFTMAX, "softmax")),
    "log_softmax": fixed(-INF, 0, form="log_softmax"),
    "logsigmoid": fixed(-INF, 0, form="log_softmax"),
    **dict.fromkeys(("sigmoid", "sigmoid_", "expit"), fixed(0, 1, SIGMOID, "sigmoid")),
    "hardsigmoid": fixed(
        0, 1, (Point(0.0, "hardsigmoid is exactly 0 below -3"), Point(1.0, "hardsigmoid is exactly 1 above 3"))
    ),
    **dict.fromkeys(("tanh", "tanh_"), fixed(-1, 1, TANH)),
    **dict.fromkeys(("sin", "cos"), fixed(-1, 1)),
    "softplus": fixed(TINY, INF),
    "cosine_similarity": fixed(
        -1,
        1,
        (
            Point(1.0, "the cosine of two equal directions is 1"),
            Point(-1.0, "the cosine of two opposite directions is -1"),
        ),
    ),
    "normalize": fixed(-1, 1, form="unit"),
    "one_hot": fixed(0, 1, (Point(0.0, "one_hot is 0 in all places but one"), Point(1.0, "one_hot is 1 in one place"))),
    **dict.fromkeys(("rand", "rand_like"), uniform),
    **dict.fromkeys(
        ("randn", "randn_like", "normal", "normal_"), lambda x, given: Value(True, form="nonzero", detached=True)
    ),
    **dict.fromkeys(("relu", "relu_"), relu),
    "relu6": fixed(0, 6, (Point(0.0, "relu6 is exactly 0 for every negative argument", blocked=True),)),
    **dict.fromkeys(("exp", "exp_"), exponential),
    **dict.fromkeys(("log", "log2", "log10"), logarithm),
    **dict.fromkeys(("sqrt", "sqrt_"), root),
    **dict.fromkeys(("square", "square_"), lambda x, given: squared(x)),
    **dict.fromkeys(("pow", "pow_"), raised),
    **dict.fromkeys(
        ("abs", "absolute", "abs_"),
        lambda x, given: replace(mapped(x, abs, 0.0, INF), low=0.0, high=max(abs(x.low), abs(x.high))),
    ),
    **dict.fromkeys(("sum", "nansum", "cumsum"), summed),
    **dict.fromkeys(("mean", "nanmean"), averaged),
    **dict.fromkeys(("max", "min", "amax", "amin", "median", "quantile"), extreme),
    "logsumexp": lambda x, given: Value(True, form="max", detached=x.detached),
    **dict.fromkeys(("norm", "vector_norm"), norm),
    **dict.fromkeys(("std", "var", "nanstd"), spread),
    "dist": norm,
    **dict.fromkeys(("clamp", "clip", "clamp_"), clamp),
    **dict.fromkeys(("clamp_min", "clamp_min_", "maximum"), clamp_min),
    **dict.fromkeys(("clamp_max", "clamp_max_", "minimum"), clamp_max),
    **dict.fromkeys(
        ("masked_fill", "masked_fill_", "nan_to_num", "masked_scatter", "where", "index_fill", "scatter", "put"), filled
    ),
    **dict.fromkeys(
        ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isfinite", "isinf", "logical_not", "logical_and", "logical_or"),
        fixed(0, 1, form="bool"),
    ),
    **dict.fromkeys(
        ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),
        fixed(0, INF, (Point(0.0, "the loss of a perfect prediction is 0", weak=True),), "loss"),
    ),
    **dict.fromkeys(
        ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
        fixed(0, INF, form="loss"),
    ),
    **dict.fromkeys(("ones", "ones_like", "eye"), lambda x, given: Value(True, form="nonzero", detached=True)),
    "detach": detach,
    **dict.fromkeys(("item", "tolist"), as_number),
    **dict.fromkeys(SAME, lambda x, given: replace(x, tensor=True)),
}
LINEAR = frozenset({
    "Linear", "LazyLinear", "Bilinear", "Embedding", "BatchNorm1d", "BatchNorm2d", "LayerNorm", "Conv1d", "Conv2d",
    "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
})  # fmt: skip
ACTIVATIONS = {
    "Softmax": "softmax", "Softmax2d": "softmax", "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid", "Tanh": "tanh",
    "ReLU": "relu", "ReLU6": "relu6", "Softplus": "softplus", "Hardsigmoid": "hardsigmoid", "LogSigmoid": "logsigmoid",
    "Dropout": "dropout", "Identity": "identity", "Flatten": "flatten", "Unflatten": "unflatten", "MSELoss": "mse_loss",
    "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CosineSimilarity": "cosine_similarity",
}  # fmt: skip


def of_layer(name: str, x: Value, given: Given) -> Value:
    """What a module of torch.nn gives."""
    if name in LINEAR:
        return Value(True, free=f"{name} gives any real number")
    function = FUNCTIONS.get(ACTIVATIONS.get(name, ""))
    return TENSOR if function is None else replace(function(x, given), tensor=True)
