"""First on PYTHONPATH of a watched program: waits for `import torch`, then starts the session; runs the sitecustomize
it stands before."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any


class TorchWatcher:
    """A finder that stands aside for everything but the first import of torch."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The real spec of torch, whose loader starts the session when it is done."""
        if name != "torch":
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            after_exec(spec.loader)
        return spec


def after_exec(loader: Any) -> None:
    """Have this loader start the session after it has executed its module, once; the loader is itself again by then."""
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        del loader.exec_module
        execute(module)
        begin()

    loader.exec_module = exec_module


def begin() -> None:
    """Start watching; a Python without debugtracer goes on unwatched."""
    try:
        from debugtracer.integrations.begin import begin
    except ImportError as error:
        sys.stderr.write(
            f"debug-tracer: {sys.executable} cannot import debugtracer ({error}); this process is not watched.\n"
        )
        return
    begin()


def chain() -> None:
    """Run the sitecustomize that we hide, under its own name; what it raises is shown as `site` would show it."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [p for p in sys.path if os.path.abspath(p) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("DEBUG_TRACER", "") not in ("", "0"):
    finder: Any = TorchWatcher()
    sys.meta_path.insert(0, finder)
chain()
