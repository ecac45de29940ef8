"""Which devices there are: the files of this folder, torch's accelerator, and whatever else a build of torch knows."""

from __future__ import annotations

from functools import cache

import torch

import debugtracer.devices as room
from debugtracer import plugins
from debugtracer.devices.device import Device, DeviceMemory

FURTHER = (
    "xpu",
    "hpu",
    "mtia",
    "xla",
)  # torch may have them; without a file here they name things as torch.cuda does


@cache
def kinds() -> dict[str, Device]:
    """Every device of this folder by kind."""
    return plugins.members(room, Device)


@cache
def device(kind: str) -> Device:
    """The device of this kind; one without a file is taken to name things as torch.cuda does."""
    return kinds().get(kind) or Device(kind)


def names() -> tuple[str, ...]:
    """Every kind that a tensor may lie on, the host last: a vendor's own name for PrivateUse1 counts."""
    return tuple(
        dict.fromkeys(
            [*(kind for kind in kinds() if kind != "cpu"), *FURTHER, torch._C._get_privateuse1_backend_name(), "cpu"]
        )
    )


def place(word: str) -> torch.device:
    """The device called so, as in `npu:0`; the host for a vendor's whose backend is not loaded here. RuntimeError for
    any other word."""
    try:
        return torch.device(word)
    except RuntimeError:
        if word.partition(":")[0] in names():
            return torch.device("cpu")
        raise


def accelerator() -> Device | None:
    """The accelerator that this process uses; None while it uses none. About 1 us, no sync.

    torch.accelerator names it; it is asked only once a backend says it is in use, since on torch 2.6 the question
    counts CUDA devices through the driver, and a fork that comes later cannot use CUDA any more.
    """
    if _found:
        return _found[0]
    for candidate in candidates(torch._C._get_privateuse1_backend_name()):
        if candidate.awake():
            break
    else:
        return None
    chosen = torch.accelerator.current_accelerator()
    if chosen is not None and device(chosen.type).awake():
        _found.append(device(chosen.type))
        return _found[0]
    return None


def seeders() -> list[tuple[str, object, str]]:
    """Return (kind, owner, name) of functions that seed the devices with a file here; others are seeded with torch."""
    return [(kind, one.module, one.seeder()) for kind, one in kinds().items() if one.seeder()]


def device_memory() -> DeviceMemory | None:
    """Read the current device of the accelerator; None where none is in use or it does not count. No sync."""
    used = accelerator()
    return used.memory() if used is not None else None


def described() -> str:
    """What this machine has, for people. May start the driver."""
    chosen = torch.accelerator.current_accelerator()
    if chosen is None or not device(chosen.type).usable():
        return "none, training is on the CPU"
    return f"{chosen.type}, {device(chosen.type).name()}"


@cache
def candidates(private: str) -> tuple[Device, ...]:
    """The accelerators that this build of torch has a module for; asked again when a vendor takes PrivateUse1."""
    return tuple(device(kind) for kind in names() if kind != "cpu" and device(kind).module is not None)


_found: list[Device] = []
"""A process has one accelerator for good, says torch.accelerator."""
