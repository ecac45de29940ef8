"""A fault on an accelerator without a known cause, executed again in a process that waits for each kernel: what is gone
there was a race."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from debugtracer.devices.present import device
from debugtracer.trace.store.schema import CAPSULE
from debugtracer.trace.verdict import Verdict

PATIENCE_S = 60.0  # seconds for the start of a process and one step (ours; importing torch with CUDA takes 5 to 15)
SAME = "with {variable}=1, in a process of its own, the same value is born at the same place: no race between kernels"
GONE = (
    "with {variable}=1, in a process of its own, the recorded step is finite: kernels that run at the same time make "
    "this value; look for tensors used on another stream without wait_stream or record_stream, and for non_blocking "
    "copies that are read too early"
)


def raced(verdict: Verdict, folder: Path, variables: Mapping[str, str] | None = None) -> Verdict:
    """The verdict, with what its capsule did in such a process, which takes seconds.

    `variables`: for each kind of device the one that makes its kernels wait; default: what its file says. Unchanged
    where the cause is known, for other devices, and where the child fails.
    """
    if verdict.status in ("confirmed", "likely"):
        return verdict
    kind = device_of(folder)
    variable = device(kind).blocking if variables is None else variables.get(kind)
    again = born_again(folder, variable) if variable else None
    if again is None:
        return verdict
    return msgspec.structs.replace(
        verdict, evidence=(*verdict.evidence, (SAME if again else GONE).format(variable=variable))
    )


def device_of(folder: Path) -> str:
    """The kind of device of the recorded step; empty where there is no capsule."""
    try:
        return str(json.loads((folder / CAPSULE).read_bytes())["device"]).partition(":")[0]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""


def born_again(folder: Path, variable: str) -> bool | None:
    """Whether the child sees the same birth; None where it could not execute the capsule."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("DEBUG_TRACER")}
    command = [sys.executable, "-m", "debugtracer", "replay", str(folder), "--json"]
    try:
        done = subprocess.run(
            command, env=quiet | {variable: "1"}, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        return bool(json.loads(done.stdout)["same_birth"])
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return None
