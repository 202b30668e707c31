"""`python -m inlier` is the command line."""

from inlier.cli import main

main()
