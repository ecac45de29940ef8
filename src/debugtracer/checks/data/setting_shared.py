"""Does each part of a dataset have the transform that was set for it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.shared_setting import SharedSetting
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SettingShared(Check, frozen=True):
    """A setting of one part of a dataset replaces that of another part.

    What it catches
        `train.dataset.transform = augment` and `valid.dataset.transform = plain` after `random_split`: both parts hold
        the same dataset, so training goes on without its augmentation, or the evaluation with it.
    Why it matters
        Nothing fails. The model meets data that it was never trained for, or its score is one of augmented samples.
    How it decides
        Two loaders read two `Subset`s of the very same dataset object, and the program sets one attribute of it twice,
        through two parts (`.dataset.`) and to two values. Exact but for the order of the lines.
    What to do
        Make the dataset twice, and take each part from its own.
    Example
        step 0, rank 0: `transform` of Tiles is set for two parts (train.py:31, train.py:32), and both parts hold the
        same Tiles, so it is Plain for both; expected a setting of its own for each. Make the dataset once for each
        part.
    """

    needs: ClassVar[tuple[type[SharedSetting]]] = (SharedSetting,)
    kind: ClassVar[str] = "dataset_shared"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "make the dataset once for each part: Subset(Data(transform=augment), train_ids), Subset(Data(), valid_ids)",
        "or wrap each part in a dataset of its own that transforms what the part hands out",
    )
    proved_by: ClassVar[str] = "data/moth_wings"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each attribute once."""
        for fact in window.new(SharedSetting):
            yield self.finding(
                window,
                "warning",
                f"`{fact.attribute}` of {fact.dataset} is set for two parts ({file_line(fact.first)}, "
                f"{file_line(fact.last)}), and both parts hold the same {fact.dataset}, so it is {fact.value} for "
                "both; expected a setting of its own for each. Make the dataset once for each part.",
                ref=fact.ref,
                place=Place(frame=fact.last, symptom_frame=fact.loaders[0] if fact.loaders else None),
            )
