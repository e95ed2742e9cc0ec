#include "view/drawn_event.h"

#include <fmt/format.h>

namespace mlbcc::view {

DrawnEvent* EventReader::read(const saved::Json& line) {
    if (!saved::read_event(line, event_)) return nullptr;
    saved::read_values(line, event_);
    event_.added = 0;
    if (event_.function == event_.name) event_.function = {};
    if (event_.sample > 1) {
        name_ = fmt::format("{} (1 in {})", event_.name, event_.sample);
        event_.added = name_.size() - event_.name.size();
        event_.name = name_;
    }
    return &event_;
}

namespace {

size_t bytes_of_value(const saved::FieldValue& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return text->size();
    size_t bytes = 0;
    if (const auto* list = std::get_if<saved::FieldValues>(&value)) {
        for (const saved::FieldValue& one : *list) bytes += bytes_of_value(one);
    }
    return bytes;
}

}  // namespace

size_t KeptEvent::bytes_of(const DrawnEvent& event) const {
    size_t bytes = event.comm.size() + event.type.size() + event.name.size() +
                   event.function.size() + event.symbol.size();
    for (const DrawnEvent::Argument& one : event.arguments) {
        bytes += one.name.size() + bytes_of_value(one.value);
    }
    if (event.ret) bytes += bytes_of_value(*event.ret);
    for (std::string_view frame : event.stack) bytes += frame.size();
    return bytes;
}

// There is room for it: nothing moves.
std::string_view KeptEvent::take(std::string_view text) {
    size_t at = texts_.size();
    texts_.insert(texts_.end(), text.begin(), text.end());
    return {texts_.data() + at, text.size()};
}

saved::FieldValue KeptEvent::take(const saved::FieldValue& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return take(*text);
    const auto* list = std::get_if<saved::FieldValues>(&value);
    if (list == nullptr) return value;
    saved::FieldValues taken;
    for (const saved::FieldValue& one : *list) taken.push_back(take(one));
    return taken;
}

void KeptEvent::keep(const DrawnEvent& event) {
    texts_.clear();
    texts_.reserve(bytes_of(event));
    event_ = event;
    for (std::string_view* text :
         {&event_.comm, &event_.type, &event_.name, &event_.function, &event_.symbol}) {
        *text = take(*text);
    }
    for (DrawnEvent::Argument& one : event_.arguments) {
        one.name = take(one.name);
        one.value = take(one.value);
    }
    if (event_.ret) event_.ret = take(*event_.ret);
    for (std::string_view& frame : event_.stack) frame = take(frame);
}

}  // namespace mlbcc::view
