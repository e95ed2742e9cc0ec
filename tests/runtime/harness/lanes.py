"""Which tests run alone, and which only where all is run.

Most of a runtime test's time is waiting, so two run at a time, with a build or clang-tidy beside
them; what is marked `quiet` runs before that, alone. Both marks are for a function or a class.
"""


def quiet(test):
    """Measures, or fills the machine, or looks at all of its processes: runs alone."""
    test.is_quiet = True
    return test


def thorough(test):
    """Takes minutes of a machine to say what hardly changes: `scripts/test.sh --thorough`."""
    test.is_thorough = True
    return test


def is_quiet(test):
    return marked(test, "is_quiet")


def is_thorough(test):
    return marked(test, "is_thorough")


def marked(test, mark):
    """Whether a TestCase of one function, or its class, has the mark."""
    function = getattr(test, test._testMethodName, None)
    return getattr(function, mark, False) or getattr(type(test), mark, False)
