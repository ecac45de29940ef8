"""Does the second notice of a harbour agree with the first, deny it, or say nothing of it?"""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(5)
torch.manual_seed(5)
BERTHS = [f"berth{number}" for number in range(60)]
SIGNS = [["open", "free", "clear", "ready"], ["shut", "blocked", "taken", "closed"], ["maybe", "later", "soon", "perhaps"]]


def notices(count: int) -> list[tuple[list[str], list[str], int]]:
    rows = []
    for _ in range(count):
        first, label = random.sample(BERTHS, 5), random.randrange(3)
        second = [*random.sample(first, 2), random.choice(SIGNS[label])]
        rows.append((first, random.sample(second, 3), label))
    return rows


def numbered(texts: list[list[str]]) -> dict[str, int]:
    words = {"<pad>": 0, "<unk>": 1}
    for text in texts:
        for word in text:
            words.setdefault(word, len(words))
    return words


class Notices(Dataset):
    def __init__(self, rows: list[tuple[list[str], list[str], int]], words: dict[str, int]) -> None:
        self.rows, self.words = rows, words

    def __len__(self) -> int:
        return len(self.rows)

    def ids(self, text: list[str]) -> torch.Tensor:
        return torch.tensor([self.words.get(word, self.words["<unk>"]) for word in text])

    def __getitem__(self, at: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        first, second, label = self.rows[at]
        return self.ids(first), self.ids(second), label


class Reader(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words, 24, padding_idx=0)
        self.answer = nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))

    def forward(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return self.answer(torch.cat([self.table(first).mean(1), self.table(second).mean(1)], 1))


rows = notices(1800)
words = numbered([first for first, _, _ in rows])
loader = DataLoader(Notices(rows, words), batch_size=60, shuffle=True)
model = Reader(len(words))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(5):
    right = 0
    for first, second, label in loader:
        scores = model(first, second)
        loss = nn.functional.cross_entropy(scores, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((scores.argmax(1) == label).sum())
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / len(rows):.3f}")
