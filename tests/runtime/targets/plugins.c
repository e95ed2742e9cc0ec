/* plugins A B: loads a plugin, has it call tick, unloads it, and does the same with the other,
 * which mostly comes to lie where the first one was; three times. Says "same place" where it did.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) void tick(void) {
    __asm__ volatile("" : : : "memory");
}

/* Where the plugin lay, or null. */
static void* use(const char* path, const char* name) {
    Dl_info info = {0};
    void* library = dlopen(path, RTLD_NOW);
    void* function = library == NULL ? NULL : dlsym(library, name);
    if (function == NULL || dladdr(function, &info) == 0) return NULL;
    ((void (*)(void (*)(void)))function)(tick);
    dlclose(library);
    return info.dli_fbase;
}

int main(int argc, char** argv) {
    for (int i = 0; i < 3 && argc > 2; i++) {
        void *first = use(argv[1], "plugin_a"), *second = use(argv[2], "plugin_b");
        if (first == NULL || second == NULL) return 1;
        if (first == second) puts("same place");
    }
    return 0;
}
