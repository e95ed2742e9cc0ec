#include "sink/emphasis.h"

namespace mlbcc::sink {
namespace {

constexpr std::string_view kBold = "\033[1m", kRed = "\033[1;31m", kOff = "\033[0m";
constexpr std::string_view kEdge = "===", kLost = " lost";

void add(std::string& out, std::string_view style, std::string_view text) {
    out.append(style).append(text).append(kOff);
}

// Behind the title: "  1.50 s, 1 process, 17 lost (interrupted)".
void add_losses(std::string& out, std::string_view text) {
    const size_t end = text.find(kLost);
    const size_t comma = text.substr(0, end).rfind(", ");
    const bool is_some =
        end != text.npos && comma != text.npos && text.substr(comma + 2, end - comma - 2) != "0";
    if (!is_some) {
        out += text;
        return;
    }
    out += text.substr(0, comma + 2);
    add(out, kRed, text.substr(comma + 2, end + kLost.size() - comma - 2));
    out += text.substr(end + kLost.size());
}

void add_title(std::string& out, std::string_view line) {
    const size_t end = line.find(kEdge, kEdge.size());
    if (end == line.npos) return add(out, kBold, line);
    add(out, kBold, line.substr(0, end + kEdge.size()));
    add_losses(out, line.substr(end + kEdge.size()));
}

}  // namespace

std::string emphasized(std::string_view text) {
    std::string out;
    bool is_heading = false;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (line.starts_with(kEdge)) {
            add_title(out, line);
        } else if (is_heading && !line.empty()) {
            add(out, kBold, line);
        } else {
            out += line;
        }
        is_heading = line.empty();
        if (end == text.npos) break;
        out += '\n';
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace mlbcc::sink
