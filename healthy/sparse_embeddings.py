"""Skip-gram with sparse embedding gradients: two optimizers, most rows untouched in a step."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
V = 2000
zipf = 1.0 / torch.arange(1, V + 1)
center, context = nn.Embedding(V, 24, sparse=True), nn.Embedding(V, 24, sparse=True)
nn.init.uniform_(center.weight, -0.02, 0.02)
nn.init.zeros_(context.weight)
scale = nn.Linear(1, 1)
sparse = torch.optim.SparseAdam([*center.parameters(), *context.parameters()], 1e-2)
dense = torch.optim.Adam(scale.parameters(), 1e-3)
for step in range(200):
    word = torch.multinomial(zipf, 64, replacement=True)
    near = (word + torch.randint(1, 4, (64,))) % V
    noise = torch.multinomial(zipf, 64 * 5, replacement=True).view(64, 5)
    c = center(word)
    good = (c * context(near)).sum(1, keepdim=True)
    bad = torch.bmm(context(noise), c.unsqueeze(2)).squeeze(2)
    loss = -(F.logsigmoid(scale(good)).mean() + F.logsigmoid(-bad).sum(1).mean())
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
print(loss.item())
