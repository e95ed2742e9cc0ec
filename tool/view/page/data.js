// The trace from the elements that hold it.

// Base64 of raw deflate to bytes.
async function columnBytes(name) {
  const element = document.getElementById(`column-${name}`);
  const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  element.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// LEB128 to numbers, exact to 2^53.
function readNumbers(bytes, into) {
  for (let at = 0, i = 0; i < into.length; ++i) {
    let value = bytes[at] & 127;
    for (let factor = 128; bytes[at++] & 128; factor *= 128) value += (bytes[at] & 127) * factor;
    into[i] = value;
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
  const names = ["begins", "lengths", "calls", "details", "texts"];
  const [begins, lengths, calls, details, texts] = await Promise.all(names.map(columnBytes));
  const marks = {
    begins: readNumbers(begins, new Float64Array(count)),
    ends: readNumbers(lengths, new Float64Array(count)),
    calls: readNumbers(calls, new Uint32Array(count)),
    details: readNumbers(details, new Uint32Array(count)),
  };
  for (const row of rows) {
    for (let i = row.first, time = 0; i < row.end; ++i) {
      time = marks.begins[i] += time;
      marks.ends[i] += time;
    }
  }
  return { about: trace, marks, rows, detailOf: detailReader(texts) };
}

// Where each line begins is found when one is asked for.
function detailReader(bytes) {
  let lines = null;
  const decoder = new TextDecoder();
  return (id) => {
    if (id === 0) return {};
    if (lines === null) {
      lines = [0];
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines.push(at + 1);
    }
    return JSON.parse(decoder.decode(bytes.subarray(lines[id - 1], lines[id] - 1)));
  };
}
