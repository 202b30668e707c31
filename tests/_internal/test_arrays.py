"""Functions on arrays of any library against numpy."""

import numpy as np

from inlier._internal.arrays import like


def test_a_single_row_backwards_is_taken(torch):
    # numpy calls such a view contiguous, whatever its stride.
    there = like(np.arange(3.0).reshape(3, 1)[::-1][:1], torch.zeros(1))
    assert there.tolist() == [[2.0]]
