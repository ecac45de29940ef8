"""The random state of a recorded program, kept only where it is not the one the last random op left."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from debugtracer.devices import present
from debugtracer.recorder.capsule.recorded import GeneratorRow


def default_generator(device: torch.device) -> torch.Generator:
    """The generator that ops on this device draw from."""
    return present.device(device.type).generator(device.index)


class Generators:
    """Numbers generators and watches their states; get_state copies 5 kB on the CPU, 16 bytes (no host sync) on
    CUDA."""

    def __init__(self) -> None:
        self.rows: list[GeneratorRow] = []
        self.states: list[torch.Tensor] = []
        self.seen: list[torch.Generator] = []  # kept alive: ids are reused
        self.left: dict[int, torch.Tensor] = {}

    def number(self, generator: torch.Generator) -> int:
        """The number of a generator, a new one at first sight."""
        for number, known in enumerate(self.seen):
            if known is generator:
                return number
        own = generator is not default_generator(generator.device)
        self.rows.append(GeneratorRow(str(generator.device), own))
        self.seen.append(generator)
        return len(self.seen) - 1

    def before(self, generators: Iterable[torch.Generator]) -> list[tuple[int, int]]:
        """Return (generator, state) pairs to restore: those whose state something else has moved (checkpointing,
        manual_seed)."""
        changed = []
        for generator in generators:
            number, state = self.number(generator), generator.get_state()
            left = self.left.get(number)
            if left is None or not torch.equal(left, state):
                self.states.append(state)
                changed.append((number, len(self.states) - 1))
        return changed

    def after(self, generators: Iterable[torch.Generator]) -> None:
        """Remember the states an op left."""
        for generator in generators:
            self.left[self.number(generator)] = generator.get_state()


def drawn_from(args: tuple[object, ...], kwargs: dict[str, object]) -> list[torch.Generator]:
    """The generators a random op with these arguments draws from."""
    flat = [*args, *kwargs.values()]
    own = [value for value in flat if isinstance(value, torch.Generator)]
    if own:
        return own
    devices = {value.device for value in flat if isinstance(value, torch.Tensor)} | {
        value for value in flat if isinstance(value, torch.device)
    }
    unique = {id(g): g for g in map(default_generator, devices or {torch.device("cpu")})}
    return list(unique.values())
