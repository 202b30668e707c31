"""The numbers of the search, one line each: name, value, reason.

`benchmarks/attacks.py`, `real.py`, `tables.py` and `clean.py` measure what they do together.
"""

import numpy as np
from scipy.special import ndtri

# -- which rows are tested on the host

FEWEST_ROWS = 8  # fewer rows are not tested
WHOLE_CELLS = 1 << 22  # tables of up to this many cells are tested in full
SAMPLE_CELLS = 1 << 20  # of larger tables a sample of this many cells is tested, ...
SAMPLE_ROWS = 500  # but no fewer rows: fewer do not show the tails of the columns
MOST_SAMPLE_CELLS = 1 << 25  # a sample that would need more cells is not drawn
SEPARATED_ROWS = 1000  # rows in which separated groups are searched for

# -- extreme and separated rows

TAIL_INDEX = 3.0  # expected of good values: their variance is finite, and a bit more
FEW_SHARE = 0.12  # share of the rows that counts as few; more may be a natural minority
KEPT_SHARE = 0.58  # share of the rows that must be kept: a clear majority
ROUNDS = 8  # rounds in which such rows are removed

# -- extreme cells

INNER_SHARE = 0.65  # of the values of a column, which give its unit: a third may be bad
LOG_DEVIATION = 1.5  # of the log-normal law that is admitted beyond it: heavier than Student's t_2
LOG_SKEW = 2.0  # added where the values end abruptly on the other side, as amounts do at 0
INFLATED = 4.0  # units by which extreme cells alone make a column vary
CAP = 100.0  # the same, whatever the law, ...
NARROW_CAP = 20.0  # and where both sides of a column have tails, or many values are equal
CELL_LEVEL = 0.01  # chance for a clean table, over all columns
CONFINED_LEVEL = 0.001  # at which rows with extreme cells are like others in all other columns
TIED_SHARE = 0.46  # most equal values that count: then the nearest third of the others is the unit
GAP_LEVEL = 0.03  # chance for a clean table that a gap separates a cell: it costs less than a row
INVERSE_DEGREES = np.linspace(0.0, 1.0, 11)  # of freedom, of the admitted laws: Gaussian to Cauchy
UNLIKE = 0.25  # sides that are unlike all others, in the weights of the laws
COPIED_CELLS = 1 << 25  # of larger tables no copy is made: a row with an extreme cell is removed
FEW_CELLS = 0.05  # share of the cells of a column; more may be those of a group of rows
MANY_CELLS = 0.25  # share of the cells of a row; if more are extreme, the row is removed

# -- extreme rows

EXTREME = 3.5, 1.5, 5.0  # smallest Gaussian size, ratio to the others, weight of TAIL_INDEX
# Many long rows: a length sums many columns, and so has a short tail. Not in wide tables, where
# columns are correlated like those of embeddings, and long rows are a minority like others.
LONG_SHARE = 0.04  # share of the rows from which on weaker conditions hold
LONG = 3.0, 1.05, 10.0  # as EXTREME
INNER_LEVELS = 0.25, 0.5  # quantiles of a side that tell its tail: half of it may be bad
LONG_INFLATED = 1.5  # as INFLATED, for lengths, which sum many columns
EXTREME_LEVEL = 0.01  # chance for a clean table that a length is extreme, over all cuts, ...
FEWEST_VALUES = 5  # with fewer values a side has no unit of its own: both sides share one
FEWEST_LENGTHS = 30  # of fewer rows, the tails of columns are not transformed
WIDE_COLUMNS = 256  # from which on a table is wide; in others lengths are also decorrelated

# -- separated groups

FEW_LOG_P = float(np.log(1e-3))  # largest log of the chance for few rows in a compact cluster
LARGE_LOG_P = float(np.log(1e-12))  # for all other groups
FEW_RATIO = 1.35  # smallest separation ratio of few rows
LARGE_RATIO = 1.5  # and of more
OBVIOUS_RATIO = 6.0  # from which on a group is obvious
CLEAR_RATIO = 3.0  # the same for few rows: natural groups of real tables reach 2.7
ONE_COLUMN = 0.9  # share of what sets rows apart; if one column has more, they have a level of it
CLEAR_LOG_P = float(np.log(1e-20))  # of groups that do not depend on the other rows
MINORITY_SHARE = 0.15  # a larger group is a natural minority, unless obvious, ...
MINORITY_COLUMNS = 4  # in fewer columns than these
EQUAL_LEVEL = 0.01  # at which a group must be smaller than one of two equal ones, or is a class
ROUNDINGS = 3.0  # directions in which rows vary by fewer rounding steps are not tested
UNIT_AXES = 8  # tested principal axes in the units of the columns
WHITE_AXES = 40  # most tested principal axes of whitened rows

# -- whether the kept rows are noise about one center

SKEWNESS_LEVEL = 2e-4  # over all columns
BIMODALITY_LEVEL = 3e-5  # smaller: the kurtosis of few Gaussian rows is small more often than ...
DIVIDED_LEVEL = 1e-6  # its approximation, and more so along directions that divide them best
REST_LEVEL = 1e-3  # of both tests, for the rows beside separated groups
CLASS_SHARE = 0.3  # a larger group is a class if it varies as the rest does

# -- groups among symmetric rows

LEVEL = 1e-4  # chance that a clean table shows a group that is removed
LOG_LEVEL = float(np.log(LEVEL))
LEVEL_QUANTILE = -float(ndtri(LEVEL))
DOUBTFUL_LEVEL = 1e-2  # weaker evidence is not reported
GOOD_SHARE = 0.25  # largest share of good rows beyond a cut, by their mirror image
CENTER_ERRORS = 2.0  # standard errors by which the mirror image is moved, to be safe
CENTER_REACH = 2.0  # standard deviations beyond which rows do not move the center
SHORT_TAIL = 0.75  # deviation over mean beyond a cut; an exponential tail has 1
MODE_LEVEL = 1e-3  # of each window for a second mode; windows overlap
GAUSSIAN_LEVEL = 0.01  # at which rows are Gaussian in all directions but that of a tail
UNPOPULATED = 0.125  # largest part of a group half way between it and the center
MOST_GROUPS = 12  # rounds of the search; each but the last removes a group
MAJORITY = 0.55  # share of the rows that must be kept
LARGE = 1.0 / 3.0  # if a larger share is removed, a group must be well separated
TURNS = 3  # directions that are turned to the group that they show, and how often
NOISE_ROUNDINGS = 8.0  # directions in which rows vary by fewer roundings are not tested

# -- the metric of the kept rows

ANISOTROPIC = 1.3  # largest eigenvalue over that of white noise (Marchenko and Pastur)
ROWS_PER_COLUMN = 8  # that the metric takes; fewer make low-variance directions of a sample
WHITENED_CELLS = 1 << 22  # cells that give the metric
PURSUED_CELLS = 1 << 21  # cells of the projection pursuit, ...
FEWEST_PURSUED = 2000  # in at least
MOST_PURSUED = 5000  # and at most this number of rows
WINDOW = 10  # neighboring principal axes that are searched together
WIDE = 2.0  # a group is split where its deviation is this multiple of that of the rest
DISCRIMINANT_ERROR = 1e-3  # residual of the discriminant of all rows, ...
DISCRIMINANT_PASSES = 4  # or passes

# -- computation

CENTER_VALUES = 1 << 14  # of more ascending values, a regular subsample gives a first center
SCREENED_ROWS = 1 << 17  # from which on directions are screened, about the center of as many rows
AT_ONCE = 1 << 20  # entries that are tested together
MOST_SPACINGS = 100  # by which a side of a column tells its law: more do not change it
