// A process of a test's own that does something and then waits until the test ends it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace mlbcc::process {

class Waiting {
public:
    explicit Waiting(const std::function<bool()>& start = [] { return true; }) {
        int ready[2];
        EXPECT_EQ(pipe(ready), 0);
        pid_ = fork();
        if (pid_ == 0) {
            const char result = start() ? 'y' : 'n';
            if (write(ready[1], &result, 1) != 1) _exit(1);
            while (true) pause();
        }
        char result = 'n';
        EXPECT_EQ(read(ready[0], &result, 1), 1);
        started_ = result == 'y';
        close(ready[0]);
        close(ready[1]);
    }
    ~Waiting() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    int pid() const { return pid_; }
    bool started() const { return started_; }

private:
    pid_t pid_ = 0;
    bool started_ = false;
};

}  // namespace mlbcc::process
