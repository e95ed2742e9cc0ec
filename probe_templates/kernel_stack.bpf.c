// What the kernel was doing, for a record whose rule has `stack kernel`: the functions that lead to
// the probe, whose own machinery comes first. `ctx` is what the program was started with.
static __always_inline void mlbcc_take_kernel_stack(void *ctx, struct kernel_stack *stack,
                                                    u32 wanted) {
    s64 bytes = wanted ? bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0) : 0;
    stack->bytes = bytes > 0 ? bytes : 0;
}
