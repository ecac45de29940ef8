"""The sentences of a value that became bad in the data pipeline: what the line did, what it was given, what to do."""

from __future__ import annotations

from debugtracer.trace.file_line import file_line
from debugtracer.trace.made_at import made_at
from debugtracer.trace.number import as_float
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.views.words import wording

DID = {
    "spread": "divides by a spread that is 0",
    "norm": "divides by a length that is 0",
    "division": "divides by 0",
    "empty": "takes a statistic of no value (0/0)",
    "few": "takes the spread of one value (0/0)",
    "power": "raises a negative number to a fraction, or 0 to a negative power",
    "domain": "takes a function outside of its domain",
    "exp": "takes an exponential beyond the largest number",
    "half": "puts a value beyond 65504 into float16 (Inf)",
    "overflow": "leaves the range of its dtype",
    "uninitialised": "allocates memory that nothing has filled yet",
    "unknown": "gives a non-finite value of finite inputs",
    "stored": "takes them from the store",
    "written": "writes NaN or Inf there itself",
}
"""What an expression did, by kind."""
DO = {
    "spread": "a record of one constant value has no spread: divide by at least 1e-6, or leave such records out",
    "norm": "divide by at least 1e-6, or leave records of zeros out",
    "division": "guard the division, or leave out the records whose divisor is 0",
    "empty": "test the length first, or leave out the records that select nothing",
    "few": "ask for the spread with correction=0 (ddof=0), or leave out records of one value",
    "log": "take the logarithm of at least 1e-10, or leave such records out",
    "power": "keep the base above 0",
    "domain": "clamp the argument into the domain of the function",
    "exp": "clamp the argument before the exponential, or take its logarithm instead",
    "half": "keep the values in float32, or scale them before the cast",
    "overflow": "keep the values in a wider dtype, or scale them first",
    "uninitialised": "fill what is allocated: zeros() in place of empty()",
    "unknown": "test the result with isfinite where the dataset makes the sample",
}
"""The remedy, by kind."""


def because(born: PipelineBirth) -> str:
    """What the line did, as the clause of a verdict."""
    expression = f"`{born.expression}`" if born.expression else "the line"
    given = f" (`{born.divisor}`)" if born.divisor and born.kind in ("spread", "norm") else ""
    did = logarithm(born) if born.kind == "log" else DID.get(born.kind, DID["unknown"]) + given
    clean = " (its stored record is finite)" if born.record_clean else ""
    return f"{expression} {did} where sample {born.index} is made, before the model sees it{clean}"


def logarithm(born: PipelineBirth) -> str:
    """Which logarithm: of 0, or of a negative number."""
    values = [as_float(v) for one in born.inputs[:1] for v in one.values]
    low = [as_float(one.low) for one in born.inputs[:1] if one.low is not None]
    negative = any(v < 0 for v in values or low)
    return f"takes the logarithm of {'a negative number (NaN)' if negative else '0 (-inf)'}"


def stored(born: PipelineBirth) -> str:
    """What is known of a value that was stored so, as the end of a clause."""
    if born.kind == "unknown" and born.frame is not None:
        return f", first at {file_line(born.frame)}"
    if born.kind == "written":
        return f", and `{born.expression}` writes them there for sample {born.index}" if born.expression else ""
    read = f": `{born.expression}` reads them" if born.expression else ""
    kept = ", kept in float16, where a number beyond 65504 is Inf" if born.kept_in_half else ""
    return f", and the stored record of sample {born.index} holds them{read}{kept}"


def remedies(born: PipelineBirth) -> tuple[str, ...]:
    """What to do about that line, best first."""
    where = f" at {file_line(born.frame)}" if born.frame is not None else ""
    file = f" ({born.file})" if born.file else ""
    look = f"look at the record of sample {born.index}{file}: `debug-tracer report RUN --batch`"
    guard = "raise in __getitem__ or collate_fn unless all values are finite, so that the next one is found at once"
    return (f"{DO.get(born.kind, DO['unknown'])}{where}", look, guard)


def out_of_range(born: PipelineBirth) -> str:
    """What the line did to a finite row, beside the rows of healthy batches; of a stored one that it was so before."""
    others = (
        f"{wording.number(born.value)}, where {len(born.neighbours)} samples of the batches before have at most "
        f"{wording.number(born.usual)}"
    )
    expression = f"`{born.expression}`" if born.expression else "the line"
    where = f" at {file_line(born.frame)}" if born.frame is not None else ""
    if born.kind == "stored":
        made = "".join(f", kept at {file_line(frame)}" for frame in born.way[:1])
        head = f"the stored record of sample {born.index} is out of range already{made}"
        return f"{head}: {expression}{where} reads {others}"
    return f"{expression}{where} takes sample {born.index} out of the range of the others: to {others}"


def range_remedies(born: PipelineBirth) -> tuple[str, ...]:
    """What to do about a line that puts some records into another range."""
    where = file_line(born.frame) if born.frame is not None else "the line"
    file = f" ({born.file})" if born.file else ""
    return (
        f"look at what {where} does to this record and not to others: a unit converted twice, a scale of another file",
        f"compare the stored record of sample {born.index}{file} with that of sample {born.neighbours[0]}",
        "clip the gradient while such records remain: torch.nn.utils.clip_grad_norm_(params, 1.0)",
    )


def followed(born: PipelineBirth) -> str:
    """How the sample was followed, as a row of a verdict."""
    if born.refused:
        return f"the sample was not followed through your data code: {born.refused}"
    times = f", bad in fetch {born.fetches}: it depends on random numbers" if born.fetches > 1 else ""
    head = f"sample {born.index} was fetched again{times} and followed line by line"
    if born.frame is None:
        return f"{head}: the dataset holds it so, no line of the fetch makes it"
    if born.kind == "range":
        of = f", for {len(born.neighbours)} others up to {wording.number(born.usual)}" if born.usual is not None else ""
        return f"{head}: it reaches {wording.number(born.value)} first at {file_line(born.frame)}{of}"
    if born.value is not None:
        return (
            f"{head}: its stored record reaches {wording.number(born.value)}, others up to {wording.number(born.usual)}"
        )
    what = "it is read so" if born.kind == "stored" else "first non-finite"
    return f"{head}: {what} at {file_line(born.frame)}"


def way(born: PipelineBirth) -> str:
    """The lines from the birth to the batch: `train.py:13 -> train.py:30`."""
    return made_at(born.way).removeprefix(", made at ")
