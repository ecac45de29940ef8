"""Do the ids still mean the names with which the loaded rows of an embedding were trained?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.carried_names import CarriedNames
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EmbeddingRenumbered(Check, frozen=True):
    """Weights of an embedding are loaded, and the program numbers the names of its rows anew.

    What it catches
        A fine-tuning that builds its vocabulary from its own texts, of the size that the checkpoint has: row 7 was
        trained as one word and is read as another one.
    Why it matters
        All shapes fit and nothing is said; what was learnt of each word is handed to another one, and training begins
        below no start at all.
    How it decides
        At the first backward of each phase of training the dicts are read that the program's own frames hold and that
        number names as the rows of an embedding are numbered. After weights were loaded, a table of now is compared
        with those of the phase before, and with those that the loaded file holds and the program never asks for. Half
        of its names and four at least are in both, and of those a tenth and two at least have another id. A program
        that still holds the former table is left alone, and one that writes into the rows after the load.
    What to do
        Save the table beside the weights, and read it where they are loaded.
    Example
        step 400, rank 0: after tokens.weight (16 rows) was loaded (train.py:74), `vocab` (train.py:72) gives 11 of 12
        names another id than it was trained with ('N' is 2, then 6); expected the same table. Save it in the checkpoint
        and read it where the weights are loaded.
    """

    needs: ClassVar[tuple[type[CarriedNames]]] = (CarriedNames,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "save the table of names in the checkpoint and use it in the next phase",
        "permute the loaded rows into the order of the new table, and draw rows for names that are new",
    )
    proved_by: ClassVar[str] = "data/spice_shelf"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each load once."""
        for fact in window.new(CarriedNames):
            yield self.finding(
                window,
                "warning",
                f"after {fact.param} ({fact.rows} rows) was loaded{spot(fact.loaded)}, `{fact.table}`"
                f"{spot(fact.frame)} gives {fact.differ} of {fact.common} names another id than it was trained with "
                f"({fact.name!r} is {fact.now}, then {fact.trained}); expected the same table. Save it in the "
                "checkpoint and read it where the weights are loaded.",
                ref=fact.ref,
                place=Place(frame=fact.frame, param=fact.param, symptom_frame=fact.loaded),
                differ=float(fact.differ),
            )
