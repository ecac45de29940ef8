"""Did an embedding refuse an id that its table has no row for?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.table_reason import Reason, of_exchange, of_labels, of_size, of_text, of_vocabulary
from debugtracer.checks.data.target_out_of_bounds import first_of, outside
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.facts.crash import Crash, ModuleSeen, TensorSeen
from debugtracer.trace.facts.exchanged_tables import ExchangedTables
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.long_text import LongText
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary
from debugtracer.trace.facts.overwritten_ids import OverwrittenIds
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TokenOutOfTable(Check, frozen=True):
    """The program died of an id beyond an embedding table.

    What it catches
        A tokenizer with more ids than the table has rows (added special tokens), an unknown category of a later file, a
        padding id of -1, a sequence longer than the table of positions.
    Why it matters
        torch says `index out of range in self` and names neither the id, nor the table, nor the sample.
    How it decides
        The exception came out of F.embedding or F.embedding_bag; table and ids are those of that very call. A tokenizer
        or a dict of the program that gives the refused id and has more entries than the table is named with both sizes,
        unless another table is as long as it. Ids that are places, one after the other, are those of a text that is
        too long: the line that cuts texts is named with its length. An id of -100 is the label that losses leave out:
        the line that writes it over a part of something is named. Two tables of which each is as long as the ids of the
        other need, in all the data, are said to be exchanged.
    What to do
        Make the table as long as the vocabulary (model.resize_token_embeddings), or map unknown ids to one that it has.
    Example
        step 7, rank 0: embed (Embedding, 1000 rows) was given ids up to 1003 in 1 of 16 rows (sample 118); expected
        0..999. Make the table as long as the vocabulary, or map unknown ids.
    """

    needs: ClassVar[tuple[type[Fact], ...]] = (Crash, LongerVocabulary, ExchangedTables, LongText, OverwrittenIds)
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
        reason = self.reason(window, module, ids, table)
        short, gaps = reason.frame, reason.said
        made = () if reason.known else made
        expected = f"0..{table - 1}" if table else "ids below its number of rows"
        return self.finding(
            window,
            "error",
            f"{named}{spot(built)} was given {seen}{count}{made_at(made)}{gaps}; expected {expected}. {reason.advice}.",
            ref=crash.ref,
            place=Place(
                module=module.path if module else None,
                op="aten::embedding",
                frame=short or first_of(made, crash),
                symptom_frame=(crash.frames[0] if (made or short) and crash.frames else None) or crash.call,
                batch_rows=crash.rows.in_batch(rows) if crash.rows else None,
                sample_index=samples or None,
            ),
            remedies=reason.first if reason.complete else (*reason.first, *self.remedies[reason.known :]),
            rows_of_table=table,
        )

    def reason(self, window: Window, module: ModuleSeen | None, ids: TensorSeen | None, table: int) -> Reason:
        """Why the table is too short: it is another's, or its vocabulary is longer, or what its line says."""
        exchanged, longer, text = window.last(ExchangedTables), window.last(LongerVocabulary), window.last(LongText)
        if exchanged is not None:
            return of_exchange(exchanged, module)
        if text is not None:
            return of_text(text, module)
        written = window.last(OverwrittenIds)
        if written is not None:
            return of_labels(written)
        return of_vocabulary(longer) if longer is not None else of_size(module, ids, table)
