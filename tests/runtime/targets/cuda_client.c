/* cuda_client LIBRARY CALLS: cuInit once and cuDriverGetVersion CALLS times, in whatever driver
 * library it is given. Prints what they returned. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void* find(void* handle, const char* name) {
    void* found = dlsym(handle, name);
    if (found != NULL) return found;
    fprintf(stderr, "cuda_client: %s\n", dlerror());
    exit(1);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    void* handle = dlopen(argv[1], RTLD_NOW);
    if (handle == NULL) {
        fprintf(stderr, "cuda_client: %s\n", dlerror());
        return 1;
    }
    int (*init)(unsigned) = (int (*)(unsigned))find(handle, "cuInit");
    int (*version)(int*) = (int (*)(int*))find(handle, "cuDriverGetVersion");
    int first = init(0), number = 0, last = 0;
    for (long i = atol(argv[2]); i > 0; i--) last = version(&number);
    printf("{\"cuInit\": %d, \"cuDriverGetVersion\": %d, \"version\": %d}\n", first, last, number);
    return 0;
}
