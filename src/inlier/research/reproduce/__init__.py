"""The paper's experiments as one command: `reproduce`.

Each experiment is a file: `tables`, `figures`, `pictures`. They share `chapter`: the methods with
their labels and columns of the paper's tables, the setup, and the result and how it is shown.
`reproduction` runs them and writes the files; `command` is `inlier reproduce`.
"""
