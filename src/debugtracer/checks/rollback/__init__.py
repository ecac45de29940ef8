"""Questions about checkpoints: complete, finite, restored as saved?"""
