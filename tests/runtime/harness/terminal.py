"""A command whose output is a terminal."""

import os
import pty
import subprocess


def shown_on_terminal(command, **options):
    """(what it wrote there, bytes; its status)"""
    reader, writer = pty.openpty()
    with subprocess.Popen([str(word) for word in command], stdout=writer, **options) as process:
        os.close(writer)
        shown = b""
        try:
            while part := os.read(reader, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(reader)
    return shown, process.returncode
