// Which threads come first: those that ask the GPU for something, then those that call anything; threads that slept
// from their beginning to their end, but for what every thread does first, are folded away.

const kGpuCall = /^(cu|cuda|hip)[A-Z]/;
const kWaiting = new Set(["off_cpu", "process"]); // types that say nothing of work
const kAsleep = 0.95; // of its time, and at most so often
const kNaps = 2;

// Of the rows of a lane: {calls, began, ended, inCalls}, times in ns; inCalls: in calls of the outermost level.
function laneUse(trace, rows) {
  const { marks } = trace;
  const use = { calls: 0, began: Infinity, ended: 0, inCalls: 0 };
  for (const row of rows) {
    use.calls += row.end - row.first;
    if (row.end === row.first) continue;
    use.began = Math.min(use.began, marks.begins[row.first]);
    use.ended = Math.max(use.ended, marks.end(row.end - 1));
    if (row.depth > 0) continue;
    for (let i = row.first; i < row.end; ++i) use.inCalls += marks.length(i);
  }
  return use;
}

function asksGpu(trace, rows) {
  const names = new Set();
  for (const row of rows) for (let i = row.first; i < row.end; ++i) names.add(trace.marks.calls[i] >> 3);
  return [...names].some((call) => kGpuCall.test(trace.about.calls[call][1]));
}

// {pid, tid, comm, lanes: [{lane, rows, type, rank}], rank, isIdle}. Rank 0: of the GPU; 1: calls; 2: waits only.
function threadsOf(trace) {
  const rowsOf = new Map();
  for (const row of trace.rows) rowsOf.set(row.lane, [...(rowsOf.get(row.lane) ?? []), row]);
  const threads = new Map();
  trace.about.lanes.forEach(([pid, tid, type, comm], lane) => {
    const rows = rowsOf.get(lane) ?? [];
    if (rows.length === 0) return;
    const rank = kWaiting.has(type) ? 2 : asksGpu(trace, rows) ? 0 : 1;
    const key = `${pid}/${tid}`;
    if (!threads.has(key)) threads.set(key, { pid, tid, comm, lanes: [] });
    threads.get(key).lanes.push({ lane, rows, type, rank });
  });
  for (const thread of threads.values()) {
    thread.lanes.sort((a, b) => a.rank - b.rank || a.lane - b.lane);
    thread.rank = thread.lanes[0].rank;
    thread.isIdle = thread.rank > 0 && sleptAllTheTime(trace, thread);
  }
  return [...threads.values()];
}

function sleptAllTheTime(trace, thread) {
  const uses = thread.lanes.map(({ rows }) => laneUse(trace, rows));
  const waits = uses[thread.lanes.findIndex(({ type }) => type === "off_cpu")];
  if (!waits || waits.calls > kNaps) return false;
  const life = Math.max(...uses.map((use) => use.ended)) - Math.min(...uses.map((use) => use.began));
  return waits.inCalls >= kAsleep * life;
}

// Processes by what their busiest thread is, then threads likewise.
function orderedThreads(trace) {
  const threads = threadsOf(trace);
  const ranks = new Map();
  for (const { pid, rank } of threads) ranks.set(pid, Math.min(rank, ranks.get(pid) ?? rank));
  return threads.sort((a, b) => ranks.get(a.pid) - ranks.get(b.pid) || a.pid - b.pid || a.rank - b.rank || a.tid - b.tid);
}
