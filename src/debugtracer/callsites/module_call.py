"""What a module was called with, read from the traceback of the call that raised."""

from __future__ import annotations

import traceback
from typing import Any

from debugtracer.callsites.frame_locals import locals_of


def keywords_of(error: BaseException, module: Any) -> dict[str, Any]:
    """The keyword arguments of the outermost call of this module in a traceback: torch hands them to no hook of a call
    that fails. Empty where it is not there."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name in ("_wrapped_call_impl", "_call_impl"):
            values = locals_of(frame)
            if values.get("self") is module and isinstance(values.get("kwargs"), dict):
                return dict(values["kwargs"])
    return {}
