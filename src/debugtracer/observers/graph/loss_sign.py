"""Reads from the graph of a loss which loss function it is, and whether it was turned round on its way to backward."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.loss.loss_divisions import inputs_of, number_of

DEEP = 40  # nodes in a row (ours)

FUNCTIONS = {
    "BinaryCrossEntropyBackward": "binary cross-entropy",
    "BinaryCrossEntropyWithLogitsBackward": "binary cross-entropy",
    "MseLossBackward": "squared error",
    "SmoothL1LossBackward": "smooth L1 loss",
    "HuberLossBackward": "Huber loss",
    "SoftMarginLossBackward": "soft margin loss",
    "MultiMarginLossBackward": "multi margin loss",
    "CtcLossBackward": "CTC loss",
}
"""Nodes of functions that are never negative and are made to fall, where one of their arguments is a target."""

PLAIN = frozenset(
    {"MeanBackward", "SumBackward", "SqueezeBackward", "UnsqueezeBackward", "ViewBackward", "ReshapeAliasBackward"}
    | {"UnsafeViewBackward", "ToCopyBackward", "CloneBackward", "AliasBackward", "ExpandBackward"}
)
"""Nodes that leave the sign as it is."""

LIKELY = ("LogSoftmaxBackward", "LogBackward")  # what makes log-probabilities of scores


class LossSign(NamedTuple):
    """A loss function, and what it was multiplied with before backward was called."""

    factor: float
    function: str
    classes: int = 0
    """Of a cross-entropy; 0 where they are not known."""


def sign_of(loss: Tensor) -> LossSign | None:
    """The one loss function that a loss is made of; None where there is another term, a weight that is no number, or
    no target. Waits for no device."""
    node = node_of(loss)
    return read(node, DEEP) if node is not None else None


def read(node: Any, deep: int) -> LossSign | None:
    """The loss function behind a node."""
    name, inner = node.name().rstrip("0123456789"), inputs_of(node)
    if deep == 0 or len(inner) != 1:
        return both(inner, deep) if name == "AddBackward" and deep and len(inner) == 2 else None
    if name.startswith("Nll"):
        return likelihood(node, inner[0])
    if (function := FUNCTIONS.get(name)) is not None:
        return LossSign(1.0, function)
    if name == "PowBackward":
        error = inner[0].name().startswith(("SubBackward", "RsubBackward")) and len(inputs_of(inner[0])) == 1
        return LossSign(1.0, "squared error") if error and getattr(node, "_saved_exponent", 0) == 2 else None
    factor = factor_of(node, name)
    behind = read(inner[0], deep - 1) if factor else None
    return behind._replace(factor=behind.factor * factor) if behind is not None and factor else None


def both(inner: list[Any], deep: int) -> LossSign | None:
    """The loss function of a sum of two, where both have one sign."""
    one, other = (read(node, deep - 1) for node in inner)
    if one is None or other is None or (one.factor < 0) != (other.factor < 0):
        return None
    return LossSign(-1.0 if one.factor < 0 else 1.0, one.function)


def factor_of(node: Any, name: str) -> float | None:
    """What one node multiplies with; None for a weight that may be a reward, for one below 0 turns the sign."""
    if name in PLAIN:
        return 1.0
    if name in ("NegBackward", "RsubBackward"):
        return -1.0
    if name in ("AddBackward", "SubBackward"):
        return -1.0 if name == "SubBackward" and node.next_functions[0][0] is None else 1.0
    if name not in ("MulBackward", "DivBackward") or node.next_functions[0][0] is None:
        return None
    by = number_of(node)
    if by is None or not by > 0:
        return None
    return by if name == "MulBackward" else 1 / by


def likelihood(node: Any, inner: Any) -> LossSign | None:
    """A negative log-likelihood of log-probabilities, or of minus these; given something else it may be negative."""
    turned = inner.name().startswith("NegBackward")
    scores = inputs_of(inner)[0] if turned else inner
    if not scores.name().startswith(LIKELY):
        return None
    held = getattr(node, "_saved_self", None) if scores.name().startswith("LogSoftmax") else None
    classes = int(held.shape[min(1, held.dim() - 1)]) if isinstance(held, Tensor) and held.dim() else 0
    return LossSign(-1.0 if turned else 1.0, "cross-entropy", classes)
