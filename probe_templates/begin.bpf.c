// The beginning of a call, as all functions have it of which rules want no more than a record of
// arguments and a frame. What else the rules save, the program of the function's shape does.
int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    struct call call MLBCC_UNSET;
    call.ctx = ctx;
    call.ends_by = {{ends_by}};
    call.in_kernel = {{in_kernel}};
    if (!mlbcc_enter(&call)) return {{skip}};
{{record}}    call.hits = ~0u;
    call.at_return = 1;
    if (!mlbcc_push(&call)) return MLBCC_FRAMELESS();
{{rest}}    return 0;
}
