"""A log of any size as pieces of whole lines; terminal escapes are removed, a binary file is refused."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from debugtracer.errors import UsageError
from debugtracer.trace.plain_text import plain_text

CHUNK_BYTES = 1 << 20
LONGEST_LINE = 1 << 24  # characters; what has no newline for longer is cut there
STDIN = Path("-")


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a log; the first one has the 1-based number `first`."""

    first: int
    text: str


def chunks(path: Path) -> Iterator[Chunk]:
    """The log at a path, `-` for stdin, in pieces of about 1 MB. Raises UsageError in one sentence: missing,
    unreadable, binary."""
    if path == STDIN:
        yield from pieces(
            sys.stdin.buffer if hasattr(sys.stdin, "buffer") else io.BytesIO(sys.stdin.read().encode()), "stdin"
        )
        return
    try:
        with path.open("rb") as file:
            yield from pieces(file, str(path))
    except FileNotFoundError:
        raise UsageError(
            f"{path}: there is no such file; expected the text log of a training run, or - for stdin"
        ) from None
    except IsADirectoryError:
        raise UsageError(
            f"{path} is a folder; expected a text log (for a run folder: `debug-tracer report {path}`, or `explain "
            f"{path} --prompt`)"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); check that it is a file and that you may read it"
        ) from None


def pieces(file: BinaryIO, name: str) -> Iterator[Chunk]:
    """Yield pieces that end at a newline, the last one at the end of the file."""
    number, rest = 1, b""
    while block := file.read(CHUNK_BYTES):
        if number == 1 and not rest:
            refuse_binary(block, name)
            block = recoded(block)
        whole, newline, tail = (rest + block).rpartition(b"\n")
        if not newline and len(tail) < LONGEST_LINE:
            rest = tail
            continue
        ready, rest = (whole, tail) if newline else (tail, b"")
        yield Chunk(number, plain(ready))
        number += ready.count(b"\n") + bool(newline)
    if rest:
        yield Chunk(number, plain(rest))


def refuse_binary(block: bytes, name: str) -> None:
    """Raise UsageError when the beginning is no text: a zero byte that is no UTF-16, or many control bytes."""
    head = block[:8192]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UsageError(f"{name} is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8 {name}")
    control = sum(byte < 9 or 13 < byte < 27 for byte in head)
    if b"\0" in head or control > 0.1 * len(head):
        raise UsageError(
            f"{name} is a binary file ({control} control bytes in its first {len(head)}); expected the text log of a "
            "training run"
        )


def recoded(block: bytes) -> bytes:
    """Strip the byte order mark that some editors put first."""
    return block.removeprefix(b"\xef\xbb\xbf")


def plain(raw: bytes) -> str:
    """Decode text without terminal escapes; bytes that are no UTF-8 become a replacement character."""
    return plain_text(raw.decode("utf-8", errors="replace"))
