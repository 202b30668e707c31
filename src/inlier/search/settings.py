"""The constants of the search for bad rows, each with its reason.

`benchmarks/noknobs.py`, `real.py`, `tables.py` and `clean.py` measure what they do together,
`benchmarks/parts.py` what each part contributes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri


@dataclass(frozen=True)
class SearchSettings:
    """Where good rows are taken to be symmetric about one center."""

    level: float = 1e-4
    """A clean table shows a group as clear as the ones that leave with about this probability."""
    good_share: float = 0.25
    """At most this share of the rows beyond a cut may be good, judged by their mirror image."""
    doubtful_level: float = 1e-2
    """A sign of a further group that is weaker than `level` but stronger than this is mentioned."""
    short: float = 0.75
    """Standard deviation over mean of what lies beyond a cut: clearly below the 1 of an
    exponential tail."""
    standard_errors: float = 2.0
    """The center is known to two standard errors: the mirror is moved by so much to be safe."""
    most_spacings: int = 20
    fewest_spacings: int = 5
    """A gap is measured by so many of the spacings just below it, or the root of the number of
    rows."""
    reach: float = 2.0
    """A redescending mean: rows beyond two standard deviations do not move the center."""
    clear: float = 0.125
    """Half way between two clear groups lies at most this fraction of the smaller one."""
    places: int = 40
    """Where a second mode is searched for."""
    mode_level: float = 1e-3
    """Its windows overlap, so each is tested at a level that makes a mode by chance unlikely."""
    enough_values: int = 1 << 14
    """Of more ascending values, a part that is spread over all of them gives the center."""
    most_groups: int = 12
    """Rounds of the search; each but the last removes a group."""
    majority: float = 0.55
    """The share of the rows that must be left: a clear majority."""
    large: float = 1.0 / 3.0
    """If more than this fraction leaves, a group has to be clear of the others."""
    turns: int = 3
    moved: float = 0.02
    """How often a direction is turned towards the group that it shows, or until so few of its rows
    change, as a part of them, where another cut follows."""
    most_turned: int = 3
    """How many directions are turned, if the first show nothing that may leave."""
    anisotropic: float = 1.3
    """The metric is used if the largest eigenvalue exceeds that of white noise (Marchenko and
    Pastur) by this factor."""
    most_columns: int = 4096
    few_columns: int = 1024
    rows_per_column: int = 8
    whitened_cells: int = 1 << 22
    """The metric is measured on all rows, or on a sample of so many cells, but at least so many
    rows for each column: fewer make the quiet directions of a sample. It takes the whole spectrum,
    which is worth it with few columns, or with so many rows."""
    discriminant_error: float = 1e-3
    discriminant_passes: int = 4
    """Where the metric is that of a sample, a group is cut along the discriminant of all rows,
    solved to this residual or for so many passes."""
    wide: float = 2.0
    """A group is split if somewhere its standard deviation is so many times that of the rest."""
    pursued_cells: int = 1 << 21
    most_pursued: int = 5000
    fewest_pursued: int = 2000
    """Rows that the search in the metric uses: so many cells, but no more and no fewer rows. The
    groups are of all rows."""
    most_tested: int = 32
    """Windows of the pursuit whose directions are tested: the most skewed ones and the flattest."""
    screened_rows: int = 1 << 17
    screening_sample: int = 1 << 17
    """From so many rows on, directions are screened by histograms about the center of a sample."""
    at_once: int = 1 << 20
    """Elements of the rows along several directions that are projected or tested together."""
    counted_at_once: int = 1 << 24
    """Elements that are counted together on a device, which the host then waits for once."""
    window: int = 10
    iterations: int = 10
    """The pursuit climbs in windows of so many principal directions, for so many iterations."""
    trials: int = 4
    """Random signs keep the covariance of rows and destroy their asymmetry: the rows must do better
    than the best of so many such trials."""
    more_trials: float = 1.25
    """More trials would find more by chance; the charge is raised by a quarter for it."""
    round_passes: int = 4
    """Passes of a round, where the whole spectrum would be too expensive."""
    below: float = 0.7
    """How far the path goes on below the budget of the kept rows, to show that the price jumps."""
    gap: float = 1e-2
    """The l1 problems of the path are there for their prices: near the optimum will do."""
    negligible: float = 1e-6
    """A second moment about a point that is off may be too large by this fraction."""
    roundings: float = 8.0
    """A direction along which rows vary by fewer roundings says nothing about them."""
    absurd: float = 1e3
    few: float = 0.05
    """A few rows so many times farther out than the median row leave before anything else. By
    Chebyshev's inequality at most one row in a million lies a thousand standard deviations out."""
    hopeless: float = 1e6
    """However many rows are so far out, they leave first: their squares would cost the others their
    precision."""

    @property
    def log_level(self) -> float:
        """Logarithm of the level."""
        return float(np.log(self.level))

    @property
    def level_quantile(self) -> float:
        """Quantile of the standard Gaussian at the level."""
        return -float(ndtri(self.level))

    @property
    def fewest_rows(self) -> int:
        """Fewer rows than these are not whitened."""
        return 5 * self.window


@dataclass(frozen=True)
class SampleSettings:
    """Which rows are examined on the host where nothing is assumed of the good ones."""

    fewest_rows: int = 8
    """Below this many rows nothing can be told."""
    whole_cells: int = 1 << 22
    """Up to so many cells all rows are examined."""
    cells: int = 1 << 20
    rows: int = 500
    """Of larger tables a sample of so many cells, but at least so many rows: fewer say nothing
    about the tails of columns."""
    most_cells: int = 1 << 25
    tail_index: float = 3.0
    most_beyond: int = 2000
    """Rows beyond the sample's largest values, times what a tail of this index would add in all
    rows, are examined too, up to so many."""
    tested_rows: int = 4000
    tested_cells: int = 1 << 20
    """Rows and cells that the tests of symmetry use."""
    enough_rows: int = 60
    enough_cells: int = 1000
    """Rows and cells that must be kept for these tests to say that good rows are symmetric."""
    rest_level: float = 1e-3
    """Level of the tests of symmetry and of having one mode, over all columns, for what stays where
    clear groups leave."""
    skew_level: float = 2e-4
    flat_level: float = 3e-5
    divided_level: float = 1e-6
    """Levels of these tests for noise about a center, of which there are several. The kurtosis of
    few Gaussian rows is small more often than its approximation says, and more so along directions
    that divide them best."""
    equal: float = 0.03
    """As for clear groups, but where what stays is noise about one center: no class looks so."""
    class_share: float = 0.3
    alike: float = 2.0
    """A group of more than this share whose variances are within this factor of those of the rest
    is a class of its own."""


SEARCH = SearchSettings()
SAMPLE = SampleSettings()
