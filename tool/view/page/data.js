// The trace from the elements that hold it.

const kPiece = 1 << 16; // characters of base64, a multiple of 4
const kDetails = 1024; // in a piece, as view/marks.h has it
const kLong = 2 ** 32 - 1; // ns
const kFewCalls = 2 ** 13;

function takeText(name) {
  const element = document.getElementById(`column-${name}`);
  const text = element.value;
  element.value = ""; // removed elements are kept until the next collection
  element.remove();
  return text;
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64); // browsers since 2025: nothing is left behind
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

// Base64 of raw deflate to bytes: in pieces, so that a long trace is not there in each of its forms.
async function* piecesOf(name) {
  const text = takeText(name);
  let at = 0;
  const packed = new ReadableStream({
    pull(to) {
      if (at >= text.length) return to.close();
      to.enqueue(bytesOf(text.slice(at, at + kPiece)));
      at += kPiece;
      return undefined;
    },
  });
  const reader = packed.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

// LEB128 to numbers, exact to 2^53: calls put(index, number).
async function readNumbers(name, put) {
  let i = 0;
  let value = 0;
  let factor = 1;
  for await (const bytes of piecesOf(name)) {
    for (const byte of bytes) {
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte & 128) continue;
      put(i++, value);
      value = 0;
      factor = 1;
    }
  }
}

// Calls and instants by their index. There may be millions: what one takes is kept small.
class Marks {
  constructor(count, mostCalls) {
    this.begins = new Float64Array(count);
    this.lengths = new Uint32Array(count); // kLong: in `longer`
    this.longer = new Map();
    this.calls = mostCalls < kFewCalls ? new Uint16Array(count) : new Uint32Array(count); // 8 times the call, and the kind
    this.details = new Uint32Array(count);
  }

  setLength(i, ns) {
    this.lengths[i] = Math.min(ns, kLong);
    if (ns >= kLong) this.longer.set(i, ns);
  }

  length(i) {
    return this.lengths[i] < kLong ? this.lengths[i] : this.longer.get(i);
  }

  end(i) {
    return this.begins[i] + this.length(i);
  }
}

// Rows of the timeline: {lane, depth, first, end}, indexes into the columns, each in order of time.
function readRows(trace) {
  let first = 0;
  return trace.rows.map(([lane, depth, count]) => {
    const row = { lane, depth, first, end: first + count };
    first += count;
    return row;
  });
}

async function readTrace() {
  const trace = JSON.parse(document.getElementById("trace").textContent);
  const rows = readRows(trace);
  const count = rows.length === 0 ? 0 : rows[rows.length - 1].end;
  const marks = new Marks(count, trace.calls.length);
  let detail = 0;
  await readNumbers("calls", (i, call) => { marks.calls[i] = call; });
  await readNumbers("lengths", (i, ns) => marks.setLength(i, ns));
  await readNumbers("gaps", (i, ns) => { marks.begins[i] = ns; });
  await readNumbers("details", (i, step) => { marks.details[i] = detail += step % 2 ? -(step + 1) / 2 : step / 2; });
  for (const row of rows) {
    for (let i = row.first, time = 0; i < row.end; ++i) {
      marks.begins[i] += time;
      time = marks.end(i);
    }
  }
  return { about: trace, marks, rows, detailOf: detailReader() };
}

// What is known of a mark besides, by its number from 1 on; 0: nothing. All stays packed but for the piece that was asked for last.
function detailReader() {
  const pieces = takeText("texts").split(",");
  let open = { piece: -1, lines: null };
  return async (id) => {
    if (id === 0) return {};
    const piece = Math.floor((id - 1) / kDetails);
    if (open.piece !== piece) open = { piece, lines: linesOf(pieces[piece]) };
    return JSON.parse((await open.lines)[(id - 1) % kDetails]);
  };
}

async function linesOf(base64) {
  const unpacked = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(unpacked).text()).split("\n");
}
