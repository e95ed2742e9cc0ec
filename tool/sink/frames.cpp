#include "sink/frames.h"

#include <algorithm>

#include <rapidjson/document.h>

#include "text/cxx_names.h"

namespace mlbcc::sink {

static constexpr size_t kShortFrames = 4;

std::string short_frame(const std::string& frame) {
    const size_t colon = frame.find(':');
    if (colon == std::string::npos || frame.find("+0x", colon) == std::string::npos) return frame;
    return frame.substr(0, colon + 1) + shortened_cxx(std::string_view(frame).substr(colon + 1));
}

std::optional<size_t> own_frame(const std::vector<std::string>& stack) {
    const auto is_native = [](const std::string& frame) {  // or "...", where the stack goes on
        return frame.find("+0x") != std::string::npos || frame.find(':') == std::string::npos;
    };
    const auto is_of_program = [](const std::string& frame) {
        const bool is_library = frame.substr(0, frame.find(':')).find(".so") != std::string::npos;
        return !is_library && !frame.starts_with('[') && frame.find(':') != std::string::npos;
    };
    auto found = std::ranges::find_if_not(stack, is_native);
    if (found == stack.end()) found = std::ranges::find_if(stack, is_of_program);
    if (found == stack.end()) return std::nullopt;
    return static_cast<size_t>(found - stack.begin());
}

void add_frames(Rows& rows, const std::vector<std::string>& stack, size_t most, size_t indent_by) {
    const std::string indent(indent_by, ' ');
    const size_t innermost = most > 4 ? 2 : 1;
    const size_t own = stack.size() > most ? own_frame(stack).value_or(0) : 0;
    size_t shown = 0;
    for (size_t i = 0; i < stack.size() && shown < most; ++shown) {
        const size_t next = i + 1 == innermost ? std::max(own, innermost) : i + 1;
        const bool goes_on = next > i + 1 || (shown + 1 == most && next < stack.size());
        rows.line(indent + short_frame(stack[i]) + (goes_on ? " < ..." : ""));
        i = next;
    }
}

std::vector<std::string> frames_of(std::string_view json) {
    std::vector<std::string> frames;
    if (!json.starts_with('[')) return frames;
    rapidjson::Document list;
    list.Parse(json.data(), json.size());
    if (list.HasParseError() || !list.IsArray()) return frames;
    for (const auto& frame : list.GetArray()) {
        if (frame.IsString()) frames.emplace_back(frame.GetString(), frame.GetStringLength());
    }
    return frames;
}

std::string short_stack(const std::vector<std::string>& stack) {
    auto is_python = [](const std::string& frame) { return frame.find(".py:") != frame.npos; };
    const bool has_python = std::ranges::any_of(stack, is_python);
    std::string text;
    size_t shown = 0;
    for (size_t i = 0; i < stack.size(); ++i) {
        if (i > 0 && has_python && !is_python(stack[i])) continue;
        if (shown++ == kShortFrames) return text + " < ...";
        text += (text.empty() ? "" : " < ") + stack[i];
    }
    return text;
}

}  // namespace mlbcc::sink
