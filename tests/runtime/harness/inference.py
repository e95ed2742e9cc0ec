"""The example job on the simulated CUDA driver, as tests of what is made of its trace want it."""

import os

from .case import TracerCase
from .machine import CUDA_SIM, ROOT

APP = ROOT / "examples" / "inference" / "app.py"


class InferenceCase(TracerCase):
    def inference(self):
        """Its trace, of CUDA calls and system calls."""
        return self.trace(ROOT / "rules" / "cuda.rules", "python3", str(APP), "--leak", "--weights",
                          str(self.dir / "weights.bin"), options=("--rules", "io"),
                          env={**os.environ, "LD_LIBRARY_PATH": str(CUDA_SIM)})
