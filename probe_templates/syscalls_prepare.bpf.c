// A new program is about to take the place of the thread's own, whose memory is still there.
int on_prepare_exec(struct bpf_raw_tracepoint_args *at) {
#if !MLBCC_EVERYONE
    if (!mlbcc_suspect(bpf_get_current_pid_tgid() >> 32)) return 0;
#endif
    mlbcc_tell_held(at, MLBCC_TOLD_WITHIN);
    return 0;
}
