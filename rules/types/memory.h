/* Flags of mmap() and mprotect(), as Linux has them (include/uapi/asm-generic/mman-common.h). */
enum memory_protection { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };
enum memory_mapping { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20 };
