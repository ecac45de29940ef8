"""The entry point that torch calls on import (group torch.backends): `DEBUG_TRACER=1 python train.py` is watched,
nothing happens without the variable."""

from __future__ import annotations

import os


def autoload() -> None:
    """Start watching if the variable DEBUG_TRACER is set; imports nothing otherwise."""
    if os.environ.get("DEBUG_TRACER", "") in ("", "0"):
        return
    from debugtracer.integrations.begin import begin

    begin()
