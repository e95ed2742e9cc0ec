"""A virtual machine with a kernel of its own: which kernel, how it boots, what is built for it."""

from .kernel import KERNELS, Kernel, fetch
from .machine import VM_FAILED, run, why_not
from .processor import PROCESSORS
from .setups import JOB, SETUPS
from .unavailable import Unavailable

__all__ = ["JOB", "KERNELS", "Kernel", "PROCESSORS", "SETUPS", "Unavailable", "VM_FAILED", "fetch", "run",
           "why_not"]
