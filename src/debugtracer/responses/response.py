"""The contract of a response: one thing that is done about a bad step while the program goes on, or to end it well."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.plugins import members, slug_of
from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining


@dataclass(frozen=True)
class Response:
    """Base of all responses; its slug is its file name."""

    intrusion: ClassVar[int]
    """How far it reaches into the training, from 0: the smallest that is not refused is taken."""
    modes: ClassVar[frozenset[str]]
    """Words of `--mode` in which it may be taken."""
    ends: ClassVar[bool] = False
    """The program ends with it."""
    chosen_only: ClassVar[bool] = False
    """It is taken for a cause alone for which the user has chosen it."""
    writes: ClassVar[bool] = False
    """The bad update is written as the program has it."""
    leaves_out: ClassVar[bool] = False
    """The batches of the window are kept from the weights."""

    def answers(self, bad: BadStep) -> bool:
        """Whether it is made for such a bad step at all; where it is not, nobody asks why. Pure. A scale that is still
        searched for is left to the GradScaler by all but one."""
        return not bad.overflows

    def refuses(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        """Why it cannot help here, one clause; empty when it may. Pure."""
        return ""

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        """Do it, and count it; the answer says in words what was done."""
        raise NotImplementedError

    @property
    def slug(self) -> str:
        """The file name with dashes."""
        return slug_of(type(self).__module__, "debugtracer.responses")


@functools.cache
def responses() -> dict[str, Response]:
    """Every response by slug, the smallest intrusion first. The folder is the registry."""
    import debugtracer.responses

    return dict(sorted(members(debugtracer.responses, Response).items(), key=lambda item: item[1].intrusion))
