"""The samples of a batch that could not be put together, by dataset index and shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from debugtracer.callsites.crash_site import CrashSite
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.facts.crash import SampleSeen

MOST = 256  # samples looked at (ours)
PARTS = 16  # parts of one sample named (ours)


def samples_seen(site: CrashSite, drawn: Any, info: LoaderInfo | None) -> tuple[SampleSeen, ...]:
    """Read samples from the locals of the fetch; after a worker's failure again from the dataset (the program is
    over)."""
    indices = site.indices or (list(drawn) if isinstance(drawn, tuple) else None)
    if (
        indices is None
        or len(indices) > MOST
        or not any(call.startswith(("collate", "default_collate", "reraise")) for call in site.torch_calls)
    ):
        return ()
    samples = (
        site.samples if site.samples is not None and len(site.samples) == len(indices) else fetched_again(info, indices)
    )
    return tuple(
        SampleSeen(index=i, shapes=tuple(list(shapes(s))[:PARTS])) for i, s in zip(indices, samples, strict=False)
    )


def fetched_again(info: LoaderInfo | None, indices: list[int]) -> list[Any]:
    """The samples once more; nothing when the dataset itself fails."""
    dataset: Any = info.dataset_held() if info is not None else None
    try:
        return [dataset[i] for i in indices]
    except (Exception, SystemExit):
        return []  # the user's code: the text of the exception is all there is


def shapes(sample: Any, path: str = "sample") -> Iterator[tuple[str, str]]:
    """Yield each part by path: `sample[0]`, `(3, 32) float32`."""
    if isinstance(sample, Mapping):
        yield path, "keys " + ", ".join(map(str, sample))
        for key, part in sample.items():
            yield from shapes(part, f"{path}[{key!r}]")
    elif isinstance(sample, (list, tuple)) and not all(isinstance(v, (int, float, str)) for v in sample):
        yield path, f"{type(sample).__name__} of {len(sample)}"
        for place, part in enumerate(sample):
            yield from shapes(part, f"{path}[{place}]")
    elif isinstance(sample, Tensor) or (hasattr(sample, "shape") and hasattr(sample, "dtype")):
        yield path, f"{tuple(sample.shape)} {str(sample.dtype).removeprefix('torch.')}"
    elif isinstance(sample, (list, tuple)):
        yield path, f"{type(sample).__name__} of {len(sample)}"
    else:
        yield path, type(sample).__name__
