"""debug-tracer: a flight recorder and time-travel debugger for PyTorch training."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from debugtracer.checks.check import Check as Check
    from debugtracer.errors import DebugTracerError as DebugTracerError
    from debugtracer.integrations.notebook import watch as watch
    from debugtracer.integrations.tracking import track as track
    from debugtracer.seeds import derive_seed as derive_seed
    from debugtracer.session import Session as Session
    from debugtracer.settings import Mode as Mode
    from debugtracer.settings import Settings as Settings
    from debugtracer.trace.finding import Finding as Finding
    from debugtracer.trace.finding import Severity as Severity
    from debugtracer.trace.store.reader import open_trace as open_trace
    from debugtracer.trace.verdict import Verdict as Verdict

__version__ = "0.1.0"

HOMES = {
    "Check": "checks.check",
    "DebugTracerError": "errors",
    "Finding": "trace.finding",
    "Mode": "settings",
    "Session": "session",
    "Settings": "settings",
    "Severity": "trace.finding",
    "Verdict": "trace.verdict",
    "derive_seed": "seeds",
    "open_trace": "trace.store.reader",
    "track": "integrations.tracking",
    "watch": "integrations.notebook",
}

__all__ = [
    "Check",
    "DebugTracerError",
    "Finding",
    "Mode",
    "Session",
    "Settings",
    "Severity",
    "Verdict",
    "__version__",
    "derive_seed",
    "open_trace",
    "track",
    "watch",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: `import debugtracer` loads no torch."""
    if name not in HOMES:
        raise AttributeError(f"module 'debugtracer' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"debugtracer.{HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
