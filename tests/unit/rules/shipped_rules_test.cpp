// The rule files that are installed say nothing that has to be remarked on.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/read_file.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

Result<LoadedFile> load(std::string_view name, std::string_view directory) {
    std::filesystem::path path = std::filesystem::path(directory) / name;
    auto text = read_file(path, kMaxRuleFile);
    if (!text) return text.error();
    return LoadedFile{path, path, path.parent_path(), std::move(*text)};
}

TEST(ShippedRules, AreRight) {
    std::filesystem::path folder = std::filesystem::path(MLBCC_TEST_DATA) / ".." / "rules";
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".rules") continue;
        Parsed parsed;
        parsed.rules = parse(entry.path().string(), load, parsed.diagnostics);
        EXPECT_EQ(parsed.messages(), "") << entry.path();
        bool says_something = !parsed.rules.rules.empty() || !parsed.rules.libraries.empty() ||
                              !parsed.rules.lists.empty();
        EXPECT_TRUE(says_something) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 0u);
}

}  // namespace
}  // namespace mlbcc::rules
