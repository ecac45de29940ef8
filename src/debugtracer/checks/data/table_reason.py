"""Why an embedding has no row for an id: its table is another's, is counted wrongly or has a longer vocabulary, or the
ids are places of a long text, or labels."""

from __future__ import annotations

from typing import NamedTuple

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import ModuleSeen, TensorSeen
from debugtracer.trace.facts.exchanged_tables import ExchangedTables
from debugtracer.trace.facts.long_text import LongText
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary
from debugtracer.trace.facts.overwritten_ids import OverwrittenIds
from debugtracer.trace.file_line import file_line

COUNTED = "Size the table by the largest id + 1, or number the ids without gaps"
VOCABULARY = "Make the table as long as the vocabulary, or map unknown ids"
BY_ONE = "Count the row of unknown values too: the length + 1"
BY_ONE_REMEDY = "count the row of unknown values too: len(ids) + 1 rows"
COUNTED_REMEDY = "size the table by the largest id: num_embeddings = int(ids.max()) + 1, or map ids to 0..n-1"


class Reason(NamedTuple):
    """Why the table is too short, as far as that is known."""

    said: str = ""
    advice: str = VOCABULARY
    first: tuple[str, ...] = ()
    frame: Frame | None = None
    """The line of the size; None where the ids may be wrong."""
    known: bool = False
    """The size is what is wrong: nothing is said about where the ids are made."""
    complete: bool = False
    """Nothing else would help."""


def of_size(module: ModuleSeen | None, ids: TensorSeen | None, table: int) -> Reason:
    """What the line that gives the table its size says."""
    if module is None or ids is None or ids.low is None or ids.high is None or ids.low < 0:
        return Reason()
    if module.short is not None and ids.high == table:
        length, given = module.short
        said = f"; {file_line(given)} gives unknown values the length as their id, which {file_line(length)} counts"
        return Reason(said, BY_ONE, (BY_ONE_REMEDY,), length)
    if module.counted is not None:
        said = f"; {file_line(module.counted)} counts the different ids, which leave numbers out"
        return Reason(said, COUNTED, (COUNTED_REMEDY,), module.counted)
    return Reason(frame=module.built if ids.high < 2 * table else None)


def of_labels(written: OverwrittenIds) -> Reason:
    """Say that labels were masked in the memory of the ids."""
    at = f", which {file_line(written.frame)} writes" if written.frame is not None else ""
    said = f"; {written.label} is the label that losses leave out{at}: the ids are labels, or share their memory"
    copies = "opy the ids before labels are masked: labels = ids.clone(), of a list [one.clone() for one in ids]"
    return Reason(said, f"C{copies}", (f"c{copies}",), written.frame, known=written.frame is not None, complete=True)


def of_text(text: LongText, module: ModuleSeen | None) -> Reason:
    """What is longer than the table of positions, and at which length the program cuts it."""
    said = f"; they are places: a text of {text.tokens} tokens meets {text.positions} positions"
    built = module.built if module is not None else None
    if text.cut is None:
        return Reason(said, f"Cut texts at {text.positions} tokens, or give the model more positions", (), built, True)
    at = f" ({file_line(text.written)})" if text.written is not None else ""
    said += f", and {file_line(text.cut)} cuts texts at {text.limit}{at}"
    words = f"ut texts at {text.positions} tokens or fewer{at}, or give the model {text.limit} positions"
    return Reason(said, f"C{words}", (f"c{words}",), text.written or text.cut, known=True, complete=True)


def of_vocabulary(longer: LongerVocabulary) -> Reason:
    """What the vocabulary says that gave the id: both sizes, and the lines of both."""
    filled, sized = longer.filled, longer.sized
    at = f" ({file_line(filled)})" if filled is not None else ""
    whose = f"{longer.entry} in " if longer.entry else ""
    lines = f"; the table gets its size at {file_line(sized)}" if sized is not None else ""
    said = f"; that is an id of {whose}{longer.name}{at}, which gives {longer.entries} ids{lines}"
    if longer.resizes:
        late = [one for one in (filled, sized) if one is not None]
        same = len({(one.file, one.function) for one in late}) == 1
        frame = max(late, key=lambda one: one.line) if same else filled or sized
        behind = f" behind {file_line(frame)} and before the training" if frame is not None else ""
        call = f"all model.resize_token_embeddings(len({longer.name})){behind}"
        return Reason(said, f"C{call}", (f"c{call}",), frame, known=True)
    give = f"ive the table {longer.entries} rows or more: num_embeddings=len({longer.name})"
    where = f" at {file_line(sized)}, when the vocabulary is complete" if sized is not None else ""
    return Reason(said, f"G{give}{where}", (f"g{give}{where}",), sized, known=True)


def of_exchange(found: ExchangedTables, module: ModuleSeen | None) -> Reason:
    """Say the rows and ids of both tables, and the line where the two counts change places, where there is one."""
    name = module.path if module is not None else "this table"
    data = "all the data" if found.whole else "this batch"
    both = f"ids up to {found.high} come here and up to {found.other_high} in {found.column}"
    said = f"; {found.path} has {found.other_rows} rows; in {data}, {both}"
    if found.given is None:
        said += ": each table is as long as the other one needs to be"
        words = f"xchange the numbers of rows of {name} and {found.path}, or the ids that they are called with"
        built = module.built if module is not None else None
        return Reason(said, f"E{words}", (f"e{words}",), built, known=True, complete=True)
    if found.taken is None:
        said += f": the two counts are exchanged in the call at {file_line(found.given)}"
        words = "and the two counts over in the order of the parameters"
        return Reason(said, f"H{words}", (f"h{words}",), found.given, known=True, complete=True)
    said += (
        f": the two counts are exchanged (returned at {file_line(found.given)}, unpacked at {file_line(found.taken)})"
    )
    words = "eturn the two counts in the order in which they are unpacked"
    return Reason(said, f"R{words}", (f"r{words}",), found.given, known=True, complete=True)
