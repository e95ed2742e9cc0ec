// Wheel, pointers and keys to the timeline.

const kStill = 4; // pixels that a click may move

function listenToPointers(timeline) {
  const { canvas } = timeline;
  const down = new Map(); // by pointer: where it was last
  let pressed = null; // where the last one was pressed
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) return timeline.pan(event.deltaY + event.deltaX);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return timeline.pan(event.deltaX);
    return timeline.zoom(Math.exp(event.deltaY * 0.002), event.offsetX);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pressed = { x: event.offsetX, y: event.offsetY };
    down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return showTip(timeline, event.offsetX, event.offsetY);
    const now = { x: event.offsetX, y: event.offsetY };
    if (down.size === 1) timeline.pan(before.x - now.x, before.y - now.y);
    else pinch(timeline, [...down].find(([id]) => id !== event.pointerId)[1], before, now);
    down.set(event.pointerId, now);
    return undefined;
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      down.delete(event.pointerId);
      showTip(timeline, event.offsetX, event.offsetY);
    });
  }
  canvas.addEventListener("click", (event) => {
    const process = timeline.processAt(event.offsetY);
    const hasMoved = Math.hypot(event.offsetX - pressed.x, event.offsetY - pressed.y) > kStill;
    if (process && !hasMoved) timeline.open([process], !process.isOpen);
  });
  canvas.addEventListener("pointerleave", () => hideTip(timeline));
}

// The other finger stays where it is.
function pinch(timeline, other, before, now) {
  const was = Math.max(Math.abs(before.x - other.x), 8);
  timeline.zoom(was / Math.max(Math.abs(now.x - other.x), 8), other.x);
}

function hideTip(timeline) {
  const tip = byId("tip");
  timeline.pointedAt = -1;
  tip.hidden = true;
  tip.ariaBusy = "false";
}

// What it says may have to be unpacked first, and the pointer move on meanwhile.
async function showTip(timeline, x, y) {
  const tip = byId("tip");
  const mark = timeline.markAt(x, y);
  if (mark < 0) {
    hideTip(timeline);
    return;
  }
  timeline.pointedAt = mark;
  tip.ariaBusy = "true";
  const text = await timeline.describe(mark);
  if (timeline.pointedAt !== mark) return;
  tip.textContent = text;
  tip.hidden = false;
  tip.ariaBusy = "false";
  const left = Math.min(x + 12, timeline.width - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${y + 16}px`;
}

// Threads that only slept can be shown.
function listenToIdle(timeline) {
  const button = byId("idle-threads");
  button.hidden = timeline.folded.length === 0;
  button.textContent = `${timeline.idle} idle threads`;
  button.title = "Asleep from their beginning to their end";
  button.addEventListener("click", () => {
    timeline.showIdle(!timeline.showsIdle);
    button.ariaPressed = String(timeline.showsIdle);
  });
}

// Processes that do little can be opened: by their heads, or all of them.
function listenToProcesses(timeline) {
  const button = byId("closed-processes");
  const closed = timeline.processes.filter(({ isOpen }) => !isOpen);
  button.hidden = closed.length === 0;
  button.textContent = closed.length === 1 ? "1 process that does little" : `${closed.length} processes that do little`;
  button.addEventListener("click", () => {
    const opens = closed.some(({ isOpen }) => !isOpen);
    timeline.open(closed, opens);
    button.ariaPressed = String(opens);
  });
}

function listenToKeys(timeline) {
  const step = () => timeline.width / 8;
  const actions = {
    ArrowLeft: () => timeline.pan(-step()),
    ArrowRight: () => timeline.pan(step()),
    ArrowUp: () => timeline.pan(0, -3 * kRowHeight),
    ArrowDown: () => timeline.pan(0, 3 * kRowHeight),
    "+": () => timeline.zoom(0.5),
    "=": () => timeline.zoom(0.5),
    "-": () => timeline.zoom(2),
    0: () => timeline.fit(),
    Home: () => timeline.setRange(0, timeline.end - timeline.begin),
    End: () => timeline.setRange(timeline.whole - (timeline.end - timeline.begin), timeline.whole),
  };
  timeline.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  });
  byId("zoom-in").addEventListener("click", actions["+"]);
  byId("zoom-out").addEventListener("click", actions["-"]);
  byId("zoom-all").addEventListener("click", actions[0]);
}
