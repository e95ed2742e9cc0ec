"""Other tracers that run beside mlbcc."""

import json
import subprocess
import tempfile
import time

from .machine import need_tool


class Bpftrace:
    """A bpftrace that carries out `program` until stop(), or the test's end; its probes are attached."""

    ARMED = ' interval:ms:100 { printf("armed\\n"); }'

    def __init__(self, case, program):
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([need_tool("bpftrace"), "-f", "json", "-B", "line", "-e", program + self.ARMED],
                                        stdout=self.output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        case.addCleanup(self.stop)
        end = time.monotonic() + 60
        while "armed" not in self.text():  # its first output comes when all are
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"bpftrace did not start:\n{self.text()}")
            time.sleep(0.05)

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def stop(self):
        """Its maps: {name: {key: value}}."""
        if self.process.poll() is None:
            self.process.send_signal(2)
            self.process.wait(60)
        maps = {}
        for line in self.text().splitlines():
            record = json.loads(line) if line.startswith("{") else {}
            if record.get("type") == "map":
                maps.update(record["data"])
        return maps
