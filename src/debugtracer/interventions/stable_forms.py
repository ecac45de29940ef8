"""The stable form of each fragile torch function: the same value inside the domain, a finite one with a finite gradient
at its edge."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.recorder.tape.entry import HALF

Run = Callable[[Any, tuple[Any, ...], dict[str, Any], float], Any]


@dataclass(frozen=True)
class Form:
    """How a call is made stable, and the words for it; `{eps}` and `{sqrt_eps}` stand for the numbers."""

    words: str
    run: Run


def clamped(low: float | None = 0.0, high: float | None = None, squared: bool = False) -> Run:
    """The first tensor kept eps (eps squared for roots) inside [low, high]."""

    def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
        margin = eps * eps if squared else eps
        return on_first(
            func,
            args,
            kwargs,
            lambda x: x.clamp(
                None if low is None else low + fit(margin, x), None if high is None else high - fit(eps, x)
            ),
        )

    return run


def fit(eps: float, like: Tensor) -> float:
    """An epsilon that the dtype can hold: not below its smallest normal number."""
    return max(eps, torch.finfo(like.dtype).tiny)


def on_first(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[Tensor], Tensor]) -> Any:
    """The call with its first floating tensor changed."""
    if args and isinstance(args[0], Tensor) and args[0].is_floating_point():
        return func(change(args[0]), *args[1:], **kwargs)
    for key in ("input", "self"):
        if isinstance(kwargs.get(key), Tensor):
            return func(*args, **{**kwargs, key: change(kwargs[key])})
    return func(*args, **kwargs)


def divided(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A divisor nearer to 0 than eps becomes eps with its sign; `a.__rtruediv__(b)` divides by a."""
    places = [*args]
    which = 0 if func.__name__.strip("_") in ("rtruediv", "rdiv", "rfloordiv", "rmod") else 1
    if which < len(places):
        places[which] = away_from_zero(places[which], eps, places[1 - which])
        return func(*places, **kwargs)
    return func(*args, **{**kwargs, "other": away_from_zero(kwargs.get("other"), eps, places[0] if places else None)})


def away_from_zero(divisor: Any, eps: float, like: Any = None) -> Any:
    """The same, never nearer to 0 than eps; a count of 0 becomes 1."""
    if not isinstance(divisor, Tensor):
        return divisor if not isinstance(divisor, (int, float)) or divisor else (1 if isinstance(divisor, int) else eps)
    if not divisor.is_floating_point():
        return divisor.clamp_min(1)
    small = fit(eps, divisor)
    return torch.where(divisor.abs() < small, torch.where(divisor < 0, -small, small).to(divisor.dtype), divisor)


