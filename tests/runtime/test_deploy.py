"""deploy/: the DaemonSet's command works with its rights and no others, and the dashboard asks for what there is."""

import json
import re
import shutil
import subprocess
import unittest

from harness import ROOT, machine
from test_prometheus import PageCase, free_port, read

PYTHON = "/usr/bin/python3"  # Debian's, which has its modules
NAME = re.compile(r"\bmlbcc_\w+")


def manifest():
    """The container of the DaemonSet."""
    done = subprocess.run([PYTHON, "-c", "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)"],
                          stdin=open(ROOT / "deploy/daemonset.yaml"), capture_output=True, text=True, check=True)
    _, daemons = json.loads(done.stdout)
    return daemons["spec"]["template"]["metadata"]["annotations"], daemons["spec"]["template"]["spec"]["containers"][0]


def questions():
    dashboard = json.loads((ROOT / "deploy/grafana.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


@unittest.skipUnless(shutil.which("promtool"), "there is no promtool")
class Deploy(PageCase):
    def test_the_daemon_and_the_dashboard(self):
        annotations, container = manifest()
        port, page_port = free_port(), free_port()
        self.assertEqual(annotations["prometheus.io/port"], str(container["ports"][0]["containerPort"]))
        rights = ",".join("+" + one.lower() for one in container["securityContext"]["capabilities"]["add"])
        arguments = [word.replace(annotations["prometheus.io/port"], str(page_port)) for word in container["args"]]
        page_url = f"http://127.0.0.1:{page_port}" + annotations["prometheus.io/path"]
        self.start("setpriv", "--bounding-set", "-all," + rights, "--inh-caps", "-all", str(machine.MLBCC), *arguments)
        self.until(lambda: read(page_url), "there is no page")
        (self.dir / "file").write_bytes(b"x" * 100)
        self.start(PYTHON, "-m", "http.server", str(port))
        self.until(lambda: read(f"http://127.0.0.1:{port}/file"), "the server does not answer")
        self.assertRaises(OSError, read, f"http://127.0.0.1:{port}/absent")
        endpoint = 'mlbcc_requests_total{endpoint="GET /file"} '
        # The page may be there before the probes are.
        self.until(lambda: read(f"http://127.0.0.1:{port}/file") and endpoint in read(page_url), "no request is there")
        page = read(page_url)
        self.check_page(page)
        there = set(NAME.findall(page))
        wanted = {name for question in questions() for name in NAME.findall(question)}
        self.assertGreater(len(wanted), 8)
        self.assertEqual(wanted - there, set())

    def test_the_questions_are_promql(self):
        rules = [{"record": f"a:b{at}", "expr": question.replace("$__rate_interval", "5m").replace("$instance", ".*").replace("$endpoint", ".*")}
                 for at, question in enumerate(questions())]
        (self.dir / "rules.yml").write_text(json.dumps({"groups": [{"name": "a", "rules": rules}]}))
        done = subprocess.run(["promtool", "check", "rules", "rules.yml"], cwd=self.dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(rules)} rules found", done.stdout)


if __name__ == "__main__":
    unittest.main()
