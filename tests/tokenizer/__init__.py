"""Two tokenizers compared."""
