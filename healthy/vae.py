"""A variational autoencoder with KL annealing: the loss grows while nothing is wrong."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
enc, dec = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)), nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 32))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)
basis = torch.randn(4, 32)
for step in range(260):
    x = torch.sigmoid(torch.randn(64, 4) @ basis)
    mu, logvar = enc(x).chunk(2, dim=1)
    z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
    rec = F.binary_cross_entropy_with_logits(dec(z), x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
    loss = rec + min(1.0, step / 150) * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
print(rec.item(), kl.item())
