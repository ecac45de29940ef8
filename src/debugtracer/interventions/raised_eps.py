"""The epsilons of one function of the user's: small numbers added to tensors, lower bounds, `eps=` arguments."""

from __future__ import annotations

import math
from typing import Any

from debugtracer.interventions.at_line import AtLine, bare
from debugtracer.trace.birth import Frame

FLOORS = ("clamp", "clamp_min", "clip", "maximum")
# a Python number added to a tensor counts as an epsilon up to here (ours: layer norms of torch and of papers have 1e-12
# to 1e-3)
LARGEST = 1e-3
PLACE = {
    "layer_norm": 4,
    "rms_norm": 3,
    "batch_norm": 7,
    "group_norm": 4,
    "instance_norm": 7,
    "normalize": 3,
    "cosine_similarity": 3,
}
"""Where the epsilon stands among the positional arguments."""


class Raised(AtLine):
    """Small numbers added to tensors, lower bounds and `eps=` arguments in the guilty function become larger."""

    def __init__(self, frame: Frame, eps: float) -> None:
        super().__init__(frame)
        self.eps = eps
        self.seen: list[tuple[float, int]] = []
        """(epsilon, line) of each that was raised."""

    def words(self) -> list[str]:
        """Format each one as `eps 1e-08 at model.py:88`."""
        file = self.frame.file.rpartition("/")[2]
        return [f"eps {old:g} at {file}:{line}" for old, line in dict.fromkeys(self.seen)]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Exchange the number where there is one."""
        kwargs, name = dict(kwargs or {}), bare(func)
        places = [
            n
            for n, value in enumerate(args)
            if self.small(value, n == PLACE.get(name)) and (name in ("add", "iadd", *FLOORS) or n == PLACE.get(name))
        ]
        keys = [
            key
            for key, value in kwargs.items()
            if self.small(value, key == "eps") and (key == "eps" or (name in FLOORS and key == "min"))
        ]
        if (places or keys) and self.in_function():
            line = self.place(2)
            self.seen += [
                (float(v), line.line if line else 0) for v in (*(args[n] for n in places), *(kwargs[k] for k in keys))
            ]
            args = tuple(self.eps if n in places else value for n, value in enumerate(args))
            kwargs.update(dict.fromkeys(keys, self.eps))
        return func(*args, **kwargs)

    def small(self, value: Any, named: bool) -> bool:
        """True for an epsilon below the one wanted; for 0 only where the argument is called one."""
        return (
            isinstance(value, float)
            and math.isfinite(value)
            and value < self.eps
            and value <= LARGEST
            and (value > 0.0 or (named and value == 0.0))
        )
