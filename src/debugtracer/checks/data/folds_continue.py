"""Does each fold of a cross-validation begin with new weights?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.continued_folds import ContinuedFolds
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FoldsContinue(Check, frozen=True):
    """One network goes on from fold to fold: it was trained on the rows that it is evaluated on.

    What it catches
        A cross-validation whose model and optimizer are built once, before the loop over the folds.
    Why it matters
        From the second fold on, each row that is held out has been trained on in a fold before. The score rises from
        fold to fold, and measures memory.
    How it decides
        A network is trained on other rows than before while its weights are, to the bit, what they were at the pass
        before, and is then evaluated on rows that this fold leaves out and an earlier one trained on: half of them or
        more. Rows are known by what Subset and SubsetRandomSampler list, by the values of a TensorDataset, or by the
        numbers that a dataset of the program's keeps, one for each row. A new network, weights that are put back or
        drawn again, and folds that move on in time (their evaluations are new rows) are silent.
    What to do
        Build the model and the optimizer inside the loop over the folds.
    Example
        step 79, rank 0: in fold 2 160 of 160 rows of the evaluation (train.py:34) were trained on in a fold before
        (train.py:33) by the same Net, e.g. samples 3, 17; its weights go on from fold to fold; expected new ones in
        each. Build the model (train.py:18) and the optimizer (train.py:19) inside the loop over the folds.
    """

    needs: ClassVar[tuple[type[ContinuedFolds]]] = (ContinuedFolds,)
    kind: ClassVar[str] = "data_train_eval_overlap"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "build the model and the optimizer inside the loop over the folds",
        "or put the first weights back before each fold, model.load_state_dict(start), and build a new optimizer",
    )
    proved_by: ClassVar[str] = "data/barn_owls"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells it once."""
        for fact in window.new(ContinuedFolds):
            some = f", e.g. samples {', '.join(map(str, fact.samples[:4]))}" if fact.samples else ""
            yield self.finding(
                window,
                "warning",
                f"in fold {fact.fold} {fact.shared} of {fact.rows} rows of the evaluation{spot(fact.frame)} were "
                f"trained on in a fold before{spot(fact.train_frame)} by the same {fact.model}{some}; its weights go "
                f"on from fold to fold; expected new ones in each. Build the model{spot(fact.made)} and the optimizer"
                f"{spot(fact.built)} inside the loop over the folds.",
                ref=fact.ref,
                place=Place(
                    frame=fact.made or fact.built or fact.train_frame,
                    symptom_frame=fact.frame,
                    sample_index=fact.samples or None,
                ),
                shared=float(fact.shared),
                rows=float(fact.rows),
            )
