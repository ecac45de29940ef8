"""Where in the user's code something happens: frames, lines, and the code that built an object."""
