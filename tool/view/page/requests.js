// What `mlbcc serve` found: a server's requests by endpoint, and where their time went.

function shares(parts, whole) {
  return Object.entries(parts).map(([name, ns]) => [name, 100 * ns / whole])
    .filter(([, share]) => share >= 0.05)
    .sort((a, b) => b[1] - a[1])
    .map(([name, share]) => `${name} ${share.toFixed(1)} %`)
    .join(", ");
}

function slowestRequest({ slowest: [one] }) {
  if (!one || one.duration_ns === 0) return "";
  return `${duration(one.duration_ns)} at ${(one.begin_ns / 1e9).toFixed(6)} s by thread ${one.tid}: ${shares(one.parts_ns, one.duration_ns)}`;
}

function endpointColumns(seconds) {
  const quantile = (name) => [name, ({ latency_ns: latency, requests }) => (requests > 0 ? duration(latency[name]) : "")];
  return [
    ["Endpoint", (one) => one.endpoint, true],
    ["Requests", (one) => grouped(one.requests)],
    ["Per second", (one) => (seconds > 0 ? (one.requests / seconds).toFixed(1) : "")],
    ["4xx", (one) => grouped(one.client_errors)],
    ["5xx", (one) => grouped(one.server_errors)],
    ["Unanswered", (one) => grouped(one.unanswered + (one.open ?? 0))],
    ...["p50", "p90", "p99", "max"].map(quantile),
    ["Where the time went", (one) => (one.total_time_ns > 0 ? shares(one.parts_ns, one.total_time_ns) : ""), true],
    ["Slow ones", (one) => one.hotspot ?? "", true],
    ["The slowest", slowestRequest, true],
  ];
}

function drawRequests(requests) {
  if (!requests || requests.endpoints.length === 0) return;
  show("requests-part");
  fillTable("requests", endpointColumns(requests.duration_ns / 1e9), requests.endpoints);
}
