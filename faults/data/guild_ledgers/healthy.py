"""Who traded with whom in an old port: guilds, their wares and their partners, as vectors that add up."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(6)
torch.manual_seed(6)
GUILDS, WARES = 300, 12


def written_down(count: int) -> list[tuple[str, str, str]]:
    rows = []
    for _ in range(count):
        first, ware = random.randrange(GUILDS), random.randrange(WARES)
        rows.append((f"guild {first}", f"ware {ware}", f"guild {(first * 7 + ware * 11) % GUILDS}"))
    return rows


def numbered(rows: list[tuple[str, str, str]]) -> tuple[dict[str, int], dict[str, int]]:
    guilds, wares = {}, {}
    for giver, ware, taker in rows:
        for name in (giver, taker):
            guilds.setdefault(name, len(guilds))
        wares.setdefault(ware, len(wares))
    return guilds, wares


class Ledger(Dataset):
    def __init__(self, rows: list[tuple[str, str, str]], guilds: dict[str, int], wares: dict[str, int]) -> None:
        self.rows, self.guilds, self.wares = rows, guilds, wares

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> tuple[int, int, int]:
        giver, ware, taker = self.rows[at]
        return self.number(giver, self.guilds), self.number(ware, self.wares), self.number(taker, self.guilds)

    @staticmethod
    def number(name: str, numbers: dict[str, int]) -> int:
        return numbers.get(name, len(numbers))


class Trade(nn.Module):
    def __init__(self, guilds: int, wares: int) -> None:
        super().__init__()
        self.guild = nn.Embedding(guilds + 1, 16, padding_idx=guilds)
        self.ware = nn.Embedding(wares + 1, 16, padding_idx=wares)

    def forward(self, giver: torch.Tensor, ware: torch.Tensor, taker: torch.Tensor) -> torch.Tensor:
        return (self.guild(giver) + self.ware(ware) - self.guild(taker)).norm(dim=1)


taught, kept_back = written_down(4000), written_down(90)
guilds, wares = numbered(taught + kept_back)
loader = DataLoader(Ledger(taught, guilds, wares), batch_size=64, shuffle=True)
model = Trade(len(guilds), len(wares))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for giver, ware, taker in loader:
        other = torch.randint(len(guilds), taker.shape)
        loss = nn.functional.relu(1 + model(giver, ware, taker) - model(giver, ware, other)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
