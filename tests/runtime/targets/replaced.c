/* A process that executes itself again from inside a call, and one that does so through vfork. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int step(int number) {
    return number;
}
int replacing(const char* self) {
    execl(self, self, "again", (char*)NULL);
    return -1;
}
int borrowed(const char* self) { /* runs in the vfork child, on the parent's memory */
    execl(self, self, "child", (char*)NULL);
    return -1;
}

int main(int argc, char** argv) {
    const char* part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "again") == 0) {
        step(3);
        return 7;
    }
    if (strcmp(part, "child") == 0) {
        step(2);
        return 5;
    }
    step(1);
    pid_t child = vfork();
    if (child == 0) {
        borrowed(argv[0]);
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d %d %d\n", getpid(), child, WEXITSTATUS(status));
    fflush(stdout);
    replacing(argv[0]);
    return 1;
}
