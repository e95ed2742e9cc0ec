// Work on other threads. Signals are the first thread's.
#pragma once

#include <condition_variable>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace mlbcc {

inline void leave_signals_alone() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

template <class Work> auto on_a_thread(Work work) {
    return std::async(std::launch::async, [work = std::move(work)]() mutable {
        leave_signals_alone();
        return work();
    });
}

// One thread for one piece of work after the other. Processes that are started there live with it:
// the kernel ends them with the thread (PR_SET_PDEATHSIG).
class TaskThread {
public:
    TaskThread() = default;
    TaskThread(const TaskThread&) = delete;
    TaskThread& operator=(const TaskThread&) = delete;
    ~TaskThread() {
        if (thread_.joinable()) give(nullptr);
        if (thread_.joinable()) thread_.join();
    }

    template <class Work> auto start(Work work) {
        auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        auto result = task->get_future();
        give([task] { (*task)(); });
        return result;
    }

private:
    using Task = std::function<void()>;
    void give(Task task) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !next_; });
        next_ = std::make_unique<Task>(std::move(task));
        changed_.notify_all();
    }
    void run() {
        leave_signals_alone();
        while (true) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return next_ != nullptr; });
            const Task task = std::move(*std::exchange(next_, nullptr));
            changed_.notify_all();
            lock.unlock();
            if (!task) return;
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<Task> next_;  // an empty one: the end
    std::thread thread_;
};

}  // namespace mlbcc
