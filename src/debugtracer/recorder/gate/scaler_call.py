"""What is known of a GradScaler.step while it runs."""

from __future__ import annotations


class ScalerCall:
    """A GradScaler.step in flight."""

    def __init__(self, at_rest: bool = False) -> None:
        self.ran = False
        self.at_rest = at_rest
        """All rests, and nothing is asked of the update that it lets through."""
