"""Questions about what is fed: batches, labels, tokens, loaders, seeds."""
