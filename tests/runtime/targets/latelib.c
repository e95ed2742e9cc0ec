/* A library that programs load while they run. */
int late_work(int i) {
    __asm__ volatile("" : : : "memory");
    return i + 1;
}
int late_other(int i) {
    __asm__ volatile("" : : : "memory");
    return i - 1;
}
