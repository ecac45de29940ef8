"""Two towers for a shop: users by what they bought, items by what they are; in-batch softmax over the events of two months."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

USERS, ITEMS, TOPICS, HISTORY, WIDTH, BATCH, EPOCHS = 400, 300, 10, 6, 32, 64, 4
NONE = 0


class Events(Dataset):
    """One purchase each, in the order of time."""

    def __init__(self, count=5760, seed=2):
        g = torch.Generator().manual_seed(seed)
        shop = torch.Generator().manual_seed(20)
        self.topic = torch.randint(0, TOPICS, (ITEMS + 1,), generator=shop)
        self.price = 1 + 99 * torch.rand(ITEMS + 1, generator=shop)
        taste = torch.randint(0, TOPICS, (USERS,), generator=shop)
        shelf = [(self.topic[1:] == t).nonzero().flatten() + 1 for t in range(TOPICS)]
        self.user = torch.randint(0, USERS, (count,), generator=g)
        pick = torch.rand(count, HISTORY + 1, generator=g)
        choice = [[shelf[taste[u]][int(p * len(shelf[taste[u]]))] for p in row] for u, row in zip(self.user.tolist(), pick.tolist())]
        self.item = torch.tensor([row[0] for row in choice])
        self.history = torch.tensor([row[1:] for row in choice])
        self.seen = torch.bincount(self.item, minlength=ITEMS + 1).float() + 1

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        item = self.item[i]
        share = self.seen[item] / self.seen.sum()
        return self.user[i], self.history[i], item, torch.stack([self.price[item].log(), share.log()])


class UserTower(nn.Module):
    def __init__(self, items):
        super().__init__()
        self.items = items
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def forward(self, history):
        keep = (history != NONE).float()[..., None]
        mean = (self.items(history) * keep).sum(1) / keep.sum(1).clamp(min=1)
        return self.mlp(mean)


class ItemTower(nn.Module):
    def __init__(self, items):
        super().__init__()
        self.items = items
        self.mlp = nn.Sequential(nn.Linear(WIDTH + 1, 64), nn.ReLU(), nn.Linear(64, WIDTH))

    def forward(self, item, price):
        return self.mlp(torch.cat([self.items(item), price[:, None]], 1))


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS + 1, WIDTH)
        self.user, self.item = UserTower(self.items), ItemTower(self.items)
        self.log_temperature = nn.Parameter(torch.tensor(-1.5))

    def forward(self, history, item, price):
        user = F.normalize(self.user(history), dim=1)
        item = F.normalize(self.item(item, price), dim=1)
        return user @ item.T / self.log_temperature.exp().clamp(min=0.02)


def loss_of(model, batch):
    user, history, item, facts = batch
    scores = model(history, item, facts[:, 0])
    scores = scores - facts[:, 1]
    same = (item[:, None] == item) & ~torch.eye(len(item), dtype=torch.bool)
    return F.cross_entropy(scores.masked_fill(same, -1e4), torch.arange(len(item)))


@torch.no_grad()
def recall(model, events, count=200, at=30):
    model.eval()
    every = F.normalize(model.item(torch.arange(1, ITEMS + 1), events.price[1:].log()), dim=1)
    user = F.normalize(model.user(events.history[:count]), dim=1)
    best = (user @ every.T).topk(at).indices + 1
    model.train()
    return (best == events.item[:count, None]).any(1).float().mean().item()


def main():
    torch.manual_seed(0)
    events, later = Events(), Events(400, seed=3)
    loader = DataLoader(events, BATCH, shuffle=False)
    model = TwoTowers()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in loader:
            loss = loss_of(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
        print(f"epoch {epoch} step {step} loss {total / len(loader):.3f} temperature {model.log_temperature.exp().item():.3f} recall {recall(model, later):.3f}")


if __name__ == "__main__":
    main()
