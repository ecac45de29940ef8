"""An attribute of one dataset that the program sets once for each of two parts of it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class SharedSetting(Fact, frozen=True, kw_only=True):
    """Told once for each dataset and attribute."""

    dataset: str
    """Class of the dataset that two loaders read parts of."""
    attribute: str
    value: str
    """Class of what the attribute holds for both."""
    first: Frame
    """The line that sets it for one part."""
    last: Frame
    """The line that sets it for the other."""
    loaders: tuple[Frame, ...]
    """Where the loaders of the two parts were built, as far as that is known."""

    def key(self) -> object:
        """Identify the attribute of a dataset."""
        return self.dataset, self.attribute, self.last.line
