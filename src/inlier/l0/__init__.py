"""The l0 problem of the paper with a given sigma: its convex relaxations, and the fit."""
