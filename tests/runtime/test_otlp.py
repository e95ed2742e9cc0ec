"""--otlp: a receiver of OpenTelemetry's takes what rules count, and each request as a span."""

import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest
from unittest import mock

from harness import ROOT, machine
from test_prometheus import TARGETS, PageCase, free_port, read

KEPT = ROOT / "build/otlp"


class Recorder(http.server.ThreadingHTTPServer):
    """Keeps what is posted, and answers as `answer` says."""

    def __init__(self, answer=lambda number: 200, tls=None):
        self.posts, self.answer, self.headers = [], answer, {}
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                recorder.headers = self.headers
                recorder.posts.append((self.path, self.headers["Content-Type"], json.loads(body)))
                self.send_response(recorder.answer(len(recorder.posts)))
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


def values(points):
    """{attributes as a sorted tuple: the point}"""
    return {tuple(sorted((a["key"], next(iter(a["value"].values()))) for a in point["attributes"])): point for point in points}


class OtlpCase(PageCase):
    def recorder(self, **options):
        made = Recorder(**options)
        self.addCleanup(made.server_close)
        self.addCleanup(made.shutdown)
        return made

    def last_metrics(self, posts):
        bodies = [body for path, _, body in posts if path.endswith("/v1/metrics")]
        resource, = bodies[-1]["resourceMetrics"]
        return {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}

    def spans(self, posts):
        return [span for path, _, body in posts if path.endswith("/v1/traces")
                for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]]

    def check_by_the_protocol(self, posts):
        shutil.copy(ROOT / "tests/otlp/strict.cjs", KEPT)
        lines = "".join(json.dumps({"path": path, "body": body}) + "\n" for path, _, body in posts)
        done = subprocess.run(["node", "strict.cjs"], input=lines, cwd=KEPT, capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(done.stdout), [])


