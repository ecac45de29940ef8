"""Where the programs of this folder train: on the stand-in device, or on the device that PLACE names."""

from __future__ import annotations

import os

from stand_in.npu import start

PLACE = os.environ.get("PLACE", "npu")
if PLACE == "npu":
    start()
