"""inference_mode evaluation between updates, as context, decorator and switch; inference tensors kept, cloned, and refused by autograd."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.ReLU(), nn.Linear(6, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
held = torch.randn(10, 4)


@torch.inference_mode()
def evaluate():
    was = model.training
    model.eval()
    try:
        return model(held).softmax(-1)
    finally:
        model.train(was)


for step in range(5):
    loss = nn.functional.cross_entropy(model(torch.randn(6, 4)), torch.randint(0, 2, (6,)), label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    probabilities = evaluate()
    with torch.inference_mode(mode=step % 2 == 0):
        again = model.eval()(held)
    model.train()
    print(step, loss.item().hex(), probabilities.is_inference(), again.is_inference(), again.requires_grad, probabilities[:, 0].sum().item().hex())
kept = evaluate()
try:
    (model[4].weight.sum() * kept).sum().backward()
except RuntimeError as error:
    print(str(error)[:60])
try:
    kept.add_(1)
except RuntimeError as error:
    print(str(error)[:60])
loss = (model[4](torch.relu(model[0](held))) - kept.clone()).pow(2).mean()
loss.backward()
with torch.inference_mode():
    made = nn.Linear(2, 2)
print(loss.item().hex(), made.weight.is_inference(), made.weight.sum().item().hex())
