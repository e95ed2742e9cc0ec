// What the kernel was doing, for a record whose rule has `stack kernel`: the functions that lead to
// the probe, whose own machinery comes first. `ctx` is what the program was started with.
static __always_inline void mlbcc_take_kernel_stack(void *ctx, struct kernel_stack *stack,
                                                    u32 wanted) {
    s64 bytes = wanted ? bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0) : 0;
    stack->bytes = bytes > 0 ? bytes : 0;
}

// At the first instruction of a function of the kernel.
static __always_inline void mlbcc_take_callers(struct pt_regs *ctx, struct kernel_stack *stack,
                                               u32 wanted) {
#ifdef MLBCC_CALLER_IN_REGISTER
    // The caller's frame is not made yet: the kernel finds the function, and then its caller's caller.
    s64 bytes = wanted ? bpf_get_stack(ctx, stack->frames + 1, sizeof(stack->frames) - 8, 0) : 0;
    stack->bytes = 0;
    if (bytes <= 0) return;
    stack->bytes = bytes + 8;
    stack->frames[0] = stack->frames[1];
    MLBCC_RETURN_ADDRESS(ctx, stack->frames + 1);
#else
    mlbcc_take_kernel_stack(ctx, stack, wanted);
#endif
}
