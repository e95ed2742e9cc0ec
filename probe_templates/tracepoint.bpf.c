// A tracepoint. ctx is its record, as its format file describes it.
int {{name}}(void *ctx) {
    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = 0;
    if (!{{admit}}(&call)) return 0;
    mlbcc_take_cookie(&call, bpf_get_attach_cookie(ctx));
    call.sp = 0;
{{body}}}
