// Result<T>: a value, or the Error that says why there is none. Failures of the system travel as
// Result; a user's mistakes in a rule file are diagnostics (diagnostic.h).
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace mlbcc {

// What failed and on what (`what`), the system's reason (`code`, an errno, 0 if none), and what
// the user can do about it (`help`, may be empty).
struct Error {
    std::string what;
    int code = 0;
    std::string help;

    // "cannot open /x/y: No such file or directory"
    std::string message() const { return code == 0 ? what : what + ": " + std::strerror(code); }
};

inline Error system_error(std::string what, std::string help = {}) {
    return Error{std::move(what), errno, std::move(help)};
}

[[noreturn]] inline void broken_invariant(const char* file, int line, const char* text) {
    std::fprintf(stderr, "mlbcc: %s:%d: broken invariant: %s\n", file, line, text);
    std::abort();
}

// A broken invariant of the tool itself: never reached by bad input.
#define MLBCC_CHECK(condition)                                                                     \
    ((condition) ? static_cast<void>(0) : ::mlbcc::broken_invariant(__FILE__, __LINE__, #condition))
#define MLBCC_UNREACHABLE() ::mlbcc::broken_invariant(__FILE__, __LINE__, "unreachable")

template <class T> class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & {
        MLBCC_CHECK(ok());
        return std::get<0>(state_);
    }
    const T& value() const& {
        MLBCC_CHECK(ok());
        return std::get<0>(state_);
    }
    T&& value() && {
        MLBCC_CHECK(ok());
        return std::get<0>(std::move(state_));
    }
    const Error& error() const {
        MLBCC_CHECK(!ok());
        return std::get<1>(state_);
    }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}

    bool ok() const { return ok_; }
    explicit operator bool() const { return ok_; }
    const Error& error() const {
        MLBCC_CHECK(!ok_);
        return error_;
    }

private:
    Error error_;
    bool ok_ = true;
};

}  // namespace mlbcc
