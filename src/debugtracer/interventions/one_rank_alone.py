"""This rank's own step, without the reduction over the others."""

from __future__ import annotations

from typing import ClassVar

import torch

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class OneRankAlone(Intervention):
    """Replays are local, so nothing more is changed: a step that is finite here became bad on another rank or in the
    reduction."""

    scope: ClassVar[Scope] = "rank"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if there are no other ranks."""
        return "" if ranks() > 1 else "the program runs on one rank"

    def apply(self, rerun: Rerun) -> str:
        """Describe the run; it needs no change, for a replay reduces nothing."""
        return f"rank {torch.distributed.get_rank()} alone, without the reduction over {ranks()} ranks"


def ranks() -> int:
    """How many processes compute together."""
    return (
        torch.distributed.get_world_size()
        if torch.distributed.is_available() and torch.distributed.is_initialized()
        else 1
    )
