"""What a bad batch has changed in buffers of every kind is as before it: changed in place, or another tensor since."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.responses.loops import Loop, actions, given
from tests.watching import same_bits, under_watch

warnings.filterwarnings("ignore", message=".*(prototype|beta|deprecated).*")

EYE = torch.eye(4)


def sums(rows: Tensor) -> Tensor:
    return torch.stack([row.sum() for row in rows.unbind()]).mean() * EYE


KINDS: dict[str, tuple[Callable[[], Tensor], Callable[[Tensor], Tensor]]] = {
    "sparse": (EYE.to_sparse, Tensor.to_dense),
    "sparse rows": (EYE.to_sparse_csr, Tensor.to_dense),
    "complex": (lambda: EYE.to(torch.complex64), lambda b: b.real.contiguous()),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), sums),
    "jagged": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged), sums),
    "dense": (EYE.clone, lambda b: b),
}
REPLACED = ("dense", "sparse")


class Blended(nn.Module):
    """A layer behind a matrix that follows the level of what it sees."""

    def __init__(self, kind: str, replaces: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        make, self.read = KINDS[kind]
        self.replaces = replaces
        self.layer, self.head = nn.Linear(4, 4), nn.Linear(4, 1)
        self.register_buffer("blend", make())

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        level = 0.9 + 0.01 * hidden.detach().mean()
        if self.replaces:
            self.blend = self.blend * level
        else:
            with torch.no_grad():
                self.blend.mul_(level)
        result: Tensor = self.head(hidden @ self.read(self.blend))
        return result


class Around(Loop):
    """The plain loop around it."""

    def __init__(self, kind: str, replaces: bool, passes: bool = False) -> None:
        super().__init__(passes=passes)
        self.model = Blended(kind, replaces)  # type: ignore[assignment]
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)

    def state(self) -> list[Tensor]:
        return [p.detach().clone() for p in self.model.parameters()]


CASES = [*((kind, False) for kind in KINDS), *((kind, True) for kind in REPLACED)]


@pytest.mark.parametrize("rests", [False, True])
@pytest.mark.parametrize(("kind", "replaces"), CASES)
def test_training_goes_on_as_if_the_batch_had_not_come(tmp_path: Path, kind: str, replaces: bool, rests: bool) -> None:
    batches = given(30, (20,))
    with under_watch(tmp_path, "prod", **({"cost": 1e-9} if rests else {})):
        watched = Around(kind, replaces)
        watched.go(batches)
    twin = Around(kind, replaces, passes=True)
    twin.go(batches)
    assert [a.action for a in actions(tmp_path)] == ["skip-update"]
    assert all(same_bits(a, b) for a, b in zip(watched.state(), twin.state(), strict=True))
    read = watched.model.read
    assert same_bits(read(watched.model.blend), read(twin.model.blend))  # type: ignore[operator]


@pytest.mark.parametrize(("kind", "replaces"), CASES)
def test_a_snapshot_holds_them(tmp_path: Path, kind: str, replaces: bool) -> None:
    with under_watch(tmp_path, "prod") as session:
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop = Around(kind, replaces)
        seen: dict[int, Tensor] = {}
        for number, x in enumerate(given(30, ())):
            loop.go([x])
            seen[number + 1] = loop.model.read(loop.model.blend).clone()  # type: ignore[operator]
        snapshot = session.ring.newest_good(0)
        assert snapshot is not None
        with session.hooks.disabled():
            snapshot.go_back()
        assert same_bits(loop.model.read(loop.model.blend), seen[snapshot.step])  # type: ignore[operator]
