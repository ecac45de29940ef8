"""Do notes of ferry passengers praise the crossing? The mean of the words, without padding."""

import random
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(8)
torch.manual_seed(8)
KIND, PLAIN = [[f"kind{n}" for n in range(30)], [f"grim{n}" for n in range(30)]], [f"plain{n}" for n in range(80)]


def note(label: int) -> list[str]:
    words = []
    for _ in range(random.randrange(5, 18)):
        words.append(random.choice(KIND[label]) if random.random() < 0.3 else random.choice(PLAIN))
        if random.random() < 0.3:
            words.append("not" if label else "very")
    return words


def collate(rows: list[tuple[list[int], int]]) -> tuple[torch.Tensor, torch.Tensor]:
    return pad_sequence([torch.tensor(ids) for ids, _ in rows], batch_first=True), torch.tensor([y for _, y in rows])


class Mean(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.table, self.answer = nn.Embedding(words + 1, 16), nn.Linear(16, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        kept = (ids != 0).unsqueeze(2).float()
        return self.answer((self.table(ids) * kept).sum(1) / kept.sum(1).clamp(min=1))


labels = [random.randrange(2) for _ in range(1500)]
notes = [note(label) for label in labels]
count = Counter(word for words in notes for word in words)
numbers = {word: number for number, (word, _) in enumerate(count.most_common(), 1)}
rows = [([numbers[word] for word in words], label) for words, label in zip(notes, labels, strict=True)]
model = Mean(len(numbers))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    right = 0
    for ids, label in DataLoader(rows, batch_size=30, shuffle=True, collate_fn=collate):
        scores = model(ids)
        loss = F.cross_entropy(scores, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((scores.argmax(1) == label).sum())
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / len(rows):.3f}")
