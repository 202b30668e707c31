"""The numbers of the search, one line each: name, value, reason.

`benchmarks/noknobs.py`, `real.py`, `tables.py` and `clean.py` measure what they do together,
`benchmarks/parts.py` what each part contributes.
"""

import numpy as np
from scipy.special import ndtri

# -- which rows are tested on the host

FEWEST_ROWS = 8  # fewer rows are not tested
WHOLE_CELLS = 1 << 22  # tables of up to this many cells are tested in full
SAMPLE_CELLS = 1 << 20  # of larger tables a sample of this many cells is tested, ...
SAMPLE_ROWS = 500  # but no fewer rows: fewer do not show the tails of the columns
MOST_SAMPLE_CELLS = 1 << 25  # a sample that would need more cells is not drawn
MOST_BEYOND = 2000  # rows beyond the reach of the sample that are tested as well
SEPARATED_ROWS = 1000  # rows in which separated groups are searched for

# -- extreme and separated rows

TAIL_INDEX = 3.0  # expected of good values: their variance is finite, and a bit more
FEW_SHARE = 0.12  # share of the rows that counts as few; more may be a natural minority
KEPT_SHARE = 0.58  # share of the rows that must be kept: a clear majority
ROUNDS = 8  # rounds in which such rows are removed

# -- extreme cells and rows

EXTREME_LEVEL = 0.003  # chance for a clean table, over all columns, lengths and cuts
EXTREME_PRIOR = 20.0  # the expected tail index counts as much as this number of spacings
EXTREME_QUANTILE = 0.75  # gives the tail power of a side, so that a quarter of it may be bad
EXTREME_SIZE = 3.5  # smallest size, in Gaussian standard deviations, with the tail transformed
EXTREME_RATIO = 1.5  # smallest ratio to the largest of the other values
FEWEST_VALUES = 5  # with fewer values a side has no unit of its own: both sides share one
# Many long rows: a length sums many columns, and so has a short tail. Not in wide tables, where
# columns are correlated like those of embeddings, and long rows are a minority like others.
LONG_SHARE = 0.04  # share of the rows from which on weaker conditions hold
LONG_SIZE = 3.0  # these are: smallest size, ...
LONG_RATIO = 1.05  # smallest ratio, ...
LONG_PRIOR = 10.0  # and weight of the expected tail index
WIDE_COLUMNS = 256  # from which on a table is wide; in others lengths are also decorrelated

# -- separated groups

DIRECTION_CHARGE = 1.0  # on the log of the chance, for each tested direction
FEW_LOG_P = float(np.log(1e-3))  # largest log of the chance for few rows in a compact cluster
LARGE_LOG_P = float(np.log(1e-12))  # for all other groups
FEW_RATIO = 1.35  # smallest separation ratio of few rows
LARGE_RATIO = 1.5  # and of more
OBVIOUS_RATIO = 6.0  # from which on a group is obvious
OBVIOUS_SHARE = 0.05  # largest share of an obvious group that does not depend on the other rows
MINORITY_SHARE = 0.15  # a larger group is a natural minority, unless obvious, ...
MINORITY_COLUMNS = 4  # in fewer columns than these
EQUAL_LEVEL = 0.01  # at which a group must be smaller than one of two equal ones
CLASS_LEAST = 0.1  # smallest share of the rows of a class that is searched for
ROUNDINGS = 3.0  # directions in which rows vary by fewer rounding steps are not tested
UNIT_AXES = 8  # tested principal axes in the units of the columns
WHITE_AXES = 40  # most tested principal axes of whitened rows, ...
ROWS_PER_AXIS = 8  # each with this number of rows
SPLIT_SHARE = 0.04  # smallest part of a large split
SPLIT_TURNS = 3  # how often a direction is turned to the group that it shows
SPLIT_FOLLOWED = 16  # groups that are turned more than once: those that stand out most

# -- whether the kept rows are noise about one center

