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
MOST_NOISE_ROWS = 4000  # of which at most is asked whether they are noise about one center
MOST_BEYOND = 2000  # rows that lie farther out than a sample lets expect, and are added to it
SHOWN = 256  # columns, or sides of columns, that show as well as all what is usual

# -- extreme and separated rows

TAIL_INDEX = 3.0  # expected of good values: their variance is finite, and a bit more
LEVEL = 0.01  # chance for a clean table that a test finds something in it
STRICT_LEVEL = 1e-3  # of a test of many, or of one of several conditions
CAREFUL_LEVEL = 1e-4  # of tests that are approximate, or on which whole groups depend
FEW_SHARE = 0.12  # share of the rows that counts as few; more may be a natural minority
KEPT_SHARE = 0.55  # share of the rows that must be kept: a clear majority
ROUNDS = 8  # rounds in which such rows are removed
FAR = 1e6  # typical distances from which on the squares cost other rows their precision
ABSURD = 1e3  # the same of symmetric rows: by Chebyshev's inequality one in a million is so far out
ABSURD_SHARE = 0.05  # if more rows are, the typical distance is none

# -- extreme cells

INNER_SHARE = 0.65  # of the values of a column, which give its unit: a third may be bad
LOG_DEVIATION = 1.5  # of the log-normal law that is admitted beyond it: heavier than Student's
# t_2; up to twice as much on a side on which more of a column lies, as amounts do above 0
INFLATED = 4.0  # units by which extreme cells alone make a column vary
CAP = 100.0  # the same, whatever the law, ...
NARROW_CAP = 12.0  # and where many values are equal: most of the others may be bad
TIED_SHARE = 0.46  # most equal values that count: then the nearest third of the others is the unit
GAP_LEVEL = 0.03  # chance for a clean table that a gap separates a cell: it costs less than a row
INVERSE_DEGREES = np.linspace(0.0, 1.0, 11)  # of freedom, of the admitted laws: Gaussian to Cauchy
CODE_ROWS, CODE_SHARE = 3, 0.01  # of the rows that share a value: fewer do not make it a code
FARTHEST_SHARE = 0.05  # of the values of a side, which do not tell its law: they may be bad
UNLIKE = 0.25  # sides that are unlike all others, in the weights of the laws
COPIED_CELLS = 1 << 25  # of larger tables no copy is made: a row with an extreme cell is removed
MANY_CELLS = 0.25  # share of the cells of a row; if more are extreme, the row is removed

# -- extreme rows

EXTREME = 3.5, 1.5, 5.0  # smallest Gaussian size, ratio to the others, weight of TAIL_INDEX
# Many long rows: a length sums many columns, and so has a short tail. Not in wide tables, where
# columns are correlated like those of embeddings, and long rows are a minority like others.
LONG_SHARE = 0.04  # share of the rows from which on weaker conditions hold
LONG = 3.0, 1.05, 10.0  # as EXTREME
INNER_LEVELS = 0.25, 0.5  # quantiles of a side that tell its tail: half of it may be bad
TAIL_ERROR = 2.0  # of the power of a side, times the root of the number of its values
LONG_INFLATED = 1.5  # as INFLATED, for lengths, which sum many columns
FEWEST_VALUES = 5  # with fewer values a side has no unit of its own: both sides share one
FEWEST_LENGTHS = 30  # fewer rows do not tell what lengths are usual
WIDE_COLUMNS = 256  # from which on a table is wide; in others lengths are also decorrelated

# -- separated groups

FEW_LOG_P = float(np.log(STRICT_LEVEL))  # largest log of the chance for a few close rows
LARGE_LOG_P = float(np.log(1e-20))  # for all other groups
FEW_RATIO = 1.35  # smallest separation ratio of few rows
LARGE_RATIO = 1.5  # and of more
OBVIOUS_RATIO = 6.0  # from which on a group is removed whatever the other rows are
CHAIN_RATIO = 12.0  # of most rows of a chain, beside any rows: a gap may not be empty then
ONE_COLUMN = 0.9  # share of what sets rows apart; if one column has more, they have a level of it
MINORITY_COLUMNS = 4  # in fewer columns, more than a few rows are a natural minority
ROUNDINGS = 3.0  # directions in which rows vary by fewer rounding steps are not tested
UNIT_AXES = 8  # tested principal axes in the units of the columns
WHITE_AXES = 40  # most tested principal axes of whitened rows
PART_SHARE = 0.04  # smallest share of the rows of which the edge of a group is first looked for
MODE_SHARE = 0.1  # the same of a second mode: in noise a smaller part is far out by chance
FOREMOST = 16  # groups that are worth another turn of their direction
MOVED_SHARE = 0.03  # share of a group by which its edge is moved into a wider gap

# -- whether the kept rows are noise about one center

CLASS_SHARE = 0.3  # a larger group is a class if it varies as the rest does

# -- groups among symmetric rows

LOG_LEVEL = float(np.log(CAREFUL_LEVEL))  # largest chance of a group that is removed
LEVEL_QUANTILE = -float(ndtri(CAREFUL_LEVEL))
GOOD_SHARE = 0.25  # largest share of good rows beyond a cut, by their mirror image
CENTER_ERRORS = 2.0  # standard errors by which the mirror image is moved, to be safe
CENTER_REACH = 2.0  # standard deviations beyond which rows do not move the center
SHORT_TAIL = 0.75  # deviation over mean beyond a cut; an exponential tail has 1
UNPOPULATED = 0.125  # largest part of a group half way between it and the center
MOST_GROUPS = 12  # rounds of the search; each but the last removes a group
LARGE = 1.0 / 3.0  # if a larger share is removed, a group must be well separated
TURNS = 3  # directions that are turned to the group that they show, and how often
SETTLED_SHARE = 0.02  # of a group: if no more of its rows change, its direction has settled
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
PROJECTED = 4  # directions onto which many rows are projected together
MOST_SPACINGS = 100  # by which a side of a column tells its law: more do not change it
