"""Follows the leaf modules of a root while it runs: the path of each and what it gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.state.roots import plain_path


class LeafOutputs:
    """Hooks of torch's own for one forward; they stand while a root is followed, and not while anything compiles."""

    def __init__(self, run: ObservedRun, wanted: Callable[[], bool], look: Callable[[str, Tensor, str], None]) -> None:
        """Take who says whether this step is looked at, and who looks: path, output and kind of a leaf."""
        self.run, self.wanted, self.look = run, wanted, look
        self.hooks: list[Any] = []
        self.paths: dict[int, str] = {}
        self.inside: list[str] = []
        """Paths of the modules that are running, innermost last."""
        self.waits = False
        """The root is not known yet: the first that trains."""

    def follow(self, module: nn.Module) -> None:
        """Follow the modules of this root until `leave`; one without parameters, or without a graph, is passed over."""
        self.leave()
        if self.trains(module):
            self.paths = paths_in(module)
            self.listen()

    def wait(self) -> None:
        """Follow the next root that trains, for one forward."""
        self.leave()
        if not self.run.compiles:
            self.waits = True
            self.listen()

    def trains(self, module: nn.Module) -> bool:
        """Whether a root has parameters and makes a graph, and nothing is compiled."""
        return torch.is_grad_enabled() and not self.run.compiles and any(True for _ in module.parameters())

    def listen(self) -> None:
        """Register our hooks with torch."""
        self.inside = []
        register = torch.nn.modules.module
        self.hooks = [
            register.register_module_forward_pre_hook(self.go_in),
            register.register_module_forward_hook(self.come_out, always_call=True),
        ]

    def go_in(self, module: nn.Module, args: Any) -> None:
        """Called when a module call begins."""
        if not self.wanted():  # the root that we followed has failed
            self.leave()
            return
        if self.waits and not self.paths and not self.run.off and self.trains(module):
            self.paths = paths_in(module)
        if self.paths:
            self.inside.append(self.paths.get(id(module), ""))

    def come_out(self, module: nn.Module, args: Any, output: Any = None) -> None:
        """Called when a module call has ended; the output of a leaf is handed on."""
        path = self.inside.pop() if self.inside else ""
        blind = self.run.off or torch._C._are_functorch_transforms_active()
        if isinstance(output, Tensor) and path and not blind and next(module.children(), None) is None:
            self.run.attempt(self.look, (path, output, type(module).__name__))
        if self.waits and self.paths and not self.inside:
            self.leave()

    def leave(self) -> None:
        """Remove our hooks: the module path is not followed any more."""
        for hook in self.hooks:
            hook.remove()
        self.hooks, self.paths, self.waits = [], {}, False


def paths_in(root: nn.Module) -> dict[int, str]:
    """The path of each module of a root, by identity."""
    return {id(module): plain_path(name) for name, module in root.named_modules()}
