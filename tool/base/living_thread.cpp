#include "base/living_thread.h"

#include <dirent.h>

#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/read_file.h"

namespace mlbcc {
namespace {

constexpr size_t kMaxStat = 1 << 16;

// `70 (any (name) at all) Z 1 70 ...`
bool has_ended(const std::string& folder) {
    const Result<std::string> text = read_file(folder + "/stat", kMaxStat);
    const size_t close = text ? text->rfind(") ") : std::string::npos;
    if (close == std::string::npos || close + 2 >= text->size()) return false;
    return (*text)[close + 2] == 'Z' || (*text)[close + 2] == 'X';
}

}  // namespace

int living_thread(const std::string& proc, int pid) {
    const std::string folder = fmt::format("{}/{}", proc, pid), threads = folder + "/task";
    if (!has_ended(folder)) return pid;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(threads.c_str()), closedir);
    while (const dirent* entry = stream ? readdir(stream.get()) : nullptr) {
        int tid = 0;
        const char* end = entry->d_name + std::strlen(entry->d_name);
        if (std::from_chars(entry->d_name, end, tid).ptr != end || tid == pid) continue;
        if (!has_ended(fmt::format("{}/{}", threads, tid))) return tid;
    }
    return pid;
}

}  // namespace mlbcc
