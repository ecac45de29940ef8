"""What a torch function means for the tape: recorded, ignored, a constant, random, in place, or a read of a value."""

from __future__ import annotations

import enum
from typing import Any

import torch
from torch import Tensor


class FunctionMeaning(enum.IntEnum):
    """How the tape treats one torch function."""

    IGNORE = 0  # gives no tensor and changes none: sizes, dtypes, printing
    RECORD = 1  # deterministic: executed again on replay
    RANDOM = 2  # executed again with the generator state it had
    DRAW = 3  # its result is kept as a value (factories of random numbers)
    INPLACE = 4  # changes its first argument
    PEEK = 5  # the user's own look at a value: isnan(loss), loss.item()
    OPAQUE = 6  # must not be taped: backward and friends have hooks of their own


PEEKS = {"item", "__float__", "isnan", "isfinite", "isinf", "tolist", "__bool__", "is_nonzero", "__int__", "__format__"}
IGNORED = {
    "__repr__",
    "__str__",
    "__len__",
    "__hash__",
    "size",
    "dim",
    "numel",
    "stride",
    "storage_offset",
    "data_ptr",
    "is_contiguous",
    "element_size",
    "nelement",
    "is_floating_point",
    "is_complex",
    "__reduce_ex__",
    "__deepcopy__",
    "register_hook",
    "untyped_storage",
    "storage",
    "is_same_size",
    "get_device",
    "has_names",
    "is_tensor",
    "is_storage",
    "result_type",
    "can_cast",
    "equal",
    "allclose",
    "is_shared",
    "is_pinned",
    "backward",
    "__dlpack__",
    "__dir__",
    "_is_view",
}
RANDOMS = {
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
    "feature_dropout",
    "rrelu",
    "gumbel_softmax",
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "native_dropout",
    "_safe_softmax",
}
DRAWS = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "bernoulli",
    "multinomial",
    "normal",
    "poisson",
    "binomial",
    "_sample_dirichlet",
    "_standard_gamma",
}
RANDOM_INPLACE = {
    "uniform_",
    "normal_",
    "random_",
    "exponential_",
    "bernoulli_",
    "cauchy_",
    "geometric_",
    "log_normal_",
    "dropout_",
    "alpha_dropout_",
    "rrelu_",
}
NOT_INPLACE = {"requires_grad_", "share_memory_", "retain_grad", "detach_", "pin_memory"}

known: dict[Any, FunctionMeaning] = {}


def meaning(function: Any) -> FunctionMeaning:
    """The meaning of a torch function, remembered per function object."""
    try:
        found = known.get(function)
    except TypeError:
        return decide(function)
    if found is None:
        found = known[function] = decide(function)
    return found


def decide(function: Any) -> FunctionMeaning:
    """The meaning by name: properties arrive as their `__get__`."""
    name = getattr(function, "__name__", "")
    if name == "__get__":
        return (
            FunctionMeaning.RECORD
            if property_name(function) in {"grad", "data", "T", "mT", "H", "mH", "real", "imag"}
            else FunctionMeaning.IGNORE
        )
    if name in {"__set__", "__delete__"}:
        return FunctionMeaning.INPLACE if property_name(function) in {"data", "grad"} else FunctionMeaning.IGNORE
    if name in PEEKS:
        return FunctionMeaning.PEEK
    if name in IGNORED:
        return FunctionMeaning.IGNORE
    if name in DRAWS:
        return FunctionMeaning.DRAW
    if name in RANDOMS:
        return FunctionMeaning.RANDOM
    in_place = name.endswith("_") and not name.endswith("__") and name not in NOT_INPLACE
    if in_place or name in {
        "__setitem__",
        "__iadd__",
        "__isub__",
        "__imul__",
        "__itruediv__",
        "__ipow__",
        "__ifloordiv__",
        "__imod__",
        "__iand__",
        "__ior__",
        "__ixor__",
    }:
        return FunctionMeaning.INPLACE
    return FunctionMeaning.RECORD


def property_name(function: Any) -> str:
    """The name of the tensor property behind a `__get__` or `__set__`."""
    owner = getattr(function, "__self__", None)
    return str(getattr(owner, "__name__", ""))


GRAD_GET: Any = (
    vars(torch._C.TensorBase)["grad"].__get__ if "grad" in vars(torch._C.TensorBase) else Tensor.grad.__get__  # type: ignore[union-attr]
)
