"""register_backward_hook, which sees wrong gradients for modules of more than one operation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.names import method
from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class BackwardHookPartial(Pattern):
    """Module.register_backward_hook is deprecated: its grad_input belongs to the last operation of the module, not to
    the module."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield calls of register_backward_hook, the old hook."""
        for node in source.program.nodes:
            if isinstance(node, ast.Call) and method(node) == "register_backward_hook":
                seen = "register_backward_hook: its grad_input is that of the last operation inside the module"
                yield self.hit(
                    source,
                    node,
                    seen,
                    "the gradient of the module's input",
                    "use register_full_backward_hook, or a hook on the tensor",
                )
