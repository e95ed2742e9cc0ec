#include "files/sources.h"

#include <algorithm>

#include "base/file_cache.h"

namespace mlbcc::files {

void Sources::note(const std::string& path) {
    if (!watched_ || std::ranges::find(sources_, path, &Source::path) != sources_.end()) return;
    sources_.push_back({path, file_state(path)});
}

Result<std::string> Sources::read(const std::string& path, size_t max_bytes) {
    note(path);
    return trusted_.read(path, max_bytes);
}

Result<void> Sources::admit(const std::string& path) {
    note(path);
    return trusted_.admit(path);
}

}  // namespace mlbcc::files
