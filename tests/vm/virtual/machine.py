"""Runs a command as root in a virtual machine: QEMU, in software, so that any machine can do it.

Its root is this machine's (or one for another processor), read-only, with the kernel's tree and an
empty tmpfs over it; folders are shared for writing, at their paths. /tmp is its own. Each side
caches: it sees at the end at the latest what the other wrote. What the command prints comes back line by line, then its exit status.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from .processor import AMD64

HERE = Path(__file__).resolve().parent
TOOLS = ("cpio", "modprobe", "depmod", "dpkg", "xz", "zstd", "make", "pahole")
VM_FAILED = 125  # it did not come up, crashed, or ran out of time
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# One CPU. With two that run at once, one may miss that the other changed the kernel's code, as probes
# do: the kernel panicked of it. With two that take turns, one waits for 100 ms in the midst of a record.
MACHINE = ("-smp", "1", "-m", "1024", "-accel", "tcg",
           "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-monitor", "none",
           "-no-reboot",
           "-device", "virtio-serial-pci", "-chardev", "stdio,id=out,signal=off",
           "-device", "virtconsole,chardev=out")


def run(kernel, command, folders, job, environment, say, limit, options=()):
    """Runs `command` (a list) in the first of `folders`, which are shared; returns its exit status.
    `job` is shared as /run/job, for this run only. `say` takes each line that is printed. `options`
    are QEMU's, besides those that all have."""
    prepare(kernel, command, folders, job, environment)
    processor = kernel.processor
    in_time = emulate(["setpriv", "--pdeathsig", "KILL",  # or QEMU would outlive a killed test run
                       processor.qemu, *processor.machine, *MACHINE, *options, *boot(kernel, job),
                       *shares(kernel, folders, job)], say, limit)
    status = job / "status"
    if in_time and status.exists():
        return int(status.read_text())
    what = "ended without an exit status" if in_time else f"was ended after {limit:.0f} s"
    say(f"the virtual machine {what}; its last messages:")
    for line in (job / "console").read_text(errors="replace").splitlines()[-40:]:
        say(f"    {line}")
    return VM_FAILED


def why_not(processor=AMD64):
    """None where a virtual machine can be had, else the reason for a skip."""
    if processor.why_not is not None:
        return processor.why_not
    if os.geteuid() != 0:
        return "not root: the virtual machine reads all of this one's files"
    missing = [str(tool) for tool in (processor.qemu, processor.busybox, *TOOLS)
               if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} not installed (scripts/setup.sh --tests)"
    return None


def prepare(kernel, command, folders, job, environment):
    """Puts into `job` what the machine needs."""
    shutil.copy(kernel.processor.busybox, job / "busybox")
    shutil.copy(HERE / "job.sh", job)
    (job / "console").touch()
    (job / "folders").write_text("".join(f"{folder}\n" for folder in folders))
    variables = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/root", **environment}
    (job / "command").write_text("".join(
        [f"cd {shlex.quote(str(folders[0]))}\n",
         *(f"export {name}={shlex.quote(str(value))}\n" for name, value in variables.items()),
         f"exec {shlex.join(map(str, command))}\n"]))
    (job / "initrd").write_bytes(initrd(kernel, job))


def initrd(kernel, job):
    """The first file system: busybox, the modules that reach the shared folders, and init.sh."""
    with tempfile.TemporaryDirectory(dir=job) as folder:
        tree = Path(folder)
        (tree / "bin").mkdir()
        (tree / "modules").mkdir()
        shutil.copy(kernel.processor.busybox, tree / "bin")
        shutil.copy(HERE / "init.sh", tree / "init")
        (tree / "init").chmod(0o755)
        for number, file in enumerate(module_files(kernel)):
            name = f"{number:02}-{file.name.removesuffix('.xz')}"  # insmod goes by name
            (tree / "modules" / name).write_bytes(contents(file))
        names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
        return subprocess.run(["cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet"], cwd=tree,
                              check=True, input=names.encode(), stdout=subprocess.PIPE).stdout


def module_files(kernel):
    """The files of MODULES and of what they need, in order of loading; built-in ones have none."""
    found = []
    for module in MODULES:
        done = subprocess.run(["modprobe", "-d", kernel.folder, "-S", kernel.release,
                               "--show-depends", module], capture_output=True, text=True)
        found += [Path(line.split()[1]) for line in done.stdout.splitlines()
                  if line.startswith("insmod ")]
    return list(dict.fromkeys(found))


def contents(file):
    if file.suffix == ".xz":
        return subprocess.run(["xz", "-dc", file], check=True, stdout=subprocess.PIPE).stdout
    return file.read_bytes()


def boot(kernel, job):
    options = f"console={kernel.processor.console} quiet panic=-1 oops=panic"
    return ["-kernel", kernel.vmlinux, "-initrd", job / "initrd",
            "-append", f"{options} {kernel.processor.kernel_options}",
            "-serial", f"file:{job / 'console'}"]


def shares(kernel, folders, job):
    options = [*share("vmroot", kernel.processor.root, ",readonly=on"), *share("vmjob", job),
               *share("vmkernel", kernel.folder, ",readonly=on")]
    for number, folder in enumerate(folders):
        options += share(f"vmfolder{number}", folder)
    return options


def share(tag, path, access=""):
    return ["-virtfs",
            f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap{access}"]


def emulate(command, say, limit):
    """Runs QEMU until it ends; returns whether it did so within `limit` s."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    late = threading.Event()
    timer = threading.Timer(limit, lambda: (late.set(), process.kill()))
    timer.start()
    try:
        for line in process.stdout:
            say(line.rstrip("\n"))
        process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
    return not late.is_set()
