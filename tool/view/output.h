// Text to a file in large pieces; a failed write is told at the end.
#pragma once

#include <optional>
#include <string_view>

#include "sink/buffer.h"
#include "sink/output_file.h"

namespace mlbcc::view {

class Output {
public:
    explicit Output(sink::OutputFile file) : file_(std::move(file)) {}

    sink::Buffer& text() { return text_; }
    // Something whole stands in text(): it may be written now.
    void whole() {
        if (text_.size() >= kWriteAt) write();
    }
    bool failed() const { return failure_.has_value(); }
    Result<void> finish() {
        write();
        if (failure_) return *failure_;
        return {};
    }

private:
    static constexpr size_t kWriteAt = 256 << 10;  // bytes
    void write() {
        if (!failure_) {
            if (auto done = file_.write(text_.view()); !done) failure_ = done.error();
        }
        text_.clear();
    }

    sink::OutputFile file_;
    sink::Buffer text_{2 * kWriteAt};
    std::optional<Error> failure_;
};

}  // namespace mlbcc::view
