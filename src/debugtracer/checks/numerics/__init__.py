"""Questions about the numbers themselves: are they finite, do they fit their dtype?"""
