"""Quantisation-aware training: fake quantise modules with observers, learnable scales, observers frozen midway."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
from torch.ao.quantization import FakeQuantize, MovingAverageMinMaxObserver, disable_observer  # noqa: E402

torch.manual_seed(0)


class Aware(nn.Module):
    def __init__(self):
        super().__init__()
        words = {"observer": MovingAverageMinMaxObserver, "quant_min": -128, "quant_max": 127, "dtype": torch.qint8}
        self.layer, self.head = nn.Linear(4, 6), nn.Linear(6, 1)
        self.of_weight, self.of_input = FakeQuantize(**words), FakeQuantize(**words)
        self.scale, self.zero = nn.Parameter(torch.tensor([0.05])), nn.Parameter(torch.tensor([0.0]))

    def forward(self, x):
        h = nn.functional.linear(self.of_input(x), self.of_weight(self.layer.weight), self.layer.bias).relu()
        h = torch._fake_quantize_learnable_per_tensor_affine(h, self.scale, self.zero, 0, 255, 1.0)
        return self.head(h)


model = Aware()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(6):
    if step == 3:
        model.apply(disable_observer)
    loss = (model(torch.randn(6, 4)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), model.of_weight.scale.item().hex(), model.scale.item().hex(), model.of_input.zero_point.item())
