"""Reads from the graph of a loss whether it has the overlap of a prediction with a mask in it, with which sign, and
what made the prediction."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.graph.loss_sign import factor_of
from debugtracer.observers.loss.loss_call import VIEWS
from debugtracer.observers.loss.loss_divisions import inputs_of
from debugtracer.observers.loss.paired_products import QUOTIENTS
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.trace.facts.overlap_loss import OverlapLoss

LAYERS = {"AddmmBackward": "linear", "MmBackward": "linear", "ConvolutionBackward": "convolution"}
"""Nodes of layers that give any number."""
ADDS = ("AddBackward", "SubBackward", "RsubBackward")
MOST, NODES, DEEP = 64, 256, 16  # lines of a step, nodes of a loss, nodes in a row (ours)
LOOKS = 8  # inspected steps (ours: the form of a loss is known after some)


class OverlapLossesObserver(Observer):
    """Reads the graph of inspected steps, and whether a mask is one."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.quotients: dict[int, RawFrames] = {}
        self.products: dict[int, RawFrames] = {}
        self.summed: set[int] = set()
        """Addresses of tensors without a graph that were summed: masks among them."""
        self.looks = 0

    def reset(self) -> None:
        self.missed()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.quotients.clear()
        self.products.clear()
        self.summed.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the lines of quotients, and of products with a constant."""
        name = getattr(function, "__name__", "")
        if name == "sum" and args and isinstance(args[0], Tensor) and is_dense(args[0]) and len(self.summed) < MOST:
            if not args[0].requires_grad:
                self.summed.add(args[0].data_ptr())
            return
        store = self.quotients if name in QUOTIENTS else self.products if name in PRODUCTS else None
        if store is None or not isinstance(output, Tensor) or len(store) >= MOST:
            return
        node = node_of(output)
        if node is not None and len(inputs_of(node)) == (2 if store is self.quotients else 1):
            store[int(node._sequence_nr())] = raw_frames(1)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit overlaps that are made smaller, or are those of scores."""
        if not self.quotients or not self.products:
            return
        for node, sign in signed([one for loss in losses if (one := node_of(loss)) is not None], self.quotients):
            numerator, denominator = (child for child, _ in node.next_functions)
            product = product_below(numerator)
            if product is None or int(product._sequence_nr()) not in self.products:
                continue
            prediction, mask = inputs_of(product)[0], mask_of(product)
            # a share of the prediction that lies in a mask is divided by the prediction alone, and may be made smaller
            if mask is None or not adds_up(denominator, prediction) or mask.data_ptr() not in self.summed:
                continue
            if not is_mask(mask):
                continue
            layer = layer_of(prediction)
            if layer or sign > 0:
                self.run.emit(
                    OverlapLoss(
                        ref=self.run.ref(), layer=layer, falls=sign > 0, shape=tuple(mask.shape),
                        frame=first(self.quotients[int(node._sequence_nr())]),
                        product_frame=first(self.products[int(product._sequence_nr())]),
                    )
                )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.missed()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins, self.step_closed)


def signed(nodes: list[Any], known: dict[int, RawFrames]) -> list[tuple[Any, float]]:
    """The known quotients that a loss adds up, with the sign they have in it; those behind anything else are left
    out, and those that have both."""
    stack = [(node, 1.0) for node in nodes]
    found: dict[Any, set[float]] = {}
    seen = 0
    while stack and seen < NODES:
        (node, sign), seen = stack.pop(), seen + 1
        if int(node._sequence_nr()) in known:
            found.setdefault(node, set()).add(sign)
            continue
        name, inner = node.name().rstrip("0123456789"), inputs_of(node)
        if len(inner) == 2 and name in ADDS:
            turned = {"SubBackward": (1, -1), "RsubBackward": (-1, 1)}.get(name, (1, 1))
            stack.extend((child, sign * by) for child, by in zip(inner, turned, strict=True))
        elif len(inner) == 1 and (name in ("LogBackward", "StackBackward") or name.startswith("Select")):
            stack.append((inner[0], sign))
        elif len(inner) == 1 and (factor := factor_of(node, name)):
            stack.append((inner[0], sign if factor > 0 else -sign))
    return [(node, next(iter(signs))) for node, signs in found.items() if len(signs) == 1]


def product_below(node: Any) -> Any:
    """The product of which the numerator is the sum, times a number, plus a number; None where it is none."""
    summed = False
    for _ in range(DEEP):
        if node is None:
            return None
        name, inner = node.name().rstrip("0123456789"), inputs_of(node)
        if len(inner) != 1:
            return None
        if name == "MulBackward" and summed:
            return node
        summed |= name == "SumBackward"
        if not factor_of(node, name):
            return None
        node = inner[0]
    return None


def mask_of(product: Any) -> Tensor | None:
    """The constant of a product of a prediction and a constant as large."""
    for word in ("_saved_other", "_saved_self"):
        try:
            value = getattr(product, word, None)
        except RuntimeError:  # written to since, or freed by a backward before
            continue
        if isinstance(value, Tensor) and value.dim() and not value.requires_grad:
            return value
    return None


def is_mask(mask: Tensor) -> bool:
    """Whether it holds zeros and ones, and both. One wait for the device."""
    if not is_dense(mask) or mask.numel() < 2:
        return False
    with torch.no_grad(), torch._C.DisableTorchFunction():
        ones = mask == 1
        return bool(((mask == 0) | ones).all() & ones.any() & ~ones.all())


def adds_up(node: Any, prediction: Any) -> bool:
    """Whether a denominator has the sum of the prediction, or of its square, among its terms."""
    prediction, stack, seen = behind(prediction), [node], 0
    while stack and seen < NODES:
        one, seen = stack.pop(), seen + 1
        if one is None:
            continue
        name, inner = one.name().rstrip("0123456789"), inputs_of(one)
        if name == "SumBackward" and inner:
            summand = inner[0]
            if behind(summand) is prediction:
                return True
            square = summand.name().startswith(("PowBackward", "MulBackward"))
            if square and {behind(child) for child in inputs_of(summand)} == {prediction} and mask_of(summand) is None:
                return True
        if name in ADDS or (len(inner) == 1 and factor_of(one, name)):
            stack.extend(inner)
    return False


def behind(node: Any) -> Any:
    """The node that made what a view shows."""
    for _ in range(DEEP):
        if not node.name().startswith(VIEWS) or not inputs_of(node):
            break
        node = inputs_of(node)[0]
    return node


def layer_of(prediction: Any) -> str:
    """The kind of layer that made a prediction; "" for anything else."""
    return LAYERS.get(behind(prediction).name().rstrip("0123456789"), "")
