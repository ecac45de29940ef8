"""A loss that takes scores is given probabilities."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source

MODULES = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
}
FUNCTIONS = frozenset(MODULES.values())
WRONG = {
    ("cross_entropy", "softmax"): "it applies softmax again, so the loss cannot fall below log(1 + (C - 1)/e)",
    ("cross_entropy", "sigmoid"): "it applies softmax to numbers in 0..1, so the loss cannot fall far",
    ("binary_cross_entropy_with_logits", "sigmoid"): "it applies sigmoid again, so no probability falls below 0.5",
    ("binary_cross_entropy_with_logits", "softmax"): "it applies sigmoid again, so no probability falls below 0.5",
    ("nll_loss", "softmax"): "it expects logarithms, so the loss is minus a probability",
}


@dataclass(frozen=True)
class SoftmaxBeforeCrossEntropy(Pattern):
    """cross_entropy contains log_softmax; of probabilities it still gives a falling, plausible loss with a floor of
    1.461 for 10 classes."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield loss calls whose input is known to be a softmax or sigmoid."""
        for node in source.program.nodes:
            loss = loss_of(source, node) if isinstance(node, ast.Call) else None
            if not isinstance(node, ast.Call) or loss is None:
                continue
            given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "input"), None)
            form = "" if given is None else source.value(given).form
            if given is not None and (loss, form) in WRONG:
                seen = f"{loss} of a {form}, {source.shown(given)}: {WRONG[loss, form]}"
                remedy = (
                    "use log_softmax, or cross_entropy of the scores"
                    if loss == "nll_loss"
                    else f"give it the scores from before the {form}"
                )
                yield self.hit(source, node, seen, "log-probabilities" if loss == "nll_loss" else "raw scores", remedy)


def loss_of(source: Source, node: ast.Call) -> str | None:
    """The loss function that is called, through its module or by itself."""
    function = source.names.torch_function(node.func)
    if function is not None:
        return function if function in FUNCTIONS else None
    made = source.values.layers.made(node.func)
    return MODULES.get(source.names.layer(made.func) or "") if isinstance(made, ast.Call) else None
