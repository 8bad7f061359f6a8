"""The web portal: Django rooms around the `mechanisms` package."""

import os

# Before numpy loads: the portal's matrices are small, and threads that wait for each other made plans 100 times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
