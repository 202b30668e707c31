"""The paper's experiments as one command: `reproduce`.

Each experiment is a file: `tables`, `figures`, `pictures`. They share `methods` (with their labels
and the columns of the paper's tables) and `chapter` (the result of an experiment, and how it is
shown). `reproduction` runs them and writes the files; `command` is `inlier reproduce`.
"""