class Rules(OtlpCase):
    PROGRAM = "import os, time\nfor _ in range(53): os.getppid()\nopen('/dev/null').close()"

    def trace_to(self, url, *options):
        rules = self.write("a.rules", 'on "libc.so.6":getppid { count as "asked"  hist duration as "took"  event a.b }\n'
                           'on "libc.so.6":malloc { sum arg(0) by comm as "bytes \\"of\\" é" }\n')
        return self.mlbcc("--rules", rules, "-o", self.out, "--otlp", url, *options, "--", "/usr/bin/python3", "-c", self.PROGRAM)

    def test_a_receiver_takes_what_rules_measure(self):
        self.need_npm("otlp")
        recorder = self.recorder()
        done = self.trace_to(recorder.url + "/some/where/")
        self.assertEqual((done.returncode, [path for path, _, _ in recorder.posts]), (0, ["/some/where/v1/metrics"]), done.stderr)
        path, kind, body = recorder.posts[0]
        self.assertEqual(kind, "application/json")
        self.check_by_the_protocol([("/v1/metrics", kind, body)])
        attributes = values([body["resourceMetrics"][0]["resource"]])
        self.assertEqual(dict(*attributes)["service.name"], "python3")
        self.assertEqual(dict(*attributes)["host.name"], socket.gethostname())
        metrics = self.last_metrics(recorder.posts)
        asked, = metrics["mlbcc_rule_calls_total"]["sum"]["dataPoints"]
        self.assertEqual(asked["asDouble"], 53)
        self.assertTrue(metrics["mlbcc_rule_calls_total"]["sum"]["isMonotonic"])
        took, = metrics["mlbcc_rule_values_seconds"]["histogram"]["dataPoints"]
        self.assertEqual(took["count"], "53")
        self.assertEqual(sum(map(int, took["bucketCounts"])), 53)
        self.assertEqual(len(took["bucketCounts"]), len(took["explicitBounds"]) + 1)
        self.assertEqual(took["explicitBounds"], sorted(took["explicitBounds"]))
        begin, end = int(asked["startTimeUnixNano"]), int(asked["timeUnixNano"])
        self.assertLess(begin, end)
        self.assertLess(abs(end / 1e9 - time.time()), 60)
        summed = values(metrics["mlbcc_rule_sum_total"]["sum"]["dataPoints"])
        self.assertIn('bytes "of" é', {value for key in summed for _, value in key})

    def test_a_collector_that_is_not_there(self):
        done = self.trace_to(f"http://127.0.0.1:{free_port()}")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"of 1 messages the collector at 127\.0\.0\.1:\d+ did not take 1: ")
        self.assertIn('"type":"summary"', self.out.read_text())

    def test_a_collector_that_is_busy_is_asked_again(self):
        recorder = self.recorder(answer=lambda number: 503 if number == 1 else 200)
        done = self.trace_to(recorder.url)
        self.assertEqual((done.returncode, len(recorder.posts)), (0, 2), done.stderr)
        self.assertEqual(recorder.posts[0], recorder.posts[1])
        self.assertNotIn("did not take", done.stderr)

    def test_a_collector_that_refuses(self):
        recorder = self.recorder(answer=lambda number: 400)
        done = self.trace_to(recorder.url)
        self.assertEqual((done.returncode, len(recorder.posts)), (0, 1), done.stderr)
        self.assertIn("did not take 1: it answers with status 400", done.stderr)

    def test_by_tls_with_headers(self):
        key, certificate = self.dir / "key.pem", self.dir / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        recorder = self.recorder(tls=(certificate, key))
        url = f"https://localhost:{recorder.server_address[1]}"
        done = self.trace_to(url)
        self.assertEqual((done.returncode, recorder.posts), (0, []), "nobody signed it")
        self.assertRegex(done.stderr, r"the collector at localhost:\d+ did not take 1: SSL certificate problem")
        with mock.patch.dict(os.environ, OTEL_EXPORTER_OTLP_CERTIFICATE=str(certificate),
                             OTEL_EXPORTER_OTLP_HEADERS="api-key=a%20secret,x-broken,x-other=2"):
            done = self.trace_to(url)
        self.assertEqual((done.returncode, len(recorder.posts)), (0, 1), done.stderr)
        self.assertNotIn("did not take", done.stderr)
        self.assertEqual((recorder.headers["api-key"], recorder.headers["x-other"]), ("a secret", "2"))

    def test_by_a_proxy(self):
        proxy = self.recorder()
        with mock.patch.dict(os.environ, http_proxy=proxy.url, no_proxy=""):
            done = self.trace_to("http://collector.invalid:4318")
        self.assertEqual((done.returncode, [path for path, _, _ in proxy.posts]),
                         (0, ["http://collector.invalid:4318/v1/metrics"]), done.stderr)

    def test_mistakes(self):
        for url in ("collector:4318", "ftp://collector", "http://", "http://a:0", "http://a:99999", "http://a b"):
            done = self.trace_to(url)
            self.assertEqual(done.returncode, 1, url)
            self.assertIn("is not the address of a collector", done.stderr)
        done = self.mlbcc("report", "x.jsonl", "--otlp", "http://a")
        self.assertEqual(done.returncode, 2)
        for sample in ("10", "1/0", "2/10", "1/x"):
            done = self.mlbcc("serve", "--sample", sample, "--", "true")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"invalid --sample `{sample}`", done.stderr)


