"""Which mussels settle on which stones: an autoencoder of the counts of each quadrat, from the lines of a survey."""

import random

import torch
from torch import nn

torch.manual_seed(3)
random.seed(3)
STONES, QUADRATS, BATCH = 40, 300, 32

survey = []
for quadrat in range(QUADRATS):
    for stone in random.sample(range(STONES), 12):
        survey.append(f"{quadrat}\t{stone}\t{1 + (quadrat % 5 + stone) % 5}")

counts = {}
for line in survey:
    quadrat, stone, count = line.split("\t")
    counts.setdefault(int(quadrat), []).append((int(stone), float(count)))


def batches():
    order = list(counts)
    random.shuffle(order)
    for begin in range(0, len(order) - BATCH, BATCH):
        rows = [(row, *pair) for row, key in enumerate(order[begin : begin + BATCH]) for pair in counts[key]]
        places = torch.tensor([[row for row, _, _ in rows], [stone for _, stone, _ in rows]])
        yield torch.sparse_coo_tensor(places, torch.tensor([count for _, _, count in rows]), (BATCH, STONES))


def main():
    model = nn.Sequential(nn.Linear(STONES, 32), nn.SELU(), nn.Linear(32, STONES))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        for batch in batches():
            inputs = batch.to_dense()
            optimizer.zero_grad()
            loss = ((model(inputs) - inputs)[inputs != 0] ** 2).mean()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


main()
