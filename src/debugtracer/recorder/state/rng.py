"""The state of every random generator a step may draw from: torch on host and accelerator, numpy, Python's random."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from debugtracer.devices.present import accelerator


class RngState:
    """One captured state. Neither capturing (about 30 us with `torch_only`) nor restoring syncs the host.

    (docs/rationale/replay.md#no-sync)"""

    __slots__ = ("accelerator", "cpu", "numpy", "on_device", "own", "python")

    def __init__(self, torch_only: bool = False, own: Iterable[torch.Generator] = ()) -> None:
        self.own = [(generator, generator.get_state()) for generator in own]
        """Generators that the call was given."""
        self.cpu: Tensor = torch.default_generator.get_state()
        self.accelerator = accelerator()
        self.on_device: list[Tensor] = self.accelerator.rng_states() if self.accelerator is not None else []
        self.python: Any = None if torch_only else random.getstate()
        self.numpy: Any = (
            None if torch_only or "numpy" not in sys.modules else sys.modules["numpy"].random.get_state(legacy=False)
        )

    def restore(self) -> None:
        """Put every captured generator back."""
        for generator, state in self.own:
            generator.set_state(state)
        torch.default_generator.set_state(self.cpu)
        if self.accelerator is not None:
            self.accelerator.restore_rng(self.on_device)
        if self.python is not None:
            random.setstate(self.python)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)

    def plain(self) -> dict[str, Any]:
        """The same as plain values, which torch.load reads with weights_only."""
        found: dict[str, Any] = {"torch": self.cpu, "python": self.python}
        if self.numpy is not None and self.numpy["bit_generator"] == "MT19937":
            key, place = torch.tensor(self.numpy["state"]["key"].astype("int64")), self.numpy["state"]["pos"]
            found["numpy"] = ("MT19937", key, place, self.numpy["has_gauss"], self.numpy["gauss"])
        if self.on_device:
            found["device"] = list(self.on_device)
        return found


def restore_plain(kept: dict[str, Any]) -> None:
    """Put the generators of another process back, as `RngState.plain` gave them."""
    if not kept:
        return  # of other ranks: their draws are not ours
    torch.default_generator.set_state(kept["torch"])
    if kept.get("python") is not None:
        version, words, gauss = kept["python"]
        random.setstate((version, tuple(words), gauss))
    if "numpy" in kept and "numpy" in sys.modules:
        kind, key, *rest = kept["numpy"]
        sys.modules["numpy"].random.set_state((kind, key.numpy().astype("uint32"), *rest))
    used = accelerator()
    if used is not None and kept.get("device"):
        used.restore_rng(kept["device"])


class HostDraws:
    """Learns whether a call draws from Python's or numpy's generator, so that their costly capture can be dropped when
    it never does."""

    LEARN = 4  # calls watched before the capture is dropped; ours: two steps of a GAN, four micro-steps

    def __init__(self) -> None:
        self.calls = 0
        self.draws = False

    @property
    def torch_only(self) -> bool:
        """True once the first calls were seen to draw nothing from host generators."""
        return self.calls >= self.LEARN and not self.draws

    def after(self, before: RngState) -> None:
        """Compare the host generators with their state before a call."""
        if before.python is None or self.calls >= self.LEARN:
            return
        self.calls += 1
        if before.python != random.getstate():
            self.draws = True
        elif before.numpy is not None:
            now = sys.modules["numpy"].random.get_state(legacy=False)
            self.draws |= now["bit_generator"] == "MT19937" and (
                now["state"]["pos"] != before.numpy["state"]["pos"]
                or bool((now["state"]["key"] != before.numpy["state"]["key"]).any())
            )
