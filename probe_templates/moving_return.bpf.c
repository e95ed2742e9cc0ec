// The end of a call, and the `ret` that it ends with.
int {{name}}(struct pt_regs *ctx) {
{{own_stack}}    {{name}}_end(ctx);
    mlbcc_return(ctx);
    return 0;
}
