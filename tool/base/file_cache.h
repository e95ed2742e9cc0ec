// What was worked out before, in files of one folder, by what was asked. Only a file counts that
// nobody but this user can have written, and that is whole: anything else is as if it were not
// there. Keeping something may fail, which is nobody's business either.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace mlbcc {

// By which one sees that a file has changed, on one line; "" if there is none.
std::string file_state(const std::string& path);

class FileCache {
public:
    static constexpr size_t kMaxFiles = 64;
    static constexpr size_t kMaxBytes = size_t{64} << 20;  // of all files; the oldest go

    FileCache() = default;  // keeps nothing
    // The folder is made if it is missing; one that others may write to keeps nothing. Other files
    // in it are left alone.
    explicit FileCache(const std::string& folder);

    bool is_used() const { return static_cast<bool>(folder_); }
    std::optional<std::string> get(std::string_view question) const;
    void put(std::string_view question, std::string_view answer) const;

private:
    void make_room(size_t bytes) const;

    UniqueFd folder_;
};

}  // namespace mlbcc
