"""Rows of a batch that are averaged in groups which mix its classes, while groups along the other axis do not."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class MixedGroups(Fact, frozen=True, kw_only=True):
    """Seen at the line that averages; once a line and step."""

    function: str
    """What folds the axis: mean or sum."""
    sizes: tuple[int, int]
    """Of the two axes that the rows were taken apart into."""
    dim: int
    """The one of them that is folded."""
    labels: tuple[int, ...]
    """Of the rows in the first group of several classes."""
    path: str
    """Where the labels stand in the batch; empty where the dataset keeps them."""
    turned: bool
    """Whether each group along the other axis is of one class; else the batch is of as many classes as there are
    groups, with as many rows of each, and the groups are others."""
    asked: bool
    """Whether the targets of the loss group the other rows of the batch as the labels do: the batch is as it is
    expected elsewhere."""
    frame: Frame | None
    """Of the view that took the rows apart."""
    reader_frame: Frame | None
    """Of the fold."""
    sampler: str
    """The program's class that chose the rows of the batch; empty where it is torch's."""
    drawn: Frame | None
    """The line that hands them out."""

    def key(self) -> object:
        """Identify the line of the view, and the step."""
        return self.frame, self.ref.step
