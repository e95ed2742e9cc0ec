"""Where `scripts/test.sh --thorough` is owed: the last green one has written a hash of what reaches the
kernel into tests/thorough.txt, a line a folder."""

import hashlib

# What virtual machines with other kernels would find a mistake in.
WATCHED = ("probe_templates", "tool/bpf", "tool/codegen", "tool/compiler", "tool/ctypes", "tool/load/attach_points*",
           "tool/load/features*", "tool/load/loade*", "tool/load/program_load*")
HEAD = "# Written by a green `scripts/test.sh --thorough`: hashes of what it ran with.\n"


def file(root):
    return root / "tests" / "thorough.txt"


def changed(root):
    """Those of WATCHED that differ from what the file has."""
    text = file(root).read_text() if file(root).exists() else ""
    return [name for name, line in lines(root).items() if line not in text.splitlines()]


def lines(root):
    """By a name of WATCHED, what the file has of it as it is now."""
    return {name: f"{digest(root, name)}  {name}" for name in WATCHED}


def write(root, tested):
    """`tested`: lines() from before the run."""
    file(root).write_text(HEAD + "".join(f"{line}\n" for line in tested.values()))


def digest(root, name):
    """Of the names and contents of all files of a folder, or of those that a pattern names."""
    found = hashlib.sha256()
    for path in sorted(path for top in root.glob(name) for path in (top, *top.rglob("*"))
                       if path.is_file() and "__pycache__" not in path.parts):
        content = path.read_bytes()
        found.update(f"{path.relative_to(root)} {len(content)}\n".encode() + content)
    return found.hexdigest()[:32]
