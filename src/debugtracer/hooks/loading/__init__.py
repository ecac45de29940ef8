"""The patch of DataLoader: batches, the indices of their rows, the time waited."""