def powered(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A fractional power of a base that is at least eps, a negative whole power of one that is not near 0; other whole
    powers need nothing."""
    power = args[1] if len(args) > 1 else kwargs.get("exponent")
    if func.__name__.strip("_") == "rpow":
        return exponent(func, args, kwargs, eps)
    if isinstance(power, (int, float)) and float(power).is_integer():
        return func(*args, **kwargs) if power >= 0 else on_first(func, args, kwargs, lambda x: away_from_zero(x, eps))
    return on_first(func, args, kwargs, lambda x: x.clamp_min(fit(eps, x)))


def exponent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """An exponent whose result stays below the square root of the range."""
    return on_first(func, args, kwargs, lambda x: x.clamp_max(0.5 * math.log(torch.finfo(x.dtype).max)))


def root_of_squares(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A norm or a standard deviation of values that are moved away from all being zero or equal."""

    def moved(x: Tensor) -> Tensor:
        step = torch.arange(x.numel(), device=x.device).reshape(x.shape).remainder(2).to(x.dtype) * 2 - 1
        return x + fit(eps, x) * step

    return on_first(func, args, kwargs, moved)


def softmaxed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A row without any finite score is uniform; other scores are kept below the square root of the range."""

    def filled(x: Tensor) -> Tensor:
        dim = next((a for a in (*args[1:2], kwargs.get("dim")) if isinstance(a, int)), -1)
        nothing = (x == -math.inf).all(dim=dim, keepdim=True)
        limit = math.sqrt(torch.finfo(x.dtype).max)
        return torch.where(
            nothing, torch.zeros_like(x), torch.nan_to_num(x, nan=0.0, posinf=limit, neginf=-math.inf).clamp_max(limit)
        )

    return on_first(func, args, kwargs, filled)


def attended(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A query whose every key is masked sees all of them."""
    places, named = list(args), dict(kwargs)
    mask = places[3] if len(places) > 3 else named.get("attn_mask")
    if isinstance(mask, Tensor):
        nothing = ~mask.any(-1, keepdim=True) if mask.dtype == torch.bool else (mask == -math.inf).all(-1, keepdim=True)
        mask = mask | nothing if mask.dtype == torch.bool else torch.where(nothing, torch.zeros_like(mask), mask)
        if len(places) > 3:
            places[3] = mask
        else:
            named["attn_mask"] = mask
    return func(*places, **named)


def attended_by_heads(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """Call `multi_head_attention_forward` with masks opened where they hide every key (by True or -inf)."""

    def opened(mask: Any) -> Any:
        if not isinstance(mask, Tensor):
            return mask
        nothing = (mask if mask.dtype == torch.bool else mask == -math.inf).all(-1, keepdim=True)
        return torch.where(nothing, torch.zeros_like(mask), mask)

    return func(
        *args,
        **{
            name: opened(value) if name in ("key_padding_mask", "attn_mask") else value
            for name, value in kwargs.items()
        },
    )


def without_infinity(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """Call `ctc_loss` with 0 for a target that the input is too short for."""
    return func(*args[:6], **{**kwargs, "zero_infinity": True})


def averaged(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """Replace NaN by 0, the mean of nothing."""
    first = args[0] if args else kwargs.get("input")
    if isinstance(first, Tensor) and not first.numel():
        return first.sum()
    return func(*args, **kwargs)


def counted_loss(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A mean over targets of which none counts is 0; probabilities and scores are kept finite."""
    names = dict(kwargs)
    if names.get("reduction", "mean") != "mean":
        return func(*args, **kwargs)
    total = func(*args, **{**names, "reduction": "sum"})
    mean = func(*args, **kwargs)
    return mean if bool(torch.isfinite(mean)) or not bool(torch.isfinite(total)) else total


def normed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], eps: float) -> Any:
    """A normalisation computed in float32 at least, with an eps that is not lost."""
    x = args[0]
    floor = max(eps, 1e-5)
    if func.__name__ == "layer_norm":
        shape, weight, bias = (
            (*args[1:4], *(None,) * 3)[:3] if len(args) > 1 else (kwargs["normalized_shape"], None, None)
        )
        weight, bias = kwargs.get("weight", weight), kwargs.get("bias", bias)
        wide = [t.float() if isinstance(t, Tensor) and t.dtype in HALF else t for t in (x, weight, bias)]
        return F.layer_norm(wide[0], shape, wide[1], wide[2], floor).to(x.dtype)
    return func(*args, **{**kwargs, "eps": floor}) if "eps" in kwargs else func(*args, **kwargs)


LOG = Form("clamp_min({eps}) before the logarithm", clamped(0.0))
ROOT = Form("clamp_min({sqrt_eps}) before the root", clamped(0.0, squared=True))
DIVIDE = Form("a divisor of at least {eps}", divided)
ARC = Form("clamp(-1 + {eps}, 1 - {eps}) before the arc", clamped(-1.0, 1.0))
POWER = Form("clamp_min({eps}) before the power", powered)
EXP = Form("the exponent clamped to half of its range", exponent)
NORM = Form("the norm of values moved by {eps}", root_of_squares)
SOFTMAX = Form("softmax over rows that keep a score", softmaxed)
ATTEND = Form("attention with a mask that leaves a key", attended)
HEADS = Form("attention with masks that leave a key", attended_by_heads)
CTC = Form("zero_infinity=True", without_infinity)
MEAN = Form("0 for the mean of nothing", averaged)
LOSS = Form("0 for the mean of no target", counted_loss)
NORMALISE = Form("normalised in float32 with eps of at least 1e-05", normed)

FORMS: dict[str, Form] = {
    **dict.fromkeys(("log", "log2", "log10"), LOG),
    "log1p": Form("clamp_min(-1 + {eps}) before log1p", clamped(-1.0)),
    "logit": Form("clamp({eps}, 1 - {eps}) before logit", clamped(0.0, 1.0)),
    **dict.fromkeys(("sqrt", "rsqrt"), ROOT),
    **dict.fromkeys(("div", "divide", "true_divide", "truediv", "floor_divide", "idiv", "itruediv", "fmod",
        "remainder"), DIVIDE),
    "reciprocal": Form("a divisor of at least {eps}", lambda f, a, k,
        eps: on_first(f, a, k, lambda x: away_from_zero(x, eps))),
    **dict.fromkeys(("acos", "arccos", "asin", "arcsin", "atanh", "arctanh", "erfinv"), ARC),
    "acosh": Form("clamp_min(1 + {eps}) before acosh", clamped(1.0)),
    **dict.fromkeys(("pow", "float_power", "ipow"), POWER),
    **dict.fromkeys(("exp", "expm1", "exp2", "sinh", "cosh"), EXP),
    **dict.fromkeys(("norm", "vector_norm", "linalg_norm", "linalg_vector_norm", "cdist", "pairwise_distance",
        "normalize", "cosine_similarity"), NORM),
    **dict.fromkeys(("std", "var", "std_mean", "var_mean"), NORM),
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp", "softmin"), SOFTMAX),
    "scaled_dot_product_attention": ATTEND,
    "multi_head_attention_forward": HEADS,
    "ctc_loss": CTC,
    "mean": MEAN,
    **dict.fromkeys(("cross_entropy", "nll_loss", "nll_loss_nd"), LOSS),
    **dict.fromkeys(("layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm"), NORMALISE),
}  # fmt: skip

FAMILIES: tuple[frozenset[str], ...] = tuple(
    map(
        frozenset,
        (
            {"log", "log2", "log10", "log1p", "xlogy", "logit", "mul"},
            {"sqrt", "rsqrt", "std", "var", "norm", "pow", "vector_norm", "linalg_norm"},
            {"div", "divide", "true_divide", "truediv", "idiv", "itruediv", "floor_divide", "reciprocal", "mul",
             "rsqrt", "fmod", "remainder", "mean"},
            {"acos", "arccos"}, {"asin", "arcsin"}, {"atanh", "arctanh"}, {"acosh"}, {"erfinv"},
            {"pow", "float_power", "ipow"},
            {"exp", "expm1", "exp2", "sinh", "cosh"},
            {"linalg_vector_norm", "norm", "vector_norm", "linalg_norm", "pairwise_distance", "normalize",
             "cosine_similarity"},
            {"cdist_forward", "cdist", "euclidean_dist", "pairwise_distance"},
            {"std", "var", "std_mean", "var_mean"},
            {"softmax", "log_softmax", "logsumexp", "softmin", "masked_softmax", "safe_softmax", "cross_entropy",
             "nll_loss", "multi_head_attention_forward"},
            {"ctc_loss"},
            {"scaled_dot_product_attention", "scaled_dot_product_flash_attention_for_cpu",
             "scaled_dot_product_flash_attention", "scaled_dot_product_efficient_attention",
             "multi_head_attention_forward"},
            {"mean"},
            {"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss_nd", "cross_entropy"},
            {"native_layer_norm", "layer_norm"}, {"rms_norm"}, {"native_batch_norm", "batch_norm", "cudnn_batch_norm"},
            {"native_group_norm", "group_norm"},
        ),
    )
)  # fmt: skip
"""Aten operators with the torch functions that run them; one call may run under several names."""
