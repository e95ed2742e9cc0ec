// Names of open files: the last part of the path that a descriptor of the running thread was opened by.

// The pointer that is so many bytes behind `from`; 0 where there is none.
static __always_inline u64 mlbcc_follow(u64 from, u32 offset) {
    u64 to = 0;
    if (from) bpf_probe_read_kernel(&to, sizeof(to), (void *)(from + offset));
    return to;
}

static __always_inline void mlbcc_read_file_name(char *to, u32 size, u64 descriptor) {
    u64 files = mlbcc_follow(bpf_get_current_task(), MLBCC_OFFSET_task_struct_files);
    u64 table = mlbcc_follow(files, MLBCC_OFFSET_files_struct_fdt);
    u32 count = 0, wanted = descriptor;
    if (table) {
        bpf_probe_read_kernel(&count, sizeof(count), (void *)(table + MLBCC_OFFSET_fdtable_max_fds));
    }
    u64 file = 0;
    if (wanted < count) {
        file = mlbcc_follow(mlbcc_follow(table, MLBCC_OFFSET_fdtable_fd), 8 * wanted);
    }
    u64 dentry = mlbcc_follow(file, MLBCC_OFFSET_file_f_path_dentry);
    mlbcc_read_kernel_text(to, size, mlbcc_follow(dentry, MLBCC_OFFSET_dentry_d_name_name));
}
