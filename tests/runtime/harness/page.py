"""The page of a trace in Debian's Chromium. Screenshots are kept in build/page."""

import json
import subprocess

from .case import TracerCase
from .machine import ROOT

KEPT = ROOT / "build" / "page"


class PageCase(TracerCase):
    def setUp(self):
        super().setUp()
        self.need_npm("page", "chromium")

    def page(self, trace, name):
        """What tests/page/page.mjs saw on the page of the trace."""
        html = self.dir / "page.html"
        done = self.mlbcc("convert", trace, "--to", "html", "-o", html)
        self.assertEqual(done.returncode, 0, done.stderr)
        pictures = KEPT / name
        pictures.mkdir(exist_ok=True)
        seen = subprocess.run(["node", "page.mjs", str(html), str(pictures)], cwd=KEPT, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(seen.returncode, 0, seen.stderr)
        seen = json.loads(seen.stdout)
        self.assertEqual(seen["errors"], [])
        self.assertGreater(seen["colors"], 5)
        self.assertLessEqual(seen["phone_width"], 360)
        return seen
