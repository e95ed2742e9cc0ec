// A request to a disk, from its issue to its completion, for the process that issued it. What the
// kernel writes later on its own behalf is not a traced process's.
//
//= probe block:io completion
//= tracepoint block:block_rq_issue block_issued
//= tracepoint block:block_rq_complete block_completed
//= offset block:block_rq_issue.dev
//= offset block:block_rq_issue.sector
//= offset block:block_rq_issue.bytes
//= offset block:block_rq_issue.rwbs
//= offset block:block_rq_complete.dev
//= offset block:block_rq_complete.sector
//= offset block:block_rq_complete.error
//= fields
struct block_io {
    unsigned int device;  // major << 20 | minor
    unsigned long long sector;
    unsigned int bytes;
    char kind[8];  // "R" read, "W" write, "D" discard, "F" flush; "S" synchronous, "M" metadata
    int error;     // errno, 0: none
};
//= programs
struct block_place {
    u64 sector, device;
};
struct block_request {
    u64 since, taken;
    struct identity id;
    u32 bytes;
    char kind[8];
};
BPF_TABLE("hash", struct block_place, struct block_request, block_requests, 16384);
#define BLOCK_AT(type, field) (*(type *)((u8 *)ctx + MLBCC_OFFSET_##field))

int block_issued(void *ctx) {
    struct call call MLBCC_UNSET;
    if (!mlbcc_admit(&call)) return 0;
    struct block_place place = {BLOCK_AT(u64, block_rq_issue_sector), BLOCK_AT(u32, block_rq_issue_dev)};
    struct block_request request = {.since = call.now, .id = call.id};
    request.bytes = BLOCK_AT(u32, block_rq_issue_bytes);
    bpf_probe_read_kernel(request.kind, 8, (u8 *)ctx + MLBCC_OFFSET_block_rq_issue_rwbs);
    request.kind[7] = 0;
    request.taken = take_stack_block_io(ctx, &call);
    block_requests.update(&place, &request);
    return 0;
}

int block_completed(void *ctx) {
    struct block_place place = {BLOCK_AT(u64, block_rq_complete_sector),
                                BLOCK_AT(u32, block_rq_complete_dev)};
    struct block_request *it = block_requests.lookup(&place);
    struct call call MLBCC_UNSET;
    call.all = mlbcc_accounts();
    if (!it || !call.all) return 0;
    call.id = it->id;
    call.now = bpf_ktime_get_ns();
    call.start = it->since;
    call.taken = it->taken;
    struct block_io fields = {.device = place.device, .sector = place.sector, .bytes = it->bytes};
    fields.error = -BLOCK_AT(s32, block_rq_complete_error);
    __builtin_memcpy(fields.kind, it->kind, 8);
    block_requests.delete(&place);
    return fire_block_io(ctx, &call, &fields);
}
