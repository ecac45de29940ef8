"""The sentences of the text views, the same words in each."""
