/* bare_pair pair|entry LIBRARY FUNCTION COMMAND...: runs COMMAND while an empty BPF program stands
 * on the entry of FUNCTION, and for `pair` on its return too: the least that a probe can cost. It
 * stands at the symbol's own address, by uprobe_multi, for all processes. No library is needed for
 * it. */
#include <elf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRACE_UPROBE_MULTI = 48, IS_RETURN = 1, LINK_CREATE = 28 };

/* The uprobe_multi form of union bpf_attr, which Debian 12's headers do not have. */
struct link_create {
    uint32_t prog_fd, target_fd, attach_type, flags;
    uint64_t path, offsets, ref_ctr_offsets, cookies;
    uint32_t count, multi_flags, pid, padding;
};

static void die(const char* what) {
    perror(what);
    exit(125);
}

static int load_empty_program(void) {
    static const struct bpf_insn code[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0}, {.code = BPF_JMP | BPF_EXIT}};
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE, .insn_cnt = 2};
    attr.insns = (uintptr_t)code;
    attr.license = (uintptr_t) "GPL";
    attr.expected_attach_type = TRACE_UPROBE_MULTI;
    int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
    if (fd < 0) die("bare_pair: BPF_PROG_LOAD");
    return fd;
}

static void attach(int program, const char* library, uint64_t offset, int multi_flags) {
    struct link_create attr = {.prog_fd = (uint32_t)program,
                               .attach_type = TRACE_UPROBE_MULTI,
                               .path = (uintptr_t)library,
                               .offsets = (uintptr_t)&offset,
                               .count = 1,
                               .multi_flags = (uint32_t)multi_flags};
    if (syscall(SYS_bpf, LINK_CREATE, &attr, sizeof attr) < 0) die("bare_pair: BPF_LINK_CREATE");
}

/* The place in the file of what is loaded at `address`. */
static uint64_t file_offset(const char* file, uint64_t address) {
    const Elf64_Ehdr* header = (const Elf64_Ehdr*)file;
    const Elf64_Phdr* segment = (const Elf64_Phdr*)(file + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++, segment++)
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address < segment->p_vaddr + segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    return 0;
}

static uint64_t find_in(const char* file, const Elf64_Shdr* sections, int table, const char* name) {
    const Elf64_Sym* symbols = (const Elf64_Sym*)(file + sections[table].sh_offset);
    const char* names = file + sections[sections[table].sh_link].sh_offset;
    for (uint64_t i = 0; i < sections[table].sh_size / sizeof *symbols; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(names + symbols[i].st_name, name) == 0)
            return file_offset(file, symbols[i].st_value);
    return 0;
}

static uint64_t find_function(const char* library, const char* name) {
    struct stat status;
    int fd = open(library, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) die(library);
    const char* file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) die(library);
    const Elf64_Ehdr* header = (const Elf64_Ehdr*)file;
    const Elf64_Shdr* sections = (const Elf64_Shdr*)(file + header->e_shoff);
    uint64_t found = 0;
    for (int i = 0; i < header->e_shnum && found == 0; i++)
        if (sections[i].sh_type == SHT_DYNSYM || sections[i].sh_type == SHT_SYMTAB)
            found = find_in(file, sections, i, name);
    if (found == 0) {
        fprintf(stderr, "bare_pair: %s has no function %s\n", library, name);
        exit(125);
    }
    return found;
}

int main(int argc, char** argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: bare_pair pair|entry LIBRARY FUNCTION COMMAND...\n");
        return 125;
    }
    uint64_t offset = find_function(argv[2], argv[3]);
    int program = load_empty_program();
    attach(program, argv[2], offset, 0);
    if (strcmp(argv[1], "pair") == 0) attach(program, argv[2], offset, IS_RETURN);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[4], argv + 4);
        die(argv[4]);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
