"""Reads the archive that torch.save wrote: checksums of its records, and which tensor lies in which record. No object
of the file is built."""

from __future__ import annotations

import errno
import io
import os
import pickle
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

CHUNK = 1 << 20  # bytes read at a time; zlib lets other threads run meanwhile
DEPTH = 8  # levels of the saved object looked at (ours)
MAGIC = b"PK\x03\x04"
# what zipfile makes of damage: besides its own errors, methods and versions that nobody wrote, and offsets before 0
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)


@dataclass(frozen=True)
class RecordDamage:
    """What is wrong with a file."""

    records: tuple[str, ...]
    """Records that do not match their checksum."""
    of: int
    tensors: tuple[str, ...]
    cut: bool = False


def damage_of(file: IO[bytes], most_bytes: int) -> RecordDamage | None:
    """The first `most_bytes` of records are read; None for a sound file, one of another format, and one written without
    checksums."""
    if file.read(len(MAGIC)) != MAGIC:
        return None
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGE:
        return RecordDamage((), 0, (), cut=True)
    except OSError as error:
        if error.errno != errno.EINVAL:  # an offset before the file
            raise
        return RecordDamage((), 0, (), cut=True)
    infos = archive.infolist()
    bad, read = [], 0
    for info in infos:
        if info.CRC and read < most_bytes:  # 0: saved under set_crc32_options(False)
            read += info.file_size
            if not sound(archive, info):
                bad.append(info.filename)
    return (
        RecordDamage(
            tuple(bad), len(infos), tensors_in(archive, {name.rsplit("/", 1)[-1] for name in bad if "/data/" in name})
        )
        if bad
        else None
    )


def sound(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bool:
    """Whether a record holds what was written."""
    try:
        with archive.open(info) as record:
            while record.read(CHUNK):
                pass
    except DAMAGE:
        return False
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return False
    return True


def tensors_in(archive: zipfile.ZipFile, keys: set[str]) -> tuple[str, ...]:
    """The paths inside the saved object of the tensors in these storages; nothing where the pickle cannot be read."""
    try:
        name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
        saved = Shapes(io.BytesIO(archive.read(name))).load()
    except Exception:  # damaged too, or of a protocol of its own
        return ()
    return tuple(path for path, key in walk(saved, "", DEPTH) if key in keys)


class StoredTensor:
    """In the place of a tensor: the key of its storage."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __setstate__(self, state: Any) -> None:
        """Drop the attributes of a parameter: they are not needed."""


class Anything:
    """In the place of every class and function of the pickle: nothing of the file is executed. Called with a
    StoredTensor it is that one."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor is rebuilt from its storage."""
        return next((a for a in args if isinstance(a, StoredTensor)), None) or object.__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Drop the arguments, so that no object of the file is built."""

    def __setstate__(self, state: Any) -> None:
        """Drop the pickled state of the object."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Drop the items of the object."""

    def append(self, value: Any) -> None:
        """Drop the elements of the object."""


class Shapes(pickle.Unpickler):
    """Reads mappings, sequences and the keys of storages, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a stand-in for any class, so that nothing is imported."""
        return OrderedDict if (module, name) == ("collections", "OrderedDict") else Anything

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage of a persistent id: ('storage', type, key, location, numel)."""
        return StoredTensor(str(pid[2]))


def walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the paths of stored tensors."""
    if isinstance(value, StoredTensor):
        yield path, value.key
    elif isinstance(value, dict) and depth:
        for key, part in value.items():
            yield from walk(part, f"{path}.{key}" if path else str(key), depth - 1)
    elif isinstance(value, (list, tuple)) and depth:
        for place, part in enumerate(value):
            yield from walk(part, f"{path}[{place}]", depth - 1)


def mark_of(file: IO[bytes]) -> tuple[int, int]:
    """Return size and time of the last write: another one means that the file is written while it is read."""
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns
