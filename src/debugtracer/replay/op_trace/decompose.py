"""Inside a fused op: its decomposition run again on the same inputs, to name the op that made the bad value."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.classes import tensors
from debugtracer.trace.op import OpMeta

MOST_ELEMENTS = 50_000_000
FUSED = (
    "softmax",
    "native_layer_norm",
    "native_group_norm",
    "batch_norm",
    "rms_norm",
    "lstm",
    "gru",
    "rnn",
    "embedding_bag",
)


class Inside(TorchDispatchMode):
    """Feeds a nested tracker of ops; where an op comes from does not matter here."""

    def __init__(self, tracker: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tracker, self.index = tracker, 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, which saves the import of dynamo."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self.tracker.before(func, args, kwargs)
        out = func(*args, **kwargs)
        self.tracker.after(func, args, kwargs, out, OpMeta(index=self.index, op=func._schema.name))
        self.index += 1
        return out


def inner_op(
    func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], make_tracker: Any, before: dict[int, Tensor]
) -> str | None:
    """The aten op of the decomposition whose result is bad first and reaches the result; None without a decomposition
    or when it stays finite."""
    name = func._schema.name
    attention = "attention" in name and "backward" not in name
    if not attention and (func not in torch._decomp.decomposition_table or not any(word in name for word in FUSED)):
        return None
    if sum(t.numel() for t in tensors([args, list(kwargs.values())])) > MOST_ELEMENTS:
        return None
    args, kwargs = tree_map(
        lambda v: before.get(id(v), v).detach().clone() if isinstance(v, Tensor) else v, (args, kwargs)
    )
    tracker = make_tracker(decompose=False)
    try:
        with warnings.catch_warnings(), torch.no_grad(), Inside(tracker):
            warnings.simplefilter("ignore")
            out = composed(func, args, kwargs)
    except Exception:  # a decomposition that does not fit these arguments explains nothing, and that is all it costs
        return None
    birth = find_birth(tracker, targets=[(str(n), t) for n, t in enumerate(tensors(out))], batch_rows=None)
    if birth is None or birth.op is None or birth.op == func._schema.name or not birth.op.startswith("aten::"):
        return None
    return birth.op


def composed(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The op by its parts: attention by the math path, the rest by torch's own table."""
    if "scaled_dot_product" in func._schema.name:
        given = dict(zip((a.name for a in func._schema.arguments), args, strict=False)) | kwargs
        mask = given.get("attn_mask", given.get("attn_bias"))
        query, key, value = given["query"], given["key"], given["value"]
        causal, scale = bool(given.get("is_causal", False)), given.get("scale")
        scores = query @ key.transpose(-2, -1) * (scale if scale is not None else query.shape[-1] ** -0.5)
        if causal:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
            scores = scores.masked_fill(~seen, float("-inf"))
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype is torch.bool else scores + mask
        return torch.softmax(scores, -1) @ value
    return torch._decomp.decomposition_table[func](*args, **kwargs)
