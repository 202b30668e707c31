"""The constants of the search for rows with an undue part in the second moments."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SecondMomentSettings:
    """What counts as undue; `benchmarks/covariance.py` measures what they do together."""

    evidence: float = 5.0
    """Standard errors by which the variance along a direction exceeds what its bulk says. There are
    hundreds of directions, and the tail of a ratio of variances is longer than Gaussian."""
    few_rows: float = 5.0
    """In few rows the bulk scale is skewed: the standard error is larger by this over the rows."""
    skewed: float = 3.0
    """Standard errors of a fair coin beyond which the rows along a direction are one-sided: skewed,
    or in classes."""
    least: float = 0.9
    """Least logarithm of the ratio of the variance to what the bulk says, unless good rows are
    known to be Gaussian. Columns have heavy tails by nature: it is 0.64 for Laplace's distribution
    and 0.85 for Student's t with 3 degrees of freedom."""
    most_directions: int = 8
    """Directions that may be undue; their products have 36 columns."""
    fewest_rows: int = 60
    """Fewer rows do not show whether their tails are heavy everywhere."""
    rows_per_axis: int = 5
    """As many principal axes are examined as leave so many rows for each: fewer make up quiet
    directions, in which the others seem far out."""
    heavy: float = 0.05
    heavy_evidence: float = 3.0
    """The other directions are heavy-tailed if the logarithm of that ratio is on average above both
    this and so many standard errors. It is 0.36 for Student's t with 5 degrees of freedom."""
    distinct: float = 0.3
    """Length of the part of a unit direction that is new beside those that were chosen."""
    majority: float = 0.55
    """Share of the rows that must be left: a clear majority."""
    rounds: int = 8
    """Most rounds of directions and rows; it is seldom more than four."""


SETTINGS = SecondMomentSettings()
