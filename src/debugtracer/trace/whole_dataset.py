"""What the indices of a Subset are in the dataset that it is a part of."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

NAMED = 6  # samples named in a sentence (ours)


class WholeDataset(msgspec.Struct, frozen=True, kw_only=True):
    """The dataset below all Subsets, and its index of each sample."""

    name: str
    indices: tuple[int, ...] = ()
    """Empty where it is not known which of several Subsets the samples are of."""

    def words(self, samples: Sequence[int]) -> str:
        """Say what the index of a sample counts in."""
        if not self.indices:
            return "Samples are counted in the Subset that the loader reads."
        pairs = [*zip(samples, self.indices, strict=True)][:NAMED]
        more = f" (and {len(samples) - NAMED} more)" if len(samples) > NAMED else ""
        if len(samples) == 1:
            return f"Sample {samples[0]} of the Subset is sample {self.indices[0]} of {self.name}."
        numbers, whole = (", ".join(str(pair[side]) for pair in pairs) for side in (0, 1))
        return f"Samples {numbers} of the Subset are samples {whole} of {self.name}{more}."
