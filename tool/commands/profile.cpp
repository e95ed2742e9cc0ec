#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "commands/commands.h"

namespace mlbcc::commands {
namespace {

constexpr const char* kRules = "profile";

// A file of this name takes the place of the bundled one.
bool is_profile_rules(const std::string& file) {
    return std::filesystem::path(file).stem() == kRules;
}

// Each line that is written to the descriptor is a mark.
void add_marks(int fd, load::RuleOptions& rules) {
    std::string name = fmt::format("--marks {}", fd);
    rules.given[name] = fmt::format("on entry syscall:write {{ where fd == {} "
                                    "event phase.mark(text = str(buf, 64), bytes = count) }}\n",
                                    fd);
    rules.rules.push_back(name);
}

}  // namespace

int run_profile(session::TraceOptions options, const session::ProfileOptions& profile) {
    if (std::ranges::none_of(options.rules.rules, is_profile_rules)) {
        options.rules.rules.insert(options.rules.rules.begin(), kRules);
    }
    if (profile.marks >= 0) add_marks(profile.marks, options.rules);
    options.purpose = profile;
    return run_trace(options);
}

}  // namespace mlbcc::commands
