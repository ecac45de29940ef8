"""Message passing on small molecules: solubility from atoms, bonds and positions."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

KINDS, WIDTH, LAYERS, BATCH, EPOCHS = 6, 40, 3, 16, 9


class Molecules(Dataset):
    def __init__(self, count=640, seed=5):
        g = torch.Generator().manual_seed(seed)
        polarity = torch.tensor([0.1, 0.9, 0.7, -0.4, -0.2, 0.5])
        self.graphs = []
        for number in range(count):
            size = int(torch.randint(5, 13, (1,), generator=g))
            kind = torch.randint(0, KINDS, (size,), generator=g)
            parent = [int(torch.randint(0, k, (1,), generator=g)) for k in range(1, size)]
            bonds = [(k + 1, p) for k, p in enumerate(parent)]
            place = torch.randn(size, 3, generator=g)
            pairs = polarity[kind[1:]] * polarity[kind[torch.tensor(parent)]]
            concentration = (polarity[kind].mean() + pairs.mean() + 0.05 * torch.randn(1, generator=g).item()).exp()
            self.graphs.append({"kind": kind, "bonds": bonds, "place": place, "concentration": float(concentration)})

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        graph = self.graphs[i]
        one_way = torch.tensor(graph["bonds"], dtype=torch.long).reshape(-1, 2).T
        edges = torch.cat([one_way, one_way.flip(0)], 1)
        target = torch.tensor(graph["concentration"]).log()
        return graph["kind"], edges, graph["place"], target


def collate(items):
    sizes = torch.tensor([len(kind) for kind, *_ in items])
    start = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)[:-1]])
    return {
        "kind": torch.cat([kind for kind, *_ in items]),
        "edges": torch.cat([edges + s for (_, edges, *_), s in zip(items, start)], 1),
        "place": torch.cat([place for _, _, place, _ in items]),
        "graph": torch.arange(len(items)).repeat_interleave(sizes),
        "target": torch.stack([target for *_, target in items]),
    }


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * WIDTH + 1, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU())
        self.shift = nn.Linear(WIDTH, 1, bias=False)
        self.update = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, h, x, edges):
        to, source = edges
        away = x[to] - x[source]
        distance = (away.pow(2).sum(1, keepdim=True) + 1e-6).sqrt()
        message = self.message(torch.cat([h[to], h[source], distance], 1))
        degree = torch.zeros(len(h)).index_add(0, to, torch.ones(len(to))).clamp(min=1)[:, None]
        total = torch.zeros_like(h).index_add(0, to, message) / degree
        moved = torch.zeros_like(x).index_add(0, to, away * torch.tanh(self.shift(message))) / degree
        return self.norm(h + self.update(torch.cat([h, total], 1))), x + moved


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(KINDS, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 1))

    def forward(self, batch):
        h, x = self.embed(batch["kind"]), batch["place"]
        for layer in self.layers:
            h, x = layer(h, x, batch["edges"])
        graphs = len(batch["target"])
        size = torch.bincount(batch["graph"], minlength=graphs)[:, None]
        pooled = torch.zeros(graphs, WIDTH).index_add(0, batch["graph"], h) / size
        return self.head(pooled).squeeze(1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    error = torch.cat([(model(batch) - batch["target"]).abs() for batch in loader]).mean()
    model.train()
    return error.item()


def main():
    torch.manual_seed(0)
    train = DataLoader(Molecules(), BATCH, shuffle=True, collate_fn=collate, generator=torch.Generator().manual_seed(8))
    held = DataLoader(Molecules(96, seed=6), 32, collate_fn=collate)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS, eta_min=2e-4)
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in train:
            loss = F.mse_loss(model(batch), batch["target"])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
            step += 1
        schedule.step()
        print(f"epoch {epoch} step {step} loss {total / len(train):.4f} held-out mae {evaluate(model, held):.4f}")


if __name__ == "__main__":
    main()
