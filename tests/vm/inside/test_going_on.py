"""tests/runtime/test_going_on.py on this kernel, whose tracepoints may be followed by perf events."""

import os

import test_going_on
from inside.case import VmCase


class GoingOn(test_going_on.GoingOn, VmCase):
    test_a_profile_of_a_deadlock = None  # no time for so many programs
    test_a_request_that_is_not_answered = None  # likewise

    def test_connections_that_are_not_answered(self):
        if os.path.exists("/sys/kernel/tracing/events/sock/sock_send_length"):
            return super().test_connections_that_are_not_answered()
        self.assertIn("this kernel has no `net:tcp`", self.refused("on net:tcp { count }"))
