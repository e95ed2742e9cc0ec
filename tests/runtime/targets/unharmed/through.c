// Calls what it is given, and says of itself neither that it throws nor that it calls back.
int call_through(int (*what)(int), int n) {
    int result = what(n);
    __asm__ volatile("" : "+r"(result));
    return result + 1;
}
