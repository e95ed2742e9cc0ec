#include "files/install_paths.h"

#include <gtest/gtest.h>

#include "files/scratch.h"

namespace mlbcc::files {
namespace {

// An installation in ROOT/usr, a source tree in ROOT/src and a build in ROOT/build.
class Tree {
public:
    InstallHints hints() const {
        return {scratch.path("usr/bin"), std::nullopt, "", scratch.path("src"),
                scratch.path("build")};
    }
    InstallPaths paths() const { return InstallPaths(hints()); }
    std::string text_of(const Result<std::string>& result) const {
        std::string text = result ? *result : "error: " + result.error().message();
        const std::string root = scratch.path();
        for (size_t at; (at = text.find(root)) != std::string::npos;)
            text.replace(at, root.size(), "");
        return text;
    }
    std::string texts_of(const Result<std::vector<std::string>>& result) const {
        if (!result) return text_of(Result<std::string>(result.error()));
        std::string all;
        for (const std::string& one : *result) all += (all.empty() ? "" : " ") + text_of(one);
        return all;
    }
    void write(const std::string& name) const { scratch.write(name, "x"); }
    void write_program(const std::string& name) const {
        std::filesystem::permissions(scratch.write(name, "x"), std::filesystem::perms::owner_all);
    }
    Scratch scratch;
};

TEST(Templates, AreTheInstalledOnesAndThoseThatWereGiven) {
    const Tree tree;
    tree.write("usr/bin/mlbcc");
    tree.write("src/probe_templates/a");
    EXPECT_EQ(tree.texts_of(tree.paths().template_folders()), "/src/probe_templates");
    tree.write("usr/share/mlbcc/probe_templates/a");
    EXPECT_EQ(tree.texts_of(tree.paths().template_folders()), "/usr/share/mlbcc/probe_templates");
    InstallHints hints = tree.hints();
    tree.write("mine/a");
    hints.templates_variable = tree.scratch.path("mine");
    EXPECT_EQ(tree.texts_of(InstallPaths(hints).template_folders()), "/mine");
    tree.write("given/a");
    hints.templates = tree.scratch.path("given");
    EXPECT_EQ(tree.texts_of(InstallPaths(hints).template_folders()), "/mine /given");
}

TEST(Templates, AFolderThatWasGivenMustExist) {
    const Tree tree;
    tree.write("src/probe_templates/a");
    InstallHints hints = tree.hints();
    hints.templates = "/nowhere";
    EXPECT_EQ(tree.texts_of(InstallPaths(hints).template_folders()),
              "error: --templates /nowhere: there is no such folder");
}

TEST(Templates, NamesEveryPlaceWhereTheyAreNot) {
    const Tree tree;
    EXPECT_EQ(tree.texts_of(tree.paths().template_folders()),
              "error: the folder of probe templates was not found; searched "
              "/usr/bin/../share/mlbcc/probe_templates, /src/probe_templates");
}

TEST(Compiler, IsBesideTheProgramOrInLibexecOrWhereItWasBuilt) {
    const Tree tree;
    tree.write("usr/bin/mlbcc");
    EXPECT_EQ(tree.text_of(tree.paths().compiler()),
              "error: the program mlbcc-bcc was not found; searched /usr/bin/mlbcc-bcc, "
              "/usr/bin/../libexec/mlbcc/mlbcc-bcc, /build/mlbcc-bcc");
    tree.write_program("build/mlbcc-bcc");
    EXPECT_EQ(tree.text_of(tree.paths().compiler()), "/build/mlbcc-bcc");
    tree.write_program("usr/libexec/mlbcc/mlbcc-bcc");
    EXPECT_EQ(tree.text_of(tree.paths().compiler()), "/usr/libexec/mlbcc/mlbcc-bcc");
    tree.write_program("usr/bin/mlbcc-bcc");
    EXPECT_EQ(tree.text_of(tree.paths().compiler()), "/usr/bin/mlbcc-bcc");
}

TEST(RulesFile, ANameIsABundledFileAndAPathWins) {
    const Tree tree;
    tree.write("usr/bin/mlbcc");
    tree.write("src/rules/cuda.rules");
    const std::string here = tree.scratch.path("work");
    const auto find = [&](const std::string& name) {
        return tree.text_of(tree.paths().find_rules_file(name, here));
    };
    EXPECT_EQ(find("cuda"), "/src/rules/cuda.rules");
    EXPECT_EQ(find("cuda.rules"), "/src/rules/cuda.rules");
    tree.write("usr/share/mlbcc/rules/cuda.rules");
    EXPECT_EQ(find("cuda"), "/usr/share/mlbcc/rules/cuda.rules");
    std::filesystem::create_directories(here + "/cuda");
    EXPECT_EQ(find("cuda"), "/usr/share/mlbcc/rules/cuda.rules");
    std::filesystem::remove(here + "/cuda");
    tree.write("work/cuda");
    EXPECT_EQ(find("cuda"), "/usr/share/mlbcc/rules/cuda.rules") << "whatever folder one is in";
    tree.write("work/cuda.rules");
    EXPECT_EQ(find("cuda.rules"), "/work/cuda.rules");
    EXPECT_EQ(find("./cuda.rules"), "/work/./cuda.rules");
    EXPECT_EQ(find("../src/rules/cuda.rules"), "/work/../src/rules/cuda.rules");
    EXPECT_EQ(find(tree.scratch.path("work/cuda.rules")), "/work/cuda.rules");
}

TEST(RulesFile, NamesEveryPlaceWhereItIsNot) {
    const Tree tree;
    const auto find = [&](const std::string& name) {
        return tree.text_of(tree.paths().find_rules_file(name, tree.scratch.path("work")));
    };
    EXPECT_EQ(find("cudda"), "error: rule file `cudda` was not found; searched "
                             "/usr/bin/../share/mlbcc/rules/cudda.rules, /src/rules/cudda.rules");
    EXPECT_EQ(find("cudda.rules"),
              "error: rule file `cudda.rules` was not found; searched /work/cudda.rules, "
              "/usr/bin/../share/mlbcc/rules/cudda.rules, /src/rules/cudda.rules");
    EXPECT_EQ(find("./cudda"), "error: rule file `./cudda` was not found; searched /work/./cudda");
    tree.write("work/folder/x");
    EXPECT_EQ(find("folder"), "error: /work/folder is a directory, not a file");
    EXPECT_EQ(find("./folder"), "error: /work/./folder is a directory, not a file");
}

TEST(RulesFile, IsRelativeToTheCurrentFolderByDefault) {
    const Tree tree;
    EXPECT_EQ(tree.paths().find_rules_file("none/x.rules", ".").error().message(),
              "rule file `none/x.rules` was not found; searched none/x.rules");
    EXPECT_EQ(tree.paths().find_rules_file("none/x.rules", "").error().message(),
              "rule file `none/x.rules` was not found; searched none/x.rules");
}

TEST(InstallHints, AreThoseOfTheRunningProgram) {
    const InstallHints hints = InstallHints::current("given");
    EXPECT_EQ(hints.executable_folder,
              std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
    EXPECT_EQ(hints.templates, "given");
    EXPECT_EQ(hints.source_folder, "") << "it is not mlbcc where that was built";
    EXPECT_EQ(hints.build_folder, "");
}

}  // namespace
}  // namespace mlbcc::files
