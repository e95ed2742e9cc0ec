// Under which number /proc has what a process has.
#pragma once

#include <string>

namespace mlbcc {

// The process's own id, or that of a thread that goes on where the first one has ended: then
// /proc/PID/maps is empty, and /proc/PID/root leads nowhere, but not /proc/TID/maps.
int living_thread(const std::string& proc, int pid);
inline int living_thread(int pid) {
    return living_thread("/proc", pid);
}

}  // namespace mlbcc
