"""Runs one command of a step, its output kept in a log file and shown only where it fails."""

import os
import subprocess

TAIL = 60  # lines of a failed command's log that are shown


def run(command, log, cwd, env=None, timeout=1800):
    """Runs `command` with its output in the file `log`; returns (exit status, last lines of log)."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", errors="replace") as out:
        try:
            status = subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})},
                                    stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {timeout} s\n")
            status = 124
        except OSError as error:
            out.write(f"{command[0]}: {error}\n")
            status = 127
    lines = log.read_text(errors="replace").splitlines()
    return status, "\n".join(lines[-TAIL:])
