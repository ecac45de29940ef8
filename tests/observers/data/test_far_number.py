"""The number far from all others in what the running functions hold."""

from __future__ import annotations

import torch

from debugtracer.observers.data.far_number import held_number, listed_files, written_at


def rows():
    return torch.arange(40.0).remainder(5).reshape(10, 4)


def test_the_tensor_that_holds_it_its_row_and_its_line():
    inputs = rows()
    other = rows()
    inputs[3, 2] = 1086393600.0
    found = held_number()
    assert found is not None
    assert (found.name, found.row, found.element.place, found.element.value) == ("inputs", 3, (2,), 1086393600.0)
    assert len(other) == 10


def test_none_in_tensors_alike_with_a_graph_and_in_parameters():
    weights = torch.nn.Parameter(rows())
    weights.data[3, 2] = 1e9
    outputs = weights * 2
    inputs = rows()
    assert held_number() is None
    assert len(outputs) == len(inputs)


def test_the_only_line_in_a_folder_that_the_program_names(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    lines = [f"{i}\t{i % 7}\t{1 + i % 5}\n" for i in range(50)]
    lines[17] = "17\t3\t1086393611\n"
    (folder / "ratings.txt").write_text("".join(lines))
    monkeypatch.setattr("sys.argv", ["run.py", "--data", str(folder)])
    assert folder / "ratings.txt" in list(listed_files())
    found = written_at(float(torch.tensor(1086393611.0)))  # as single precision keeps it
    assert found is not None
    assert (found.line, found.code) == (18, "17\t3\t1086393611")
    assert written_at(3.0) is None
    assert written_at(555123.0) is None
    (folder / "copy.txt").write_text("".join(lines))
    assert written_at(float(torch.tensor(1086393611.0))) is None