@unittest.skipUnless(shutil.which("ab"), "there is no ab")
class Requests(OtlpCase):
    def serve(self, *options):
        """What was posted of 60 requests, and the report's JSON."""
        port, recorder = free_port(), self.recorder()
        (self.dir / "data").write_bytes(b"x" * 4096)
        server = self.start("/usr/bin/python3", "-m", "gunicorn", "-b", f"127.0.0.1:{port}", "--chdir", str(TARGETS),
                            "serve_app:flask_app", env={**os.environ, "SERVE_LOG": str(self.dir / "log.txt"),
                                                        "SERVE_KIND": "flask", "SERVE_DATA": str(self.dir / "data")})
        self.until(lambda: read(f"http://127.0.0.1:{port}/fast"), "the server does not answer")
        tracer = self.start(str(machine.MLBCC), "serve", "--otlp", recorder.url, "--json", "serve.json", *options, "--pid", str(server.pid),
                            env={**os.environ, "OTEL_SERVICE_NAME": "models"})
        self.until(lambda: "Ctrl-C ends" in (self.dir / "said.txt").read_text(), "no trace")
        for path, count in (("fast", 40), ("cpu", 19), ("nowhere", 1)):
            subprocess.run(["ab", "-q", "-n", str(count), f"http://127.0.0.1:{port}/{path}?x=1"], check=True,
                           stdout=subprocess.DEVNULL, timeout=200)
        tracer.send_signal(signal.SIGINT)
        self.assertEqual(tracer.wait(), 0)
        return recorder.posts, json.loads((self.dir / "serve.json").read_text())

    def test_each_request_is_a_span(self):
        self.need_npm("otlp")
        posts, report = self.serve()
        self.check_by_the_protocol(posts)
        spans = self.spans(posts)
        self.assertEqual(len({span["traceId"] for span in spans}), 60)
        names = {}
        for span in spans:
            names.setdefault(span["name"], []).append(span)
        self.assertEqual({name: len(some) for name, some in names.items()}, {"GET /fast": 40, "GET /cpu": 19, "GET /nowhere": 1})
        for endpoint in report["endpoints"]:
            total = 0
            for span in names[endpoint["endpoint"]]:
                duration = int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
                total += duration
                (attributes,) = values([span])
                attributes = dict(attributes)
                parts = sum(value for name, value in attributes.items() if name.startswith("mlbcc.seconds."))
                self.assertAlmostEqual(parts * 1e9, duration, delta=10)
                self.assertEqual((attributes["http.request.method"], attributes["url.path"]), tuple(span["name"].split()))
                self.assertEqual(attributes["http.response.status_code"], "404" if span["name"] == "GET /nowhere" else "200")
                self.assertLess(abs(int(span["endTimeUnixNano"]) / 1e9 - time.time()), 300)
            self.assertEqual(total, endpoint["total_time_ns"])
        resource = posts[0][2].get("resourceSpans", posts[0][2].get("resourceMetrics"))[0]["resource"]
        (attributes,) = values([resource])
        self.assertEqual(dict(attributes)["service.name"], "models")
        requests = values(self.last_metrics(posts)["mlbcc_requests_total"]["sum"]["dataPoints"])
        self.assertEqual(requests[(("endpoint", "GET /fast"),)]["asDouble"], 40)

    def test_some_of_them(self):
        posts, report = self.serve("--sample", "1/10")
        self.assertEqual(len(self.spans(posts)), 6)
        self.assertEqual(sum(endpoint["requests"] for endpoint in report["endpoints"]), 60)

    def test_a_receiver_of_opentelemetry(self):
        """Elastic's, from npm."""
        self.need_npm("otlp")
        with open(self.dir / "received.txt", "wb") as said:
            receiver = subprocess.Popen([KEPT / "node_modules/.bin/mockotlpserver", "-o", "json2", "--hostname", "127.0.0.1"], stdout=said, stderr=said)
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.terminate)
        self.until(lambda: "OTLP/HTTP listening" in (self.dir / "received.txt").read_text(), "no receiver")
        rules = self.write("a.rules", 'on "libc.so.6":getppid { count as "asked" }\n')
        done = self.mlbcc("--rules", rules, "-o", self.out, "--otlp", "http://127.0.0.1", "--", "/usr/bin/python3", "-c",
                          "import os\nfor _ in range(7): os.getppid()")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("did not take", done.stderr)
        text = self.until(lambda: (said := (self.dir / "received.txt").read_text()).count("mlbcc_rule_calls_total") and said, "nothing was received")
        message, _ = json.JSONDecoder().raw_decode(text[text.index("{\n"):])
        metric, = [one for one in message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"] if one["name"] == "mlbcc_rule_calls_total"]
        point, = metric["sum"]["dataPoints"]
        self.assertEqual((point["attributes"]["name"], point["asDouble"]), ("asked", 7))


if __name__ == "__main__":
    unittest.main()
