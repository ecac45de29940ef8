"""An id that an evaluation hands to a model again and again and training never does."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UnseenToken(Fact, frozen=True, kw_only=True):
    """One call of a root without gradients, beside the training calls before it."""

    KEEP = 16

    root: str
    number: int
    """Evaluation calls looked at before it."""
    token: int
    """The id with the largest share among those that training has hardly used."""
    share: float
    """Of all ids of this call."""
    trained: float
    """Its share in training."""
    tokens: int
    """Ids of this call."""
    trained_tokens: int
    """Ids of the training calls counted."""
    inside: float
    """Share of its places that have other ids on both sides in their row: not padding."""
    columns: int
    """Positions of a row at which it stands."""
    column_share: float
    """Share of its places that lie in the one position where it is most frequent."""
    frame: Frame | None = None
    """The line that calls the model."""
    made: Frame | None = None
    """The line that made the ids, where it can be followed."""

    def key(self) -> object:
        """Identify the root that was called."""
        return self.root
