"""The capsule: an incident as a folder that replays anywhere. Writes it whole or not at all; reads it as untrusted
input."""

from __future__ import annotations

import gzip
import hashlib
import linecache
import os
import shutil
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.flags import Flags, read_flags
from debugtracer.recorder.capsule.program import Program
from debugtracer.recorder.capsule.recorded import Recorded
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.store.schema import CAPSULE, SOURCES
from debugtracer.trace.stored_json import DamagedJson, decode_stored
from debugtracer.trace.verdict import Verdict

VERSION = "debug-tracer.capsule/1"
PROGRAM, INPUTS = "program.json.gz", "inputs.safetensors"
SOURCE_BYTES = 1_000_000  # larger files are data, not a script


class FileFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Size and content of one file of the folder: a torn copy is noticed before it is used."""

    bytes: int
    sha256: str


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """capsule.json: what a person or a program wants to know without reading the rest."""

    version: str
    facts: IncidentFacts
    verdict: Verdict | None
    torch: str
    device: str
    flags: Flags
    inputs: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    sources: dict[str, str] = {}
    """Path on the machine of the incident -> file in `sources/`."""
    files: dict[str, FileFacts] = {}
    trace_id: str = ""
    """The step in the events of the run, as its findings carry it; empty in older capsules."""
    extra: dict[str, Any] = {}


@dataclass
class Capsule:
    """A capsule in memory; `blobs` are CPU tensors by name (Program.blobs)."""

    folder: Path
    head: Head
    program: Recorded
    blobs: dict[str, torch.Tensor]


def save_capsule(
    folder: Path,
    program: Program,
    facts: IncidentFacts,
    verdict: Verdict | None,
    extra: dict[str, Any] | None = None,
    trace_id: str = "",
) -> int:
    """Write the folder and return its bytes. Raises CapsuleError: opaque operator, too large, nothing recorded,
    disk."""
    from safetensors import SafetensorError  # here: a run without an incident has no use for its megabyte

    recorded = program.finish()
    if program.refused:
        raise CapsuleError(refusal(facts, program.refused))
    if not recorded.ops:
        raise CapsuleError(f"{facts.ref} cannot be kept as a capsule: no operator was recorded")
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        write(draft, recorded, program.blobs(), facts, verdict, extra or {}, trace_id)
        written = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
        os.rename(draft, folder)  # a folder that exists was written whole
    except (OSError, SafetensorError) as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise CapsuleError(
            f"{folder} cannot be written ({error}); the report of the incident is complete without it"
        ) from None
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return written


def refusal(facts: IncidentFacts, reason: str) -> str:
    """Why a step is not kept, as one sentence that says what to do."""
    if reason.startswith("too large"):
        return f"{facts.ref} cannot be kept as a capsule: {reason}; raise the budget or keep a smaller batch"
    return (
        f"{facts.ref} cannot be kept as a capsule: {reason}; re-running the script (`--from-source`) is not available "
        "in this version"
    )


def write(
    folder: Path,
    recorded: Recorded,
    blobs: dict[str, torch.Tensor],
    facts: IncidentFacts,
    verdict: Verdict | None,
    extra: dict[str, Any],
    trace_id: str,
) -> None:
    """Write all files of a capsule, capsule.json last."""
    from safetensors.torch import save_file as save_tensors

    (folder / PROGRAM).write_bytes(gzip.compress(msgspec.json.encode(recorded), 6, mtime=0))
    save_tensors(blobs, folder / INPUTS)
    frames = [*recorded.frames, *frames_of(facts)]
    head = Head(
        version=VERSION,
        facts=facts,
        verdict=verdict,
        torch=str(torch.__version__),
        device=device_of(recorded),
        flags=read_flags(),
        inputs=tuple(label for label, _ in recorded.labels),
        targets=tuple(target.name for target in recorded.targets),
        sources=copy_sources(folder / SOURCES, frames),
        files={name: file_facts((folder / name).read_bytes()) for name in (PROGRAM, INPUTS)},
        trace_id=trace_id,
        extra=extra,
    )
    (folder / CAPSULE).write_bytes(msgspec.json.format(msgspec.json.encode(head), indent=1))


def frames_of(facts: IncidentFacts) -> list[Frame]:
    """The user's lines named by the facts."""
    owners = [facts.loader, facts.optimizer]
    frames = [owner.frame for owner in owners if owner is not None] + [
        facts.symptom_frame,
        *((*facts.birth.frames, facts.birth.library) if facts.birth else ()),
    ]
    return [frame for frame in frames if frame is not None]


