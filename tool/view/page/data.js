// The trace from the elements that hold it.

const kPiece = 1 << 16; // characters of base64, a multiple of 4
const kDetails = 1024; // in a piece, as view/marks.h has it

function takeText(name) {
  const element = document.getElementById(`column-${name}`);
  element.remove();
  return element.textContent;
}

function bytesOf(base64) {
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
