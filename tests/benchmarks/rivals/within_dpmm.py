"""What runs in dpmm's own Python: METHOD ε δ GIVEN.npz MADE.npy."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM
from dpmm.models.priv_bayes import PrivBayesGM

# Its own numbers of steps, 1,000 and 5,000, take many minutes for a table of a few columns.
MODELS = {"AIM": AIMGM, "MST": MSTGM, "PrivBayes": PrivBayesGM}
STEPS = {"AIM": 100, "MST": 1_000, "PrivBayes": 1_000}


def main() -> None:
    method, epsilon, delta, given, made = sys.argv[1:]
    with np.load(given) as people:
        names = [str(j) for j in range(len(people["shape"]))]
        domain = dict(zip(names, people["shape"].tolist(), strict=True))
        table = pd.DataFrame(people["rows"], columns=names)
    options = {"max_model_size": 1} if method == "AIM" else {}
    model = MODELS[method](
        epsilon=float(epsilon), delta=float(delta), domain=domain, n_iters=STEPS[method], n_jobs=1, **options
    )
    model.fit(table)
    np.save(made, model.generate(n_records=len(table))[names].to_numpy(np.int64))


if __name__ == "__main__":
    main()
