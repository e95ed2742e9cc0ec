// A trace's file to its text: as it is, or unpacked where it begins as zstd does; "-" is standard
// input. Memory does not grow with its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::saved {

// Told now and then, while a file is read, how many of its bytes were. Nothing for the size of a
// pipe.
using ReadProgress = std::function<void(uint64_t done, std::optional<uint64_t> size)>;

class Input {
public:
    // Errors: cannot be opened.
    static Result<Input> open(const std::string& path, ReadProgress progress = {});
    Input(Input&&) noexcept;
    ~Input();

    // How many bytes of text were put into `into`: 0 at the end. Errors: cannot be read; what is
    // packed is damaged. A packed file that was cut ends where what can be unpacked of it ends.
    Result<size_t> read(std::span<char> into);

    // The file, where its text can be read in any order; else -1.
    int file() const;

private:
    struct Unpacker;
    Input(UniqueFd fd, ReadProgress progress);
    Result<void> begin();
    Result<size_t> read_file(std::span<char> into);
    Result<size_t> unpack(std::span<char> into);

    UniqueFd fd_;
    ReadProgress progress_;
    std::optional<uint64_t> size_;
    uint64_t done_ = 0, told_ = 0;  // bytes of the file
    std::vector<char> packed_;      // read and not yet given, or unpacked: from `at_`
    size_t at_ = 0;
    std::unique_ptr<Unpacker> unpacker_;  // null: the file is text
};

}  // namespace mlbcc::saved