NOISE_ROWS = 60  # fewest kept rows, ...
NOISE_CELLS = 1000  # and cells, with which they can be called noise
SKEWNESS_LEVEL = 2e-4  # over all columns
BIMODALITY_LEVEL = 3e-5  # smaller: the kurtosis of few Gaussian rows is small more often than ...
DIVIDED_LEVEL = 1e-6  # its approximation, and more so along directions that divide them best
REST_LEVEL = 1e-3  # of both tests, for the rows beside separated groups
NOISE_EQUAL_LEVEL = 0.03  # as EQUAL_LEVEL: no class is noise about one center
CLASS_SHARE = 0.3  # a larger group is a class if its variances ...
CLASS_FACTOR = 2.0  # are within this factor of those of the rest

# -- groups among symmetric rows

LEVEL = 1e-4  # chance that a clean table shows a group that is removed
LOG_LEVEL = float(np.log(LEVEL))
LEVEL_QUANTILE = -float(ndtri(LEVEL))
DOUBTFUL_LEVEL = 1e-2  # weaker evidence is not reported
GOOD_SHARE = 0.25  # largest share of good rows beyond a cut, by their mirror image
CENTER_ERRORS = 2.0  # standard errors by which the mirror image is moved, to be safe
CENTER_REACH = 2.0  # standard deviations beyond which rows do not move the center
MOST_SPACINGS = 20  # a gap is compared with this number of spacings below it, or sqrt(n)
FEWEST_SPACINGS = 5
SHORT_TAIL = 0.75  # deviation over mean beyond a cut; an exponential tail has 1
MODE_LEVEL = 1e-3  # of each window for a second mode; windows overlap
MODE_PLACES = 40  # where windows begin
UNPOPULATED = 0.125  # largest part of a group half way between it and the center
MOST_GROUPS = 12  # rounds of the search; each but the last removes a group
MAJORITY = 0.55  # share of the rows that must be kept
LARGE = 1.0 / 3.0  # if a larger share is removed, a group must be well separated
TURNS = 3  # how often a direction is turned to the group that it shows, ...
MOVED = 0.02  # or until this part of the group changes, where another cut follows
MOST_TURNED = 3  # directions that are turned, if the first show no group
NOISE_ROUNDINGS = 8.0  # directions in which rows vary by fewer roundings are not tested
ABSURD = 1e3  # median distances; by Chebyshev's inequality one row in a million is so far out
ABSURD_SHARE = 0.05  # so far out, at most this share of the rows is removed first
HOPELESS = 1e6  # always removed first: their squares would cost the others their precision

# -- the metric of the kept rows

ANISOTROPIC = 1.3  # largest eigenvalue over that of white noise (Marchenko and Pastur)
MOST_COLUMNS = 4096  # the metric takes the whole spectrum: tables with more columns ...
FEW_COLUMNS = 1024  # are not whitened, nor those with more than these ...
ROWS_PER_COLUMN = 8  # and fewer rows; fewer make low-variance directions of a sample
WHITENED_CELLS = 1 << 22  # cells that give the metric
PURSUED_CELLS = 1 << 21  # cells of the projection pursuit, ...
FEWEST_PURSUED = 2000  # in at least
MOST_PURSUED = 5000  # and at most this number of rows
WINDOW = 10  # neighboring principal axes that are searched together
FEWEST_WHITENED = 5 * WINDOW  # fewer rows are not whitened
CLIMB_STEPS = 10  # iterations of the pursuit
MOST_TESTED = 32  # windows that are tested: the most skewed and the most bimodal ones
TRIALS = 4  # with random signs, which destroy asymmetry; the rows must do better than the best
MORE_TRIALS = 1.25  # factor for what more trials would find
WIDE = 2.0  # a group is split where its deviation is this multiple of that of the rest
DISCRIMINANT_ERROR = 1e-3  # residual of the discriminant of all rows, ...
DISCRIMINANT_PASSES = 4  # or passes

# -- computation

CENTER_VALUES = 1 << 14  # of more ascending values, a regular subsample gives a first center
SCREENED_ROWS = 1 << 17  # from which on directions are screened by histograms ...
SCREENING_SAMPLE = 1 << 17  # about the center of a sample of this size
AT_ONCE = 1 << 20  # entries that are tested together
COUNTED_AT_ONCE = 1 << 24  # on a device, which the host then waits for once
