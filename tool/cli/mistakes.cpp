#include "cli/mistakes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "text/diagnostic.h"
#include "text/output.h"
#include "text/tell.h"

namespace mlbcc {
namespace {

bool is_program(const std::string& name) {
    std::error_code code;
    if (std::filesystem::is_regular_file(name, code)) return true;
    const char* path = std::getenv("PATH");
    if (name.find('/') != std::string::npos || path == nullptr) return false;
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        folder.append("/").append(name);
        if (::access(folder.c_str(), X_OK) == 0) return true;
    }
    return false;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* one = &app; one != nullptr; one = one->get_parent()) {
        for (const CLI::Option* option : one->get_options()) {
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* one : app.get_subcommands({})) names.push_back(one->get_name());
    return names;
}

const CLI::App& chosen(const CLI::App& app) {
    const std::vector<CLI::App*> subs = app.get_subcommands();
    return subs.empty() ? app : *subs.front();
}

// "mlbcc --rules cuda -- python3 app.py --epochs 3"
std::string with_dashes(std::span<const std::string> arguments, const std::string& program) {
    std::string line = "mlbcc";
    bool before = true;
    for (const std::string& one : arguments) {
        if (before && one == program) {
            line += " --";
            before = false;
        }
        line += " " + (one.find(' ') == std::string::npos ? one : "'" + one + "'");
    }
    return line;
}

}  // namespace

int usage_error(const std::string& message, const std::string& help) {
    print_error("error: {}\n", message);
    if (!help.empty()) print_error("   = help: {}\n", help);
    return kExitUsage;
}

int unexpected(const CLI::App& app, std::span<const std::string> strays,
               std::span<const std::string> arguments, bool traces, bool has_dashes) {
    // The first of them: what follows belongs to it, often enough.
    const auto first = std::ranges::find_if(arguments, [&](const std::string& one) {
        return std::ranges::find(strays, one) != strays.end();
    });
    const std::string stray = first == arguments.end() ? strays.front() : *first;
    if (stray.starts_with("-")) {
        const std::string name = stray.substr(0, stray.find('='));
        const auto near = closest_name(name, names_of_options(chosen(app)));
        return usage_error(fmt::format("there is no option `{}`", name),
                           near ? fmt::format("did you mean `{}`?", *near)
                                : "mlbcc --help lists the options");
    }
    const bool in_command = &chosen(app) != &app;
    const auto near = in_command ? std::nullopt : closest_name(stray, names_of_commands(app));
    if (near && !is_program(stray))
        return usage_error(fmt::format("there is no command `{}`", stray),
                           fmt::format("did you mean `{}`?", *near));
    if (!traces) {
        const std::string command = "mlbcc " + chosen(app).get_name();
        return usage_error(fmt::format("`{}` is one word too many for `{}`", stray, command),
                           fmt::format("{} --help says what it takes", command));
    }
    if (!has_dashes)
        return usage_error(
            fmt::format("`{}` is not an option, a rule file or a command of mlbcc", stray),
            fmt::format("a program to trace goes behind `--`: {}", with_dashes(arguments, stray)));
    return usage_error(
        fmt::format("`{}` is not an option, a rule file or a command of mlbcc", stray),
        "mlbcc --help lists them");
}

}  // namespace mlbcc
