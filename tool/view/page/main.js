// Reads the trace and shows what it holds.

function tile(title, value, long = false) {
  const shown = element("dd", { textContent: value, className: long ? "long" : "" });
  return element("div", {}, element("dt", { textContent: title }), shown);
}

function drawTiles(about, calls) {
  const busiest = calls.reduce((most, call) => (call.total > (most?.total ?? 0) ? call : most), null);
  const tiles = [
    ["duration", "Duration", duration(about.duration_ns), about.duration_ns],
    ["processes", "Processes", grouped(about.processes), about.processes],
    ["events", "Events", grouped(about.events), about.events],
    ["lost", "Lost", grouped(about.lost), about.lost],
    ["calls", "Calls", grouped(about.calls_seen), about.calls_seen],
  ];
  for (const [key, title, text, value] of tiles) {
    const made = tile(title, text);
    made.lastChild.dataset.tile = key;
    made.lastChild.dataset.value = value;
    byId("tiles").append(made);
  }
  if (busiest) byId("tiles").append(tile("Most time in", `${busiest.name}, ${duration(busiest.total)}`, true));
}

function drawAbout(about) {
  const command = about.command.join(" ");
  byId("title").textContent = command || "Trace of running processes";
  document.title = `${command || "Trace"} – ${about.tool}`;
  byId("about").textContent = [about.start.replace("T", " ").replace(/\.\d+Z$/, " UTC"), `Linux ${about.kernel} ${about.arch}`, about.tool].join(" · ");
}

function noticeOf(about) {
  const told = [];
  if (!about.complete) told.push("The trace was cut: it has no summary.");
  if (about.lost > 0) told.push(`${grouped(about.lost)} events were lost; red lines show where.`);
  if (about.left_out > 0) told.push(`${grouped(about.left_out)} calls shorter than ${duration(about.least_ns)} are not drawn; the table counts them.`);
  return told.join(" ");
}

function drawTimeline(trace) {
  show("timeline-part");
  const timeline = new Timeline(byId("timeline"), trace);
  timeline.onRange = (begin, end) => {
    byId("range").textContent = `${(begin / 1e9).toFixed(6)} s to ${(end / 1e9).toFixed(6)} s, ${duration(end - begin)}`;
  };
  timeline.fit();
  listenToProcesses(timeline);
  listenToIdle(timeline);
  listenToPointers(timeline);
  listenToKeys(timeline);
}

async function main() {
  const trace = await readTrace();
  const { about } = trace;
  const calls = readCalls(about);
  drawAbout(about);
  drawTiles(about, calls);
  drawProfile(about.profile);
  drawRequests(about.requests);
  if (trace.rows.length > 0) drawTimeline(trace);
  if (calls.length > 0) {
    show("calls-part");
    new CallTable(calls);
  }
  drawLatencies(calls);
  drawSeries(about.series);
  if (about.stacks.length > 0) {
    show("flame-part");
    new Flame(about.stacks);
  }
  byId("notice").textContent = noticeOf(about);
  document.documentElement.dataset.ready = "yes";
}

main().catch((error) => {
  byId("notice").textContent = `The page could not be drawn: ${error.message}`;
  throw error;
});
