"""JSON that was stored, read back as a type: whatever is wrong with the bytes is one error with one short phrase."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

T = TypeVar("T")
MOST_CHARS = 160  # of a phrase: damage can be as long as the file


class DamagedJson(ValueError):
    """The bytes are no JSON, no UTF-8, or not what was expected; its text is one phrase without control characters."""


def decode_stored(content: bytes, kind: type[T]) -> T:
    """Decode JSON as this type. Raises DamagedJson."""
    return decode_with(lambda: msgspec.json.decode(content, type=kind))


def decode_with(decode: Callable[[], T]) -> T:
    """Call a decoder of msgspec; it has more than one kind of error. Raises DamagedJson."""
    try:
        return decode()
    except UnicodeDecodeError as error:
        raise DamagedJson(f"byte 0x{error.object[error.start]:02x} in a text is not UTF-8") from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DamagedJson(phrase(error)) from None


def phrase(error: BaseException) -> str:
    """The words of an error, short and printable."""
    text = "".join(c if c.isprintable() else " " for c in str(error) or type(error).__name__)
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 4]} ..."
