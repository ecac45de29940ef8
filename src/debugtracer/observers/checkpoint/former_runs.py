"""The searches of a run for the one that saved the weights it has loaded: one at a time, of its first loads alone."""

from __future__ import annotations

from debugtracer.observers.checkpoint.former_run import FormerRunSearch
from debugtracer.trace.facts.former_run import FormerRun

MOST = 3  # searches of a run (ours: a resume loads once or twice, a loop over tasks hundreds of times)


class FormerRuns:
    """Starts searches, each in a thread of its own, and hands over what they have found."""

    def __init__(self) -> None:
        self.running: FormerRunSearch | None = None
        self.begun = 0

    def search(self, mark: tuple[int, float], start: int, iteration: int) -> None:
        """Look for the run that saved weights with this mark, unless a search is running or enough were."""
        if self.running is None and self.begun < MOST:
            self.begun += 1
            self.running = FormerRunSearch(mark, start, iteration)

    def is_over(self) -> bool:
        """Whether a search has ended whose result nobody has taken."""
        return self.running is not None and not self.running.thread.is_alive()

    def take(self) -> FormerRun | None:
        """What the search has found; it is waited for."""
        ended, self.running = self.running, None
        return ended.result() if ended is not None else None

    def reset(self) -> None:
        """Begin anew, in another run."""
        self.running, self.begun = None, 0
