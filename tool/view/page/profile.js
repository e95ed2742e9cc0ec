// What `mlbcc profile` found: phases, where the time went, and findings.

const kPhaseColumns = [
  ["Phase", (phase) => phase.name, true],
  ["From", (phase) => duration(phase.begin_ns)],
  ["Lasts", (phase) => duration(phase.end_ns - phase.begin_ns)],
  ["CPU", ({ used }) => (used ? duration(used.cpu_ns) : "")],
  ["Read", ({ used }) => (used ? bytes(used.read_bytes) : "")],
  ["Written", ({ used }) => (used ? bytes(used.written_bytes) : "")],
  ["Peak memory", ({ used }) => (used?.peak_resident_bytes ? bytes(used.peak_resident_bytes) : "")],
  ["Begins with", (phase) => phase.begin_evidence, true],
];

function drawPhases(phases) {
  if (!phases || phases.length === 0) return;
  show("phases-part");
  fillTable("phases", kPhaseColumns, phases);
}

// Of all threads, the most first; "to_run" is waiting for a CPU.
function drawTime(time) {
  const { thread_time_ns: all, on_cpu_ns: onCpu, off_cpu_ns: off } = time?.whole ?? {};
  if (!all) return;
  show("time-part");
  byId("time-told").textContent = `${time.classification}: ${time.evidence}`;
  const parts = [["on CPU", onCpu], ...Object.entries(off ?? {}).map(([name, ns]) => [name.replace("_", " "), ns])];
  const columns = [
    ["", ([name]) => name, true],
    ["Time of threads", ([, ns]) => duration(ns)],
    ["Share", ([, ns]) => `${(100 * ns / all).toFixed(1)} %`],
  ];
  fillTable("time", columns, parts.sort((a, b) => b[1] - a[1]));
}

function drawFindings(findings) {
  if (!findings || findings.length === 0) return;
  show("findings-part");
  byId("findings").append(...findings.map((finding) => {
    const severity = element("span", { className: finding.severity, textContent: finding.severity });
    return element("li", {}, severity, ` ${finding.what}: ${finding.why}`);
  }));
}

function drawProfile(profile) {
  if (!profile) return;
  drawPhases(profile.phases?.phases);
  drawTime(profile.time);
  drawFindings(profile.security?.findings);
}
