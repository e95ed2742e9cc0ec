"""mlbcc profile of jobs that load a model: what was read, and how much memory it took."""

import re
import subprocess
import textwrap

from test_profile import PYTHON, ProfileCase, bytes_read


class Jobs(ProfileCase):
    def need(self, *modules):
        for module in modules:
            if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
                self.skipTest(f"python3-{module} is not installed (scripts/setup.sh --tests)")

    def check_job(self, weights, maker, job):
        """All of the weights are read, once, and the peak is what time(1) says of an untraced run."""
        subprocess.run([PYTHON, self.write("maker.py", textwrap.dedent(maker)), weights], check=True)
        job = self.write("job.py", textwrap.dedent(job))
        profile = self.profile(PYTHON, job, weights)
        used, size = self.file(profile, weights), weights.stat().st_size
        self.assertEqual((used["group"], used["size_bytes"]), ("weights", size))
        alone = subprocess.run(["/usr/bin/time", "-v", PYTHON, job, weights], capture_output=True, text=True, check=True)
        peak = int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", alone.stderr)[1]) << 10
        self.assertAlmostEqual(profile["processes"][0]["peak_resident_bytes"] / peak, 1, delta=0.02)
        self.assertEqual([f for f in profile["security"]["findings"] if f["severity"] in ("medium", "high")], [])
        return used, size

    def test_joblib(self):
        self.need("sklearn", "joblib")
        used, size = self.check_job(self.dir / "model.joblib", """
            import joblib, numpy, sys
            from sklearn.linear_model import LinearRegression
            model = LinearRegression()
            model.coef_ = numpy.random.default_rng(1).random((4, 1_000_000))
            model.intercept_ = numpy.zeros(4)
            joblib.dump(model, sys.argv[1])
            """, """
            import joblib, numpy, sys
            model = joblib.load(sys.argv[1])
            for _ in range(5): assert model.predict(numpy.ones((1, 1_000_000))).shape == (1, 4)
            """)
        self.assertGreater(size, 32_000_000)
        self.assertEqual(used["read_bytes"], size)

    def test_npz(self):
        self.need("numpy")
        used, size = self.check_job(self.dir / "model.npz", """
            import numpy, sys
            numpy.savez(sys.argv[1], w=numpy.random.default_rng(1).random((2000, 2000)))
            """, """
            import numpy, sys
            w = numpy.load(sys.argv[1])["w"]
            for _ in range(5): assert (w @ numpy.ones(2000)).shape == (2000,)
            """)
        self.assertGreater(size, 32_000_000)
        # The archive's directory is read again: strace counts the very same bytes.
        log = self.dir / "strace.txt"
        subprocess.run(["strace", "-f", "-y", "-o", log, "-e", "trace=read,pread64", PYTHON, self.dir / "job.py",
                        self.dir / "model.npz"], check=True)
        self.assertEqual(used["read_bytes"], bytes_read(log, self.dir / "model.npz"))
        self.assertAlmostEqual(used["read_bytes"] / size, 1, delta=0.001)
