#include "view/values.h"

#include <algorithm>

#include <fmt/format.h>

#include "sink/json.h"

namespace mlbcc::view {

bool has_mark(const DrawnEvent& record) {
    if (record.type != "finding") return true;
    return std::ranges::none_of(record.arguments, [](const DrawnEvent::Argument& one) {
        const auto* text = std::get_if<std::string_view>(&one.value);
        return one.name == "severity" && text != nullptr && *text == "info";
    });
}

std::string_view text_of(Missing missing) {
    switch (missing) {
    case Missing::nothing: return {};
    case Missing::begin: return "its beginning was not recorded";
    case Missing::end: return "its end was not recorded";
    case Missing::still_open: return "it had not ended";
    }
    return {};
}

void write_list(sink::Buffer& out, std::span<const std::string_view> texts) {
    sink::write_array(out, texts, sink::write_text);
}

void write_json(sink::Buffer& out, const saved::FieldValue& value) {
    struct Write {
        sink::Buffer& out;
        void operator()(std::monostate) const { out.append("null"); }
        void operator()(bool is) const { out.append(is ? "true" : "false"); }
        void operator()(int64_t number) const { sink::write_signed(out, number); }
        void operator()(uint64_t number) const { sink::write_unsigned(out, number); }
        void operator()(std::string_view text) const { sink::write_text(out, text); }
        void operator()(double number) const { out.append(fmt::format("{}", number)); }
        void operator()(const saved::FieldValues& list) const {
            sink::write_array(out, list, write_json);
        }
    };
    std::visit(Write{out}, value);
}

}  // namespace mlbcc::view
