"""A loader worker raises; the user catches it, prints its type, and goes on without workers."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i == 7:
            raise KeyError(f"row {i} is missing")
        return torch.full((2,), float(i))


def main():
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for workers in (2, 0):
        try:
            for x in DataLoader(Rows(), batch_size=3, num_workers=workers):
                loss = model(x).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(workers, loss.item().hex())
        except KeyError as error:
            print(type(error).__name__, "row 7" in str(error))


if __name__ == "__main__":
    main()
