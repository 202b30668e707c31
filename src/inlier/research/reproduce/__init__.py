"""The paper's experiments, and others, as one command: `reproduce`.

Each experiment is a file: `tables`, `figures`, `pictures`.
They share `methods` (with labels, colours and the style of figures) and `chapter` (the result of an
experiment). `reproduction` runs them and writes the files; `command` is `inlier reproduce`.
"""
