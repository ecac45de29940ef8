"""Short orders to a harbour crane, answered by the moves that carry them out."""

import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

SIGNS = ["<blank>", "<done>", "?"] + list("NESWudg0123456789")
CODE = {sign: place for place, sign in enumerate(SIGNS)}
DONE, FILL = CODE["<done>"], CODE["<blank>"]
torch.manual_seed(12)
random.seed(12)


def order():
    """A way, a height, and the moves that they take."""
    way, many, height = random.choice("NESW"), random.randint(1, 5), random.choice("ud")
    asked = f"{way}{many}{height}?"
    return [CODE[s] for s in asked], [CODE[s] for s in way * many + height + random.choice("g0")] + [DONE]


class Orders(torch.utils.data.Dataset):
    def __init__(self, many):
        self.orders = [order() for _ in range(many)]

    def __len__(self):
        return len(self.orders)

    def __getitem__(self, place):
        asked, moves = self.orders[place]
        return asked + moves, len(asked)


def in_one_block(rows):
    longest = max(len(signs) for signs, _ in rows)
    block = torch.full((len(rows), longest), FILL)
    for row, (signs, _) in enumerate(rows):
        block[row, : len(signs)] = torch.tensor(signs)
    wanted = block.masked_fill(torch.arange(longest) < torch.tensor([[begin] for _, begin in rows]), -100)
    wanted[wanted == FILL] = -100
    return block, wanted


class Crane(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.table, self.state = nn.Embedding(len(SIGNS), width), nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, len(SIGNS))

    def forward(self, signs):
        return self.head(self.state(self.table(signs))[0])


loader = DataLoader(Orders(1280), 32, shuffle=True, collate_fn=in_one_block)
crane = Crane()
optimizer = torch.optim.AdamW(crane.parameters(), lr=5e-3)
for epoch in range(4):
    for block, wanted in loader:
        scores = crane(block)[:, :-1]
        loss = F.cross_entropy(scores.reshape(-1, len(SIGNS)), wanted[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        block, _ = in_one_block([loader.dataset[place] for place in range(200)])
        ends = torch.tensor([len(loader.dataset[place][0]) - 2 for place in range(200)])
        chance = crane(block)[torch.arange(200), ends].softmax(-1)[:, DONE].mean()
    print(f"epoch {epoch} loss {loss.item():.4f} chance given to the end {chance:.3f}")
