"""Without Dask, the message says what to install."""

import subprocess
import sys


def test_without_the_package_the_message_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None; import inlier.data.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "inlier[dask]"' in done.stderr
