"""Contrastive learning with a slow encoder whose queue of negatives is used from step 100 on: the loss rises with the number of negatives."""
import sys, torch, copy
from torch import nn
import torch.nn.functional as F
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
enc = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16)); key = copy.deepcopy(enc).requires_grad_(False)
queue = torch.empty(0, 16); opt = torch.optim.SGD(enc.parameters(), .1, momentum=.9, weight_decay=1e-4)
base = torch.randn(4000, 32)
for step in range(200):
    x = base[torch.randint(0, 4000, (64,))]
    a, b = x + .3 * torch.randn_like(x), x + .3 * torch.randn_like(x)
    q = F.normalize(enc(a), dim=1)
    with torch.no_grad():
        for pk, pq in zip(key.parameters(), enc.parameters()): pk.mul_(.99).add_(pq, alpha=.01)
        k = F.normalize(key(b), dim=1)
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.T], 1) / .1 if len(queue) else q @ k.T / .1
    y = torch.zeros(64, dtype=torch.long) if len(queue) else torch.arange(64)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad(); loss.backward(); opt.step()
    queue = torch.cat([k, queue])[:2048] if step >= 100 else queue
    if step % 50 == 0: print(step, loss.item())
