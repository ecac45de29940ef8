"""What is known of a GradScaler.step while it runs."""

from __future__ import annotations


class ScalerCall:
    """A GradScaler.step in flight."""

    def __init__(self, judged: bool = False) -> None:
        self.ran = False
        self.judged = judged
        """All rests, and nothing is asked of the update that it lets through."""
