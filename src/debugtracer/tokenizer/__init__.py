"""Two tokenizers compared: what they know, how they cut and pad, and the ids they give to the same texts. Imports no
torch."""
