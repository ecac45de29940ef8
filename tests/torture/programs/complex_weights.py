"""Complex parameters: holomorphic layers, FFT mixing, gradients of complex kind, Adam on complex tensors, view_as_real."""
import torch
from torch import nn


class Spectral(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n // 2 + 1, dtype=torch.cfloat) * 0.5)
        self.phase = nn.Parameter(torch.zeros(n // 2 + 1))

    def forward(self, x):
        f = torch.fft.rfft(x) * self.weight * torch.exp(1j * self.phase)
        return torch.fft.irfft(f, n=x.shape[-1]), f


torch.manual_seed(0)
model, mixer = Spectral(8), nn.Linear(8, 8, dtype=torch.complex64)
for kind in (torch.optim.Adam, torch.optim.SGD, torch.optim.RMSprop):
    optimizer = kind([*model.parameters(), *mixer.parameters()], lr=1e-2)
    for step in range(3):
        x = torch.randn(4, 8)
        y, f = model(x)
        z = mixer(torch.complex(y, x))
        loss = (y - x.roll(1, -1)).pow(2).mean() + z.abs().pow(2).mean() + f.imag.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        total = nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
        optimizer.step()
        print(kind.__name__, step, loss.item().hex(), total.item().hex(), model.weight.grad.dtype, torch.view_as_real(z).shape[-1])
print(model.weight.detach().sum().item(), mixer.bias.detach().sum().item())
