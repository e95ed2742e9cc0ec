#include <mlbcc/vmlinux.h>
