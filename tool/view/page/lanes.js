// Which threads come first: those that ask the GPU for something, then those that call anything; threads that slept
// from their beginning to their end, but for what every thread does first, are folded away. So are processes that do
// little beside others.

const kGpuCall = /^(cu|cuda|hip)[A-Z]/;
const kWaiting = new Set(["off_cpu", "process"]); // types that say nothing of work
const kAsleep = 0.95; // of its time, and at most so often
const kNaps = 2;
const kLittle = 0.05; // of the time in calls that the busiest process has

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

// {pid, tid, comm, lanes: [{lane, rows, type, rank, use}], rank, isIdle}. Rank 0: of the GPU; 1: calls; 2: waits only.
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
    threads.get(key).lanes.push({ lane, rows, type, rank, use: laneUse(trace, rows) });
  });
  for (const thread of threads.values()) {
    thread.lanes.sort((a, b) => a.rank - b.rank || a.lane - b.lane);
    thread.rank = thread.lanes[0].rank;
    thread.isIdle = thread.rank > 0 && sleptAllTheTime(thread);
  }
  return [...threads.values()];
}

function sleptAllTheTime(thread) {
  const uses = thread.lanes.map(({ use }) => use);
  const waits = uses[thread.lanes.findIndex(({ type }) => type === "off_cpu")];
  if (!waits || waits.calls > kNaps) return false;
  const life = Math.max(...uses.map((use) => use.ended)) - Math.min(...uses.map((use) => use.began));
  return waits.inCalls >= kAsleep * life;
}

// {pid, comm, threads, rank, calls, inCalls, isOpen}: the one that works most first. Rank: that of its first thread.
function processesOf(trace) {
  const processes = new Map();
  for (const thread of threadsOf(trace)) {
    if (!processes.has(thread.pid)) processes.set(thread.pid, { pid: thread.pid, comm: thread.comm, threads: [], rank: 2, calls: 0, inCalls: 0 });
    const process = processes.get(thread.pid);
    if (thread.tid === thread.pid) process.comm = thread.comm;
    process.threads.push(thread);
    process.rank = Math.min(process.rank, thread.rank);
    for (const { type, use } of thread.lanes) {
      process.calls += use.calls;
      if (!kWaiting.has(type)) process.inCalls += use.inCalls;
    }
  }
  const ordered = [...processes.values()].sort((a, b) => a.rank - b.rank || b.inCalls - a.inCalls || a.pid - b.pid);
  const most = ordered[0]?.inCalls ?? 0;
  for (const process of ordered) {
    process.isOpen = process.rank === ordered[0].rank && process.inCalls >= kLittle * most;
    process.threads.sort((a, b) => a.rank - b.rank || a.tid - b.tid);
  }
  return ordered;
}
