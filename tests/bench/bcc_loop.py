#!/usr/bin/python3
"""A tracer as people write one with BCC's Python: bcc_loop.py LIBRARY FUNCTION OUT COMMAND...

Prints `lost N` at the end, on standard error; a JSON line an event goes to OUT.
"""

import json
import subprocess
import sys

from bcc import BPF

PROGRAM = """
#include <uapi/linux/ptrace.h>
struct event { u64 ts, duration, a, b, ret; u32 pid, tid; char comm[16]; };
BPF_HASH(started, u64, struct event);
BPF_PERF_OUTPUT(events);
int on_entry(struct pt_regs *ctx) {
    u64 id = bpf_get_current_pid_tgid();
    struct event e = {.ts = bpf_ktime_get_ns(), .a = PT_REGS_PARM1(ctx), .b = PT_REGS_PARM2(ctx)};
    started.update(&id, &e);
    return 0;
}
int on_return(struct pt_regs *ctx) {
    u64 id = bpf_get_current_pid_tgid();
    struct event *e = started.lookup(&id);
    if (!e) return 0;
    e->duration = bpf_ktime_get_ns() - e->ts;
    e->ret = PT_REGS_RC(ctx);
    e->pid = id >> 32;
    e->tid = id;
    bpf_get_current_comm(&e->comm, sizeof e->comm);
    events.perf_submit(ctx, e, sizeof *e);
    started.delete(&id);
    return 0;
}
"""


def main():
    library, function, out, command = *sys.argv[1:4], sys.argv[4:]
    bpf = BPF(text=PROGRAM)
    bpf.attach_uprobe(name=library, sym=function, fn_name="on_entry")
    bpf.attach_uretprobe(name=library, sym=function, fn_name="on_return")
    file, counts = open(out, "w", encoding="utf-8"), {"lost": 0}

    def event(_cpu, data, _size):
        e = bpf["events"].event(data)
        file.write(json.dumps({"ts": e.ts, "name": function, "pid": e.pid, "tid": e.tid,
                               "comm": e.comm.decode(), "duration": e.duration,
                               "args": {"a": e.a, "b": e.b}, "ret": e.ret}) + "\n")

    def lost(_cpu, count):
        counts["lost"] += count

    bpf["events"].open_perf_buffer(event, page_cnt=256, lost_cb=lost)
    child = subprocess.Popen(command)
    while child.poll() is None:
        bpf.perf_buffer_poll(timeout=10)
    bpf.perf_buffer_poll(timeout=10)
    print(f"lost {counts['lost']}", file=sys.stderr)
    return child.returncode


if __name__ == "__main__":
    sys.exit(main())
