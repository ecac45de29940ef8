"""Computes an expression of the user's once more with the values that its function holds: arithmetic of torch and
Python alone, so that nothing is written, drawn or called twice that the program would notice."""

from __future__ import annotations

import ast
import math
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
PURE = frozenset({
    "abs", "acos", "add", "amax", "amin", "argmax", "argmin", "asin", "atan", "atan2", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "bmm", "cat", "chunk", "clamp", "clamp_max", "clamp_min", "clip",
    "contiguous", "cos", "cosh", "cosine_similarity", "cpu", "cross_entropy", "ctc_loss", "cumprod", "cumsum",
    "detach", "diff", "dim", "dist", "div", "double", "einsum", "exp", "exp2", "expand", "expand_as", "expm1",
    "flatten", "flip", "float", "gather", "gaussian_nll_loss", "ge", "gt", "half", "huber_loss",
    "index_select", "isfinite", "isnan", "item", "kl_div", "l1_loss", "le", "lerp", "linalg_norm", "log",
    "log10", "log1p", "log2", "log_softmax", "logsigmoid", "logsumexp", "long", "lt", "masked_fill",
    "masked_select", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "mm", "mse_loss", "mul",
    "mv", "narrow", "neg", "nll_loss", "norm", "normalize", "numel", "ones_like", "outer", "permute",
    "poisson_nll_loss", "pow", "prod", "reciprocal", "relu", "remainder", "repeat", "reshape", "roll",
    "rsqrt", "select", "sigmoid", "sign", "sin", "sinh", "size", "smooth_l1_loss", "softmax", "softplus", "split",
    "sqrt", "square", "squeeze", "stack", "std", "std_mean", "sub", "sum", "t", "tan", "tanh", "tensor",
    "tile", "to", "topk", "transpose", "tril", "triu", "true_divide", "type_as", "unbind", "unsqueeze", "var",
    "var_mean", "vector_norm", "view", "view_as", "where", "xlogy", "zeros_like",
})  # fmt: skip
"""Functions and methods of torch that give a new value, the same for the same arguments."""
BUILTINS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "float": float, "int": int, "len": len, "max": max, "min": min, "sum": sum,
}  # fmt: skip
READS = frozenset({"T", "mT", "data", "device", "dtype", "ndim", "shape"})
"""Attributes of a tensor."""


class Impure(Exception):
    """The expression holds something that is not computed twice."""


def held_in(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """What a function of the program holds under a name; raises Impure where it holds nothing."""

    def value(name: str) -> Any:
        if name not in values:
            raise Impure
        return values[name]

    return value


def compute(node: ast.expr, name_of: Callable[[str], Any]) -> Any:
    """What an expression gives, its names by `name_of`. Raises Impure, and what the operations raise."""

    def again(part: ast.expr) -> Any:
        return compute(part, name_of)

    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return name_of(node.id)
    if isinstance(node, (ast.Tuple, ast.List)):
        return [again(one) for one in node.elts]
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        left, right = again(node.left), again(node.right)
        return BINARY[type(node.op)](plain(left), plain(right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](plain(again(node.operand)))
    if isinstance(node, ast.Slice):
        return slice(*(None if part is None else again(part) for part in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Subscript):
        index = again(node.slice)
        return plain(again(node.value))[tuple(index) if isinstance(node.slice, ast.Tuple) else index]
    if isinstance(node, ast.Attribute):
        return attribute(again(node.value), node.attr)
    if isinstance(node, ast.Call):
        return called(node, again)
    raise Impure


def plain(value: Any) -> Any:
    """A number, a tensor of torch's own classes, or a list of such; raises Impure for what may run the user's code."""
    if type(value) in (int, float, bool, Tensor, nn.Parameter, list, tuple, dict, torch.Size):
        return value
    raise Impure


def attribute(owner: Any, name: str) -> Any:
    """What an attribute holds, where reading it runs no code of the program's."""
    if isinstance(owner, Tensor) and name in READS:
        return getattr(owner, name)
    if isinstance(owner, types.ModuleType):
        if name in vars(owner):
            return vars(owner)[name]
    elif hasattr(owner, "__dict__") and name in vars(owner):
        return vars(owner)[name]
    raise Impure


def called(node: ast.Call, again: Callable[[ast.expr], Any]) -> Any:
    """What a call of torch's own gives."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Impure
    args = [again(a) for a in node.args]
    kwargs = {str(k.arg): again(k.value) for k in node.keywords}
    if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
        return BUILTINS[node.func.id](*map(plain, args))
    if isinstance(node.func, ast.Attribute) and node.func.attr in PURE:
        owner = again(node.func.value)
        if type(owner) in (Tensor, nn.Parameter):
            return getattr(owner, node.func.attr)(*args, **kwargs)
        if owner in (torch, functional, torch.linalg, torch.special, math):
            return getattr(owner, node.func.attr)(*args, **kwargs)
        raise Impure
    function = again(node.func)
    if isinstance(function, nn.Module) and type(function).__module__ == "torch.nn.modules.loss":
        return type(function).forward(function, *args, **kwargs)
    if getattr(function, "__name__", "") in PURE and str(getattr(function, "__module__", "")).startswith("torch"):
        return function(*args, **kwargs)
    raise Impure
