// For call.taken of a later fire_{{structure}}: the stack of the thread that runs now, if a rule wants
// one. It stays in the thread's state until then.
static __always_inline u64 take_stack_{{structure}}(void *ctx, struct call *given) {
    given->ctx = ctx;
    given->sp = 0;
#define call (*given)
{{take_stack}}#undef call
    return 0;
}

// What the rules do when {{structure}} happens: called by the template that defines it, with call.all,
// call.id, call.now, call.taken and, of a completion, call.start set.
static __always_inline int fire_{{structure}}(void *ctx, struct call *given,
                                              struct {{structure}} *fields) {
    given->ctx = ctx;
    given->ends_by = 0;
    given->sp = 0;
    given->probe = {{probe}};
{{goes_on}}    mlbcc_hit(given->probe);
#define call (*given)
{{body}}#undef call
    return 0;
}
