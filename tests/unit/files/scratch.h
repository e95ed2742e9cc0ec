// A folder of a test's own, with the files that it needs; it is removed at the end.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace mlbcc::files {

class Scratch {
public:
    Scratch() {
        std::string name = std::filesystem::temp_directory_path() / "mlbcc-test-XXXXXX";
        path_ = std::filesystem::canonical(mkdtemp(name.data()));
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string path(const std::string& name = "") const {
        return name.empty() ? path_ : path_ + "/" + name;
    }
    std::string write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void link(const std::string& target, const std::string& name) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::filesystem::create_symlink(target, path(name));
    }
    // The result of gcc on some C text: compile("libx.so", "int f(void) {...}", "-shared").
    std::string compile(const std::string& name, const std::string& text,
                        const std::string& options = "-shared -fPIC") const {
        const std::string source = write(name + ".c", text);
        const std::string command = "gcc -O1 " + options + " -o " + path(name) + " " + source;
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        return path(name);
    }

private:
    std::string path_;
};

// What `work` returns, done in a process of its own: 255 if it ended in another way.
inline int in_child(const std::function<int()>& work) {
    const pid_t pid = fork();
    if (pid == 0) _exit(work());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace mlbcc::files
