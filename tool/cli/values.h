// Options whose text stands for a value of another kind. It is read while CLI11 parses; a mistake
// is told there, with what to write, and ends the parsing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/mistakes.h"

namespace mlbcc {

// Tells the mistake; parsing ends with its status.
[[noreturn]] void refuse(const std::string& message, const std::string& help = {});

std::chrono::nanoseconds duration_of(const std::string& text);  // "5s", "250ms", "1.5" (seconds)
uint64_t moment_of(const std::string& text);  // likewise: nanoseconds since the trace began
uint64_t size_of(const std::string& text);    // "16MiB", "512K", "1048576" bytes; up to 4 GiB

// `into` is a duration, or nanoseconds as a number.
template <class Into> CLI::Option* add_duration(CLI::App& app, const std::string& name, Into& into,
                                                const std::string& description) {
    const auto read = [&into](const std::string& text) {
        if constexpr (std::is_integral_v<Into>)
            into = static_cast<Into>(duration_of(text).count());
        else
            into = duration_of(text);
    };
    return app.add_option_function<std::string>(name, read, description);
}

template <class T> using Choices = std::vector<std::pair<std::string, T>>;

// `into` is one of the choices, or a list of some.
template <class T, class Into> CLI::Option* add_choice(CLI::App& app, const std::string& name,
                                                       Into& into, const Choices<T>& all,
                                                       const std::string& description) {
    std::vector<std::string> names;
    for (const auto& [text, value] : all) names.push_back(text);
    constexpr bool kIsList = std::is_same_v<Into, std::vector<T>>;
    using Text = std::conditional_t<kIsList, std::vector<std::string>, std::string>;
    const auto read = [&into, all](const Text& text) {
        const auto value_of = [&](const std::string& one) {
            return std::ranges::find(all, one, &std::pair<std::string, T>::first)->second;
        };
        if constexpr (kIsList)
            for (const std::string& one : text) into.push_back(value_of(one));
        else
            into = value_of(text);
    };
    return app.add_option_function<Text>(name, read, description)
        ->check(unsaid(CLI::IsMember(names)));
}

}  // namespace mlbcc
