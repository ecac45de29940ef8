"""What torch.save writes is read back without building an object of it."""

from __future__ import annotations

import io

import pytest
import torch
from torch import nn

from debugtracer.observers.checkpoint.archive import damage_of, mark_of

LARGE = 1 << 30


@pytest.fixture
def saved(tmp_path):
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "head": model[0].weight, "step": 3},
        tmp_path / "a.pt",
    )
    return model, bytearray((tmp_path / "a.pt").read_bytes())


def look(content, most=LARGE):
    return damage_of(io.BytesIO(bytes(content)), most)


def test_a_sound_file_and_other_formats_say_nothing(saved, tmp_path):
    assert look(saved[1]) is None
    assert look(b"") is None
    torch.save(saved[0].state_dict(), tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert look((tmp_path / "old.pt").read_bytes()) is None


def test_one_bit_of_a_weight_is_found_and_named_and_torch_loads_it(saved, tmp_path):
    model, content = saved
    content[content.find(model[0].bias.detach().numpy().tobytes()) + 7] ^= 0x40
    (tmp_path / "b.pt").write_bytes(content)
    torch.load(tmp_path / "b.pt")
    damage = look(content)
    assert damage.tensors == ("model.0.bias",)
    assert (len(damage.records), damage.cut) == (1, False)
    assert damage.records[0].startswith("a/data/")


def test_a_storage_that_two_names_share_is_named_twice(saved):
    model, content = saved
    content[content.find(model[0].weight.detach().numpy().tobytes()) + 7] ^= 0x40
    assert look(content).tensors == ("model.0.weight", "head")


def test_a_damaged_pickle_has_no_names_and_only_the_first_bytes_are_read(saved):
    content = saved[1]
    content[content.find(b"data.pkl") + 400] ^= 0xFF
    assert look(content).tensors == ()
    assert look(content).records == ("a/data.pkl",)
    assert look(content, most=0) is None


def test_a_file_that_ends_too_early_is_cut(saved):
    assert look(saved[1][: len(saved[1]) // 2]).cut


def test_a_file_without_checksums_says_nothing(saved, tmp_path):
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(saved[0].state_dict(), tmp_path / "c.pt")
    finally:
        torch.serialization.set_crc32_options(True)
    assert look((tmp_path / "c.pt").read_bytes()) is None


def test_a_write_changes_the_mark(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    with path.open("rb") as file:
        before = mark_of(file)
        assert mark_of(file) == before
        path.write_bytes(b"abcd")
        assert mark_of(file) != before
