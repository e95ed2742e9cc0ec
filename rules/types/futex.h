/* Operations of futex() (include/uapi/linux/futex.h); the bits above are FUTEX_COMMAND's flags. */
enum futex_operation {
    FUTEX_WAIT = 0,
    FUTEX_WAKE = 1,
    FUTEX_LOCK_PI = 6,
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAIT_REQUEUE_PI = 11,
    FUTEX_LOCK_PI2 = 13,
    FUTEX_COMMAND = 0x7f
};
