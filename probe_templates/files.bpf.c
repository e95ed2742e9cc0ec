// Names of open files: the last part of the path that a descriptor of the running thread was opened by.

// One slot of the small stack for all steps. Where a step fails, the kernel sets it to 0, and so do
// all steps behind it.
#define MLBCC_FOLLOW(at, offset) bpf_probe_read_kernel(&(at), sizeof(at), (void *)((at) + (offset)))

static __always_inline void mlbcc_read_file_name(char *to, u32 size, u64 descriptor) {
    u64 at = bpf_get_current_task();
    MLBCC_FOLLOW(at, MLBCC_OFFSET_task_struct_files);
    MLBCC_FOLLOW(at, MLBCC_OFFSET_files_struct_fdt);
    u64 table = at;
    MLBCC_FOLLOW(at, MLBCC_OFFSET_fdtable_max_fds);
    u32 count = at, wanted = descriptor;
    at = wanted < count ? table : 0;
    MLBCC_FOLLOW(at, MLBCC_OFFSET_fdtable_fd);
    MLBCC_FOLLOW(at, 8 * (u64)wanted);
    MLBCC_FOLLOW(at, MLBCC_OFFSET_file_f_path_dentry);
    MLBCC_FOLLOW(at, MLBCC_OFFSET_dentry_d_name_name);
    mlbcc_read_kernel_text(to, size, at);
}
