// The trace from the elements that hold it.

const kPiece = 1 << 16; // characters of base64, a multiple of 4
const kIndexed = 64; // every so manieth line of the details is known by its place

// Base64 of raw deflate to bytes: in pieces, so that a long trace is not there in each of its forms.
async function* piecesOf(name) {
  const element = document.getElementById(`column-${name}`);
  const text = element.textContent;
  element.remove();
  let at = 0;
  const packed = new ReadableStream({
    pull(to) {
      if (at >= text.length) return to.close();
      to.enqueue(Uint8Array.from(atob(text.slice(at, at + kPiece)), (c) => c.charCodeAt(0)));
      at += kPiece;
      return undefined;
    },
  });
  const reader = packed.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
}

// LEB128 to numbers, exact to 2^53.
async function readNumbers(name, into) {
  let i = 0;
  let value = 0;
  let factor = 1;
  for await (const bytes of piecesOf(name)) {
    for (const byte of bytes) {
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte & 128) continue;
      into[i++] = value;
      value = 0;
      factor = 1;
    }
  }
  return into;
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
  const marks = {
    begins: await readNumbers("begins", new Float64Array(count)),
    ends: await readNumbers("lengths", new Float64Array(count)),
    calls: await readNumbers("calls", new Uint32Array(count)),
    details: await readNumbers("details", new Uint32Array(count)),
  };
  for (const row of rows) {
    for (let i = row.first, time = 0; i < row.end; ++i) {
      time = marks.begins[i] += time;
      marks.ends[i] += time;
    }
  }
  return { about: trace, marks, rows, detailOf: await detailReader() };
}

async function detailReader() {
  const pieces = [];
  for await (const piece of piecesOf("texts")) pieces.push(piece);
  const places = []; // [piece, byte] of every kIndexed-th line
  let lines = 0;
  pieces.forEach((bytes, piece) => {
    if (piece === 0) places.push([0, 0]);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      lines += 1;
      if (lines % kIndexed === 0) places.push([piece, at + 1]);
    }
  });
  const decoder = new TextDecoder();
  return (id) => (id === 0 ? {} : JSON.parse(decoder.decode(lineOf(pieces, places, id - 1))));
}

// The bytes of a line, counted from 0; it may lie in several pieces.
function lineOf(pieces, places, line) {
  let [piece, at] = places[Math.floor(line / kIndexed)];
  const found = [];
  for (let left = line % kIndexed; piece < pieces.length;) {
    const end = pieces[piece].indexOf(10, at);
    if (left === 0) found.push(...pieces[piece].subarray(at, end < 0 ? pieces[piece].length : end));
    if (end < 0) {
      piece += 1;
      at = 0;
    } else {
      if (left === 0) break;
      left -= 1;
      at = end + 1;
    }
  }
  return Uint8Array.from(found);
}
