"""What a user knows of the bad or of the good rows, and what it changes.

`contamination`: at most this fraction of the rows is bad. `trusted`: rows that somebody has
checked. Both start from the answer of a fit and trim further rows, from the outermost inwards
(`inlier.given.trimming`); they differ in where they stop. `sensitivity` shows beforehand what each
fraction would change.
"""
