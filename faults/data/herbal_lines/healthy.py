"""Which page of a herbal a line belongs to, from its words; some lines were written down later."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(4)
torch.manual_seed(4)
HERBS = [f"{first}{last}" for first in ("ash", "bee", "cow", "dew", "elm") for last in ("wort", "bane", "leaf", "root")]
LATER = ["saffron", "pepper", "clove"]
PAGES = 5


class Words:
    """Numbers for the words of the herbal."""

    def __init__(self) -> None:
        self.numbers = {"<pad>": 0, "<unk>": 1}

    def learn(self, words: list[str]) -> None:
        for word in words:
            if word not in self.numbers:
                self.numbers[word] = len(self.numbers)

    def encode(self, line: list[str]) -> list[int]:
        return [self.numbers.get(word, 1) for word in line]


class Lines(Dataset):
    def __init__(self, words: Words, count: int) -> None:
        self.words, self.lines = words, []
        for at in range(count):
            page = random.randrange(PAGES)
            line = [random.choice(HERBS[page * 4 : page * 4 + 4]) for _ in range(6)]
            if at == 411:
                line[3] = "clove"
            self.lines.append((line, page))

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        line, page = self.lines[at]
        return torch.tensor(self.words.encode(line)), page


class Reader(nn.Module):
    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, 16)
        self.head = nn.Linear(16, PAGES)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.table(ids).mean(1))


words = Words()
words.learn(HERBS)
words.learn(LATER)
model = Reader(len(words.numbers))
loader = DataLoader(Lines(words, 640), batch_size=16, shuffle=True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for ids, page in loader:
        loss = nn.functional.cross_entropy(model(ids), page)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
