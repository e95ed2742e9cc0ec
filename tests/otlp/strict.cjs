// Reads messages, a JSON line each: {"path": "/v1/traces", "body": {...}}. Says of each what OpenTelemetry's
// own .proto files do not know of it, or know by another type: all that is lost by going through them.
const { getProtoRoot } = require("@elastic/mockotlpserver/lib/proto");

const TYPES = {
  "/v1/metrics": "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
  "/v1/traces": "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
};
const IDS = { traceId: 32, spanId: 16 }; // hexadecimal digits, where JSON of protobuf has base64

function withIds(value, faults) {
  if (Array.isArray(value)) return value.map((one) => withIds(one, faults));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => {
    if (!(name in IDS)) return [name, withIds(one, faults)];
    if (!new RegExp(`^[0-9a-f]{${IDS[name]}}$`).test(one) || /^0*$/.test(one)) faults.push(`${name} ${one}`);
    return [name, Buffer.from(one, "hex").toString("base64")];
  }));
}

// Without what protobuf does not tell from nothing.
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).map(([name, one]) => [name, plain(one)])
    .filter(([, one]) => !(Array.isArray(one) && one.length === 0)).sort();
  return Object.fromEntries(kept);
}

const faults = [];
for (const line of require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { path, body } = JSON.parse(line);
  const type = getProtoRoot().lookupType(TYPES[path]);
  const given = withIds(body, faults);
  const wrong = type.verify(type.fromObject(given));
  if (wrong) faults.push(wrong);
  const back = type.toObject(type.fromObject(given), { longs: String, enums: Number, bytes: String });
  if (JSON.stringify(plain(given)) !== JSON.stringify(plain(back)))
    faults.push(`${path}: ${JSON.stringify(plain(given))} is read as ${JSON.stringify(plain(back))}`);
}
console.log(JSON.stringify(faults));
