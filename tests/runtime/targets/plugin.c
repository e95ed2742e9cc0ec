/* A plugin: its one function, PLUGIN, calls what it is given. */
void PLUGIN(void (*call)(void)) {
    call();
    __asm__ volatile("" : : : "memory");
}
