"""Debian's packages, by an apt with a configuration of its own: what this machine has installed and
is set up to use stays as it is. Packages are only unpacked."""

import re
import subprocess

from .unavailable import Unavailable

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Apt:
    """One suite and component, of the archives that this machine uses; `newest` is with security
    updates. `wanted` is what the packages are, for the reason of a skip; `arch` is Debian's name."""

    def __init__(self, work, suite, wanted, component="main", newest=True, arch="amd64"):
        self.work, self.wanted = work, wanted
        for folder in ("lists/partial", "cache/archives/partial", "packages"):
            (work / folder).mkdir(parents=True)
        (work / "status").touch()
        (work / "sources.list").write_text("\n".join(sources(suite, component, newest)) + "\n")
        settings = {"Dir::Etc::SourceList": work / "sources.list",
                    "Dir::Etc::SourceParts": "/dev/null", "Dir::State::Lists": work / "lists",
                    "Dir::State::Status": work / "status", "Dir::Cache": work / "cache",
                    "APT::Sandbox::User": "root", "Acquire::Retries": "3",
                    "APT::Architecture": arch, "APT::Architectures": arch}
        self.options = [f"-o{key}={value}" for key, value in settings.items()]
        self.run("apt-get", "-qq", "update", "--error-on=any")

    def run(self, program, *arguments):
        done = subprocess.run([program, *self.options, *arguments], cwd=self.work / "packages",
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            command = f"{program} {' '.join(arguments)}"
            raise Unavailable(f"no {self.wanted} from Debian: {command}: {said}")
        return done.stdout

    def depends(self, package, prefix):
        """What `package` depends on of the names that begin with `prefix`."""
        text = self.run("apt-cache", "depends", "--important", package)
        return re.findall(rf"Depends: ({prefix}\S+)", text)

    def download(self, packages):
        self.run("apt-get", "-qq", "download", *packages)
        return sorted((self.work / "packages").glob("*.deb"))


def sources(suite, component, newest):
    """The lines of sources.list; a suite that is not of a release has no security archive."""
    signed = f"deb [signed-by={KEYS}]"
    lines = [f"{signed} {archive('Debian')} {suite} {component}"]
    if newest and "-" not in suite:
        lines.append(f"{signed} {archive('Debian-Security')} {suite}-security {component}")
    return lines


def archive(label):
    """Where this machine gets the packages of this label from."""
    text = subprocess.run(["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)"],
                          capture_output=True, text=True, check=True).stdout
    found = [line.split()[1] for line in text.splitlines() if line.split()[0] == label]
    if not found:
        raise Unavailable(f"apt knows no archive of {label} here (apt-get update?)")
    return found[0]


def unpack(package, tree):
    contents = subprocess.Popen(["dpkg", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree, "--keep-directory-symlink", "--exclude=./usr/share"],
                   stdin=contents.stdout, check=True)
    contents.stdout.close()
    if contents.wait() != 0:
        raise RuntimeError(f"dpkg cannot read {package}")
