#include "text/diagnostic.h"

#include <fmt/format.h>

namespace mlbcc {

Diagnostic& Diagnostic::note(std::string text) {
    attachments.push_back({Attachment::Kind::note, std::move(text), {}});
    return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
    attachments.push_back({Attachment::Kind::help, std::move(text), {}});
    return *this;
}

Diagnostic& Diagnostic::at(std::string text, Place where) {
    attachments.push_back({Attachment::Kind::place, std::move(text), std::move(where)});
    return *this;
}

Diagnostic& Diagnostic::labelled(std::string text) {
    label = std::move(text);
    return *this;
}

Diagnostic& Diagnostics::error(Span span, std::string message) {
    return add(Diagnostic::Severity::error, span, {}, std::move(message));
}

Diagnostic& Diagnostics::warning(Span span, std::string message) {
    return add(Diagnostic::Severity::warning, span, {}, std::move(message));
}

Diagnostic& Diagnostics::note(Span span, std::string message) {
    return add(Diagnostic::Severity::note, span, {}, std::move(message));
}

Diagnostic& Diagnostics::aside(Span span, std::string message) {
    return add(Diagnostic::Severity::aside, span, {}, std::move(message));
}

Diagnostic& Diagnostics::error_at(Place place, std::string message) {
    return add(Diagnostic::Severity::error, {}, std::move(place), std::move(message));
}

Diagnostic& Diagnostics::warning_at(Place place, std::string message) {
    return add(Diagnostic::Severity::warning, {}, std::move(place), std::move(message));
}

Diagnostic& Diagnostics::add(Diagnostic::Severity severity, Span span, Place place,
                             std::string message) {
    auto key = fmt::format("{} {} {} {} {}:{}:{} {}", static_cast<int>(severity),
                           static_cast<const void*>(span.file), span.begin, span.end, place.path,
                           place.line, place.column, message);
    bool fresh = seen_.insert(std::move(key)).second;
    Diagnostic& diagnostic = fresh ? all_.emplace_back() : scratch_;
    diagnostic = {};
    diagnostic.severity = severity;
    diagnostic.message = std::move(message);
    diagnostic.span = span;
    diagnostic.place = std::move(place);
    if (fresh && severity == Diagnostic::Severity::error) ++errors_;
    return diagnostic;
}

}  // namespace mlbcc
