// Reads a Chrome trace with the importer of chrome://tracing (Catapult's, which npm's bigrig holds)
// and writes the model that it would draw: catapult.cjs TRACE
const { readFileSync } = require("node:fs");
const { dirname, join } = require("node:path");
const lib = join(dirname(require.resolve("bigrig/package.json")), "lib");
require(join(lib, "global-config.js")).enable();
for (const name of ["third_party/tracing/importer/import.js", "third_party/tracing/extras/importer/trace_event_importer.js",
  "tracing-config.js"]) require(join(lib, name));

const options = new tr.importer.ImportOptions();
Object.assign(options, { showImportWarnings: false, shiftWorldToZero: false, pruneEmptyContainers: false });
const model = new tr.Model();
new tr.importer.Import(model, options).importTraces([readFileSync(process.argv[2], "utf8")]);

const slice = (one) => ({ name: one.title, begin: one.start, duration: one.duration, args: one.args });
const samples = (series) => ({ name: series.name, samples: series.samples.map((one) => [one.timestamp, one.value]) });
const processes = model.getAllProcesses().map((process) => ({
  pid: process.pid,
  name: process.name,
  threads: Object.values(process.threads).map((thread) => ({
    tid: thread.tid, name: thread.name, slices: thread.sliceGroup.slices.map(slice),
  })),
  instants: process.instantEvents.length,
  counters: Object.values(process.counters).map((one) => ({ name: one.name, series: one.series.map(samples) })),
}));
const flows = model.flowEvents.map((one) => ({ from: one.startSlice?.args, to: one.endSlice?.args }));
process.stdout.write(JSON.stringify({ warnings: model.importWarnings, processes, flows }));
