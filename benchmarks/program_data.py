"""Small made data for programs of other people, in the formats they read, and stand-ins for packages that would
download or draw."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import struct
import tarfile
from pathlib import Path

import numpy as np

STAND_INS = {
    "matplotlib": {
        "__init__.py": "def use(name): pass\n",
        "pyplot.py": "def __getattr__(name): return lambda *a, **k: None\n",
    },
    "requests": {
        "__init__.py": (
            "from contextlib import contextmanager\nfrom types import SimpleNamespace\n\n\n"
            "@contextmanager\ndef get(url, **k):\n"
            "    with open('made.tgz', 'rb') as made:\n        yield SimpleNamespace(raw=made)\n"
        )
    },
}


def nothing(folder: Path) -> None:
    """A program that makes its data itself needs none."""


def stand_ins(folder: Path, packages: tuple[str, ...]) -> Path:
    """Write the stand-ins of these packages into a folder for PYTHONPATH."""
    for package in packages:
        (folder / package).mkdir(parents=True, exist_ok=True)
        for name, text in STAND_INS[package].items():
            (folder / package / name).write_text(text)
    return folder


def words(count: int, vocabulary: int, seed: int) -> list[int]:
    """Numbers below `vocabulary`, each likely to follow its last: there is something to learn."""
    drawn, made = random.Random(seed), [0]
    for _ in range(count - 1):
        made.append((3 * made[-1] + 1) % vocabulary if drawn.random() < 0.7 else drawn.randrange(vocabulary))
    return made


def token_files(folder: Path) -> None:
    """`data/made/{train,val}.bin` of 16-bit tokens and `meta.pkl`."""
    target = folder / "data" / "made"
    target.mkdir(parents=True)
    for name, count, seed in (("train", 100_000, 1), ("val", 10_000, 2)):
        np.array(words(count, 65, seed), dtype=np.uint16).tofile(target / f"{name}.bin")
    (target / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65, "itos": {}, "stoi": {}}))


def word_files(folder: Path) -> None:
    """`made/{train,valid,test}.txt`, lines of twenty words."""
    (folder / "made").mkdir()
    for name, count, seed in (("train", 30_000, 1), ("valid", 2_000, 2), ("test", 2_000, 3)):
        made = [f"w{number}" for number in words(count, 300, seed)]
        lines = [" ".join(made[i : i + 20]) for i in range(0, count, 20)]
        (folder / "made" / f"{name}.txt").write_text("\n".join(lines) + "\n")


def sine_waves(folder: Path) -> None:
    """`traindata.pt`: sines of one frequency and random phase."""
    import torch

    phases = np.random.default_rng(2).integers(-80, 80, (24, 1))
    torch.save(np.sin((np.arange(120) + phases) / 20.0), folder / "traindata.pt")


def citation_archive(folder: Path) -> None:
    """`made.tgz` with `cora/cora.content` and `cora.cites`: papers of seven classes, words and links by class."""
    drawn = np.random.default_rng(3)
    papers, features, classes = 1800, 200, 7
    labels = drawn.integers(0, classes, papers)
    likely = drawn.random((classes, features)) < 0.2
    has = (drawn.random((papers, features)) < np.where(likely[labels], 0.3, 0.02)).astype(int)
    has[:, 0] = 1  # no paper without words: its row would be divided by zero
    content = "".join(f"{i}\t" + "\t".join(map(str, has[i])) + f"\tclass{labels[i]}\n" for i in range(papers))
    links = {(a, b) for a, b in drawn.integers(0, papers, (12_000, 2)).tolist() if a != b and labels[a] == labels[b]}
    cites = "".join(f"{a}\t{b}\n" for a, b in sorted(links))
    with tarfile.open(folder / "made.tgz", "w:gz") as archive:
        for name, text in (("cora/cora.content", content), ("cora/cora.cites", cites)):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


def digit_files(folder: Path) -> None:
    """`../data/MNIST/raw`: images of ten blurred patterns with noise, in the format of MNIST; and `results/`."""
    raw = folder.parent / "data" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (folder / "results").mkdir(exist_ok=True)
    drawn = np.random.default_rng(4)
    patterns = drawn.random((10, 28, 28)) > 0.7
    for name, count in (("train", 2000), ("t10k", 300)):
        labels = drawn.integers(0, 10, count).astype(np.uint8)
        images = (patterns[labels] * 200 + drawn.integers(0, 55, (count, 28, 28))).astype(np.uint8)
        packed = {
            f"{name}-images-idx3-ubyte": struct.pack(">4I", 2051, count, 28, 28) + images.tobytes(),
            f"{name}-labels-idx1-ubyte": struct.pack(">2I", 2049, count) + labels.tobytes(),
        }
        for file, content in packed.items():
            (raw / file).write_bytes(content)
            (raw / f"{file}.gz").write_bytes(gzip.compress(content, 1))


def image_folders(folder: Path) -> None:
    """`made/{train,validation}/CLASS/*.png`: four classes that differ in colour."""
    from PIL import Image

    drawn = np.random.default_rng(5)
    for split, count in (("train", 48), ("validation", 8)):
        for kind in range(4):
            target = folder / "made" / split / f"class{kind}"
            target.mkdir(parents=True)
            for i in range(count):
                pixels = drawn.integers(0, 255, (64, 64, 3)).astype(np.uint8)
                pixels[..., kind % 3] = pixels[..., kind % 3] // 2 + 60 * (kind // 3)
                Image.fromarray(pixels).save(target / f"{i}.png")
