"""Parts that ranks write by themselves are one state under their index, for any number of ranks."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer.recorder.output.shard_parts import compare, host_shards, load, write_index, write_part


@pytest.fixture
def mesh() -> Iterator[Any]:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    yield torch.distributed.init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


def test_a_part_is_what_it_was_and_a_changed_one_is_told(mesh: Any, tmp_path: Path) -> None:
    from torch.distributed.tensor import Shard, distribute_tensor

    values: dict[str, torch.Tensor] = {"a": distribute_tensor(torch.arange(6.0).view(3, 2), mesh, [Shard(0)])}
    kept = host_shards(values)
    local: Any = values["a"]
    local.to_local().zero_()
    write_index(tmp_path, [write_part(tmp_path, 0, kept)])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".metadata", "__0_0.distcp"]
    compare(tmp_path, kept)
    with pytest.raises(RuntimeError, match="a is not what was written"):
        compare(tmp_path, values)
    load(tmp_path, values)
    assert torch.equal(local.to_local(), torch.arange(6.0).view(3, 2))
