#include <algorithm>

#include "text/diagnostic.h"

namespace mlbcc {

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), line_starts_{0} {
    for (uint32_t i = 0; i < text_.size(); ++i) {
        if (text_[i] == '\n') line_starts_.push_back(i + 1);
    }
}

SourceFile::Position SourceFile::position(uint32_t offset) const {
    offset = std::min(offset, static_cast<uint32_t>(text_.size()));
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    auto line = static_cast<uint32_t>(after - line_starts_.begin());
    return {line, offset - line_starts_[line - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
    if (number == 0 || number > line_starts_.size()) return {};
    std::string_view rest = text().substr(line_starts_[number - 1]);
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

uint32_t SourceFile::offset_of(uint32_t line_number, uint32_t column) const {
    if (line_number == 0) return 0;
    if (line_number > line_starts_.size()) return static_cast<uint32_t>(text_.size());
    auto length = static_cast<uint32_t>(line(line_number).size());
    return line_starts_[line_number - 1] + std::min(std::max(column, 1u) - 1, length);
}

std::string Span::place() const {
    if (file == nullptr) return {};
    return file->path() + ":" + std::to_string(file->position(begin).line);
}

Place Span::where() const {
    if (file == nullptr) return {};
    auto [line, column] = file->position(begin);
    return {file->path(), line, column};
}

std::string_view Span::text() const {
    if (file == nullptr || begin >= end || begin >= file->text().size()) return {};
    return file->text().substr(begin, end - begin);
}

}  // namespace mlbcc
