"""Complex, float64, bfloat16 and half parameters in one model; a loss of float64."""
import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectrum = nn.Parameter(torch.randn(4, dtype=torch.complex64))
        self.exact = nn.Parameter(torch.randn(4, dtype=torch.float64))
        self.brain = nn.Parameter(torch.randn(4, dtype=torch.bfloat16))
        self.small = nn.Parameter(torch.randn(4, dtype=torch.float16))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        self.count += 1
        y = torch.fft.ifft(torch.fft.fft(x) * self.spectrum).real
        return (y.double() * self.exact).sum() + (self.brain.float() * self.small.float()).sum()


torch.manual_seed(0)
model = Mixed()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(4):
    loss = model(torch.randn(3, 4)).pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), loss.dtype, model.count.item(), model.spectrum.grad.abs().sum().item().hex())
