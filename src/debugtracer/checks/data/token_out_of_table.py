"""Did an embedding refuse an id that its table has no row for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.target_out_of_bounds import first_of, outside
from debugtracer.checks.data.wording import with_samples
from debugtracer.checks.optimizer.sequence import at_line, spot
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

COUNTED = "Size the table by the largest id + 1, or number the ids without gaps"
VOCABULARY = "Make the table as long as the vocabulary, or map unknown ids"
BY_ONE = "Count the row of unknown values too: the length + 1"
BY_ONE_REMEDY = "count the row of unknown values too: len(ids) + 1 rows"
COUNTED_REMEDY = "size the table by the largest id: num_embeddings = int(ids.max()) + 1, or map ids to 0..n-1"


class TokenOutOfTable(Check, frozen=True):
    """The program died of an id beyond an embedding table.

    What it catches
        A tokenizer with more ids than the table has rows (added special tokens), an unknown category of a later file, a
        padding id of -1, a sequence longer than the table of positions.
    Why it matters
        torch says `index out of range in self` and names neither the id, nor the table, nor the sample.
    How it decides
        The exception came out of F.embedding or F.embedding_bag; table and ids are those of that very call.
    What to do
        Make the table as long as the vocabulary (model.resize_token_embeddings), or map unknown ids to one that it has.
    Example
        step 7, rank 0: embed (Embedding, 1000 rows) was given ids up to 1003 in 1 of 16 rows (sample 118); expected
        0..999. Make the table as long as the vocabulary, or map unknown ids.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "token_out_of_range"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "make the table as long as the vocabulary: num_embeddings = len(tokenizer), or "
            "model.resize_token_embeddings(len(tokenizer))"
        ),
        "map unknown ids to an id that the table has",
        "truncate sequences to the length of the table of positions",
    )
    proved_by: ClassVar[str] = "data/new_station"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such an id."""
        for crash in window.new(Crash):
            refused = (
                crash.message.startswith("index out of range in self")
                or "which is not in the valid range" in crash.message
            )
            if refused and {"embedding", "embedding_bag"} & set(crash.torch_calls):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which ids of which samples, and which table."""
        module = next((m for m in crash.modules if "num_embeddings" in m.sizes), None)
        table = next(
            (t.shape[0] for t in crash.tensors if t.name == "weight" and t.shape),
            module.sizes["num_embeddings"] if module else 0,
        )
        ids = next((t for t in crash.tensors if t.name == "input"), None)
        rows = outside(crash.rows, table) if crash.rows and table else ()
        samples = tuple(crash.rows.indices[r] for r in rows) if crash.rows and crash.rows.indices else None
        size = f"{table} rows" if table else "of unknown length"
        named = f"{module.path or '(root)'} ({module.kind}, {size})" if module else f"an embedding ({size})"
        seen = "ids it has no row for"
        if ids is not None and ids.low is not None and ids.high is not None:
            seen = f"ids down to {ids.low}" if ids.low < 0 else f"ids up to {ids.high}"
        count = (
            f" in {len(rows)} of {len(crash.rows.values)} rows{with_samples(samples)}" if rows and crash.rows else ""
        )
        made = crash.rows.made if crash.rows else ()
        built = module.built if module else None
        known = ids is not None and ids.low is not None and ids.high is not None
        beyond = ids is not None and known and (ids.low or 0) >= 0
        just_short = ids is not None and beyond and (ids.high or 0) < 2 * table
        counted = module.counted if module is not None and beyond else None
        by_one = module.short if module is not None and beyond and ids is not None and ids.high == table else None
        counted = None if by_one is not None else counted
        short = (
            by_one[0] if by_one is not None else counted or (built if just_short else None)
        )  # else the ids are wrong
        gaps = f"; {at_line(counted)} counts the different ids, which leave numbers out" if counted else ""
        if by_one is not None:
            gaps = (
                f"; {at_line(by_one[1])} gives unknown values the length as their id, which {at_line(by_one[0])} counts"
            )
        first, advice = ((COUNTED_REMEDY,), COUNTED) if counted else ((), VOCABULARY)
        first, advice = ((BY_ONE_REMEDY,), BY_ONE) if by_one is not None else (first, advice)
        expected = f"0..{table - 1}" if table else "ids below its number of rows"
        return self.finding(
            window,
            "error",
            f"{named}{spot(built)} was given {seen}{count}{made_at(made)}{gaps}; expected {expected}. {advice}.",
            ref=crash.ref,
            place=Place(
                module=module.path if module else None,
                op="aten::embedding",
                frame=short or first_of(made, crash),
                symptom_frame=(crash.frames[0] if (made or short) and crash.frames else None) or crash.call,
                batch_rows=crash.rows.in_batch(rows) if crash.rows else None,
                sample_index=samples or None,
            ),
            remedies=(*first, *self.remedies),
            rows_of_table=table,
        )
