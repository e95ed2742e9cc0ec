"""What cannot be had on this machine, as against what went wrong."""


class Unavailable(Exception):
    """The reason for which tests in the virtual machine are skipped."""
