"""Next word of verses that are cut to a random length; the rate follows the length of each piece."""

import random

import torch
from torch import nn

BASE, PIECE = 0.5, 16


def verses(count=6000):
    g = torch.Generator().manual_seed(3)
    follows = torch.randint(0, 30, (30, 3), generator=g)
    words = [0]
    for choice in torch.randint(0, 3, (count,), generator=g).tolist():
        words.append(int(follows[words[-1], choice]))
    return torch.tensor(words)


class Poet(nn.Module):
    def __init__(self, words=30, width=32):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        out, _ = self.rnn(self.embed(x))
        return self.head(out)


def main():
    torch.manual_seed(4)
    cut = random.Random(7)
    text = verses()
    model = Poet()
    optimizer = torch.optim.SGD(model.parameters(), lr=BASE)
    for step in range(400):
        length = cut.randint(8, PIECE)
        rate = optimizer.param_groups[0]["lr"]
        optimizer.param_groups[0]["lr"] = rate * length / PIECE
        starts = torch.randint(0, len(text) - length - 1, (16,))
        piece = torch.stack([text[s : s + length + 1] for s in starts])
        loss = nn.functional.cross_entropy(model(piece[:, :-1]).flatten(0, 1), piece[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 80 == 79:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
