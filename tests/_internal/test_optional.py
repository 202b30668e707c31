"""What is not installed is named with the extra that brings it."""

import sys

import pytest

from inlier._internal.optional import optional


def test_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    said = r'^To read x, h5py is needed: pip install "inlier\[files\]" \(.*h5py'
    with pytest.raises(ImportError, match=said):
        optional("h5py", "To read x", "files")