def device_of(recorded: Recorded) -> str:
    """The device of the step: an accelerator if any storage is on one."""
    devices = {row.device for row in recorded.storages} - {"cpu"}
    return min(devices) if devices else "cpu"


def copy_sources(folder: Path, frames: Iterable[Frame]) -> dict[str, str]:
    """Copy the files the frames name, each once and at most 1 MB, notebook cells too; unreadable ones are left out."""
    copied: dict[str, str] = {}
    folder.mkdir()
    for file in sorted({frame.file for frame in frames}):
        path = Path(file)
        if file.startswith("In[") and (lines := linecache.getlines(file)):
            name = f"{len(copied):03}-{file}.py"
            (folder / name).write_text("".join(lines), encoding="utf-8", errors="replace")
            copied[file] = name
            continue
        if not path.is_file() or path.stat().st_size > SOURCE_BYTES:
            continue
        name = f"{len(copied):03}-{path.name}"
        shutil.copyfile(path, folder / name)
        copied[file] = name
    return copied


def file_facts(content: bytes) -> FileFacts:
    """The size and hash of a file."""
    return FileFacts(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def load_capsule(folder: Path) -> Capsule:
    """Read a capsule written by save_capsule. Raises CapsuleError in one sentence on anything else."""
    from safetensors import SafetensorError
    from safetensors.torch import load as load_tensors

    if not folder.is_dir():
        raise CapsuleError(f"{folder} is not a folder; expected an incident such as RUN/incidents/step-000012-rank0")
    head = read_head(folder)
    content = {name: read_checked(folder, name, head) for name in (PROGRAM, INPUTS)}
    try:
        program = decode_stored(gzip.decompress(content[PROGRAM]), Recorded)
        program.check()
        blobs = load_tensors(content[INPUTS])
    except (OSError, EOFError, zlib.error, SafetensorError, ValueError) as error:
        raise CapsuleError(f"{folder} is damaged ({error}); make the incident again") from None
    return Capsule(folder, head, program, blobs)


def read_head(folder: Path) -> Head:
    """Read capsule.json, its version first. Raises CapsuleError."""
    content = read_file(folder, CAPSULE)
    try:
        version = decode_stored(content, dict[str, Any]).get("version")
    except DamagedJson as error:
        raise CapsuleError(
            f"{folder / CAPSULE} is no JSON object of ours ({error}, {len(content):,} bytes); it was cut short or "
            "damaged: copy the folder again"
        ) from None
    if version != VERSION:
        raise CapsuleError(
            f"{folder} is a capsule of version {str(version)[:40]}; this debug-tracer reads {VERSION}: replay it with "
            "the version that wrote it"
        )
    try:
        return decode_stored(content, Head)
    except DamagedJson as error:
        raise CapsuleError(f"{folder / CAPSULE} is damaged ({error}); make the incident again") from None


def read_checked(folder: Path, name: str, head: Head) -> bytes:
    """A file of the capsule whose size and hash are those that were written."""
    content, expected = read_file(folder, name), head.files.get(name)
    if expected is None:
        raise CapsuleError(f"{folder / CAPSULE} does not name {name}; make the incident again")
    if len(content) != expected.bytes:
        raise CapsuleError(
            f"{folder / name} has {len(content):,} bytes, expected {expected.bytes:,}: it was cut short; copy the "
            "folder again"
        )
    if file_facts(content) != expected:
        raise CapsuleError(f"{folder / name} is not the file that was written (hash differs); copy the folder again")
    return content


def read_file(folder: Path, name: str) -> bytes:
    """Read a file that must be there. Raises CapsuleError."""
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise CapsuleError(
            f"{folder} has no readable {name} ({error.strerror}); expected an incident folder with {CAPSULE}, "
            f"{PROGRAM} and {INPUTS}"
        ) from None
