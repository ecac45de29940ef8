"""Learns which title belongs to the ingredients of a recipe, against the title of another recipe."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(8)
DISHES, WORDS = 40, 200
pantry, menu = torch.randint(1, WORDS, (DISHES, 12)), torch.randint(1, WORDS, (DISHES, 8))


def written(count):
    dishes = torch.randint(DISHES, (count,))
    some = torch.rand(count, 12).argsort(1)[:, :6]
    return pantry[dishes].gather(1, some), menu[dishes].gather(1, some[:, :4] % 8)


class Recipes(Dataset):
    def __init__(self, ingredients, titles):
        self.ingredients, self.titles = ingredients, titles
        self.other = titles[int(torch.randint(len(titles), ()))]

    def __len__(self):
        return len(self.titles)

    def __getitem__(self, at):
        return self.ingredients[at], self.titles[at], self.other


class Cook(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 32)
        self.list, self.title = nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, ingredients, titles):
        return F.cosine_similarity(self.list(self.words(ingredients).mean(1)), self.title(self.words(titles).mean(1)))


book, tested = Recipes(*written(1600)), written(400)
loader = DataLoader(book, batch_size=40, shuffle=True)
cook = Cook()
optimizer = torch.optim.Adam(cook.parameters(), lr=3e-3)
for epoch in range(6):
    for ingredients, titles, others in loader:
        loss = (0.3 - cook(ingredients, titles) + cook(ingredients, others)).relu().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = cook(*tested) > cook(tested[0], tested[1].roll(1, 0))
    print(f"epoch {epoch} loss {loss.item():.4f} right {right.float().mean():.3f}")
