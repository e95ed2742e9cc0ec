// The objects behind handles of one type: a handle is the object's address, and one that is not in
// the table is an error of the program, not a crash.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cuda_sim {

template <typename T> class Handles {
public:
    template <typename... Args> T* add(Args&&... args) {
        auto object = std::make_unique<T>(std::forward<Args>(args)...);
        T* handle = object.get();
        std::lock_guard hold(lock_);
        objects_.emplace(handle, std::move(object));
        return handle;
    }

    bool has(const T* handle) const {
        std::lock_guard hold(lock_);
        return objects_.count(const_cast<T*>(handle)) != 0;
    }

    // False if there is no such object.
    bool remove(T* handle) {
        std::lock_guard hold(lock_);
        return objects_.erase(handle) != 0;
    }

    template <typename Visit> void for_each(Visit visit) {
        std::lock_guard hold(lock_);
        for (auto& entry : objects_) visit(*entry.second);
    }

    template <typename Predicate> void remove_if(Predicate is_dead) {
        std::lock_guard hold(lock_);
        std::erase_if(objects_, [&](auto& entry) { return is_dead(*entry.second); });
    }

private:
    mutable std::mutex lock_;
    std::unordered_map<T*, std::unique_ptr<T>> objects_;
};

}  // namespace cuda_sim
