"""Reads from the graph of a loss which loss function it is, and whether it was turned round on its way to backward."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.loss.loss_divisions import inputs_of, number_of

DEEP = 40  # nodes in a row (ours)
NEAR = 1e-2  # of a length to 1 (ours: half precision is 1e-3)

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

SIMILARITY = "cosine similarity"
"""A function that is made to rise: as a loss it is turned round, and its factor is negative."""

BARE = frozenset({"ExpandBackward", "CloneBackward", "ClampMinBackward", "AddBackward", "UnsqueezeBackward"})
"""Nodes between a length and the vector that is divided by it."""

LIKELY = ("LogSoftmaxBackward", "LogBackward")  # what makes log-probabilities of scores


class LossSign(NamedTuple):
    """A loss function, and what it was multiplied with before backward was called."""

    factor: float
    function: str
    classes: int = 0
    """Of a cross-entropy; 0 where they are not known."""


def sign_of(loss: Tensor) -> LossSign | None:
    """The one loss function that a loss is made of; None where there is another term, a weight that is no number, or
    no target. Waits for a device where it looks like a similarity."""
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
    if name == "SumBackward" and is_similarity(node, inner[0]):
        return LossSign(-1.0, SIMILARITY)
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


def is_similarity(total: Any, product: Any) -> bool:
    """Whether a sum over one dimension is of the products of vectors of length 1, of which one side is a target."""
    dims, nodes = getattr(total, "_saved_dim", None), [node for node, _ in product.next_functions]
    if not product.name().startswith("MulBackward") or not isinstance(dims, tuple) or len(dims) != 1:
        return False
    if len(nodes) != 2 or (nodes[0] is None) == (nodes[1] is None):
        return False
    target = product._saved_self if nodes[0] is None else product._saved_other
    if not isinstance(target, Tensor) or not is_divided(nodes[0] or nodes[1]):
        return False
    dim = dims[0] - 2**64 if dims[0] >= 2**63 else dims[0]  # torch hands out a negative one as an unsigned number
    if not -target.dim() <= dim < target.dim() or target.shape[dim] < 2:
        return False
    with torch.no_grad():
        return bool(((torch.linalg.vector_norm(target.detach().float(), dim=dim) - 1).abs() < NEAR).all())


def is_divided(node: Any) -> bool:
    """Whether a tensor is divided by its own length."""
    if not node.name().startswith("DivBackward"):
        return False
    vector, length = (other for other, _ in node.next_functions)
    while length is not None and length.name().rstrip("0123456789") in BARE:
        length = length.next_functions[0][0]
    if vector is None or length is None or not length.name().startswith(("LinalgVectorNorm", "Norm")):
        return False
    return length.next_functions[0][0] is vector
