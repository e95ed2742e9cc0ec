// What happens to the stacks of the threads that run a file's functions. A return probe overwrites
// the return address of a call, and the kernel keeps the true one in a list by thread: a program
// that reads its own return addresses, or goes on with another stack before the call has returned,
// dies of it, or computes something else (docs/decisions/020-ends-without-return-probes.md).
#pragma once

#include <string>
#include <string_view>

namespace mlbcc::target {

enum class Stacks {
    steady,    // calls return one after the other, as they were made
    unwound,   // exceptions, panics, cancelled threads and backtraces go through calls
    switched,  // coroutines: a call may go on while another of the same thread is open
    go         // goroutines: switched, moved to other threads, copied when they grow
};

bool is_go_table(std::string_view section);  // the runtime's own table of functions

// What a file's symbols say of it: each that is undefined in it, and each function that it has.
class StackSigns {
public:
    void imports(std::string_view name);
    void defines(std::string_view name, bool is_local = false);
    void has_section(std::string_view name);

    // Of a file that is not there yet: what is done for it must do no harm, whatever it is.
    static StackSigns not_known();

    // A library may have an unwinder for itself: its exceptions do not leave what it exports.
    StackSigns of_function(bool is_exported) const;

    Stacks stacks() const { return stacks_; }
    bool of_python() const { return of_python_; }  // switched by greenlets
    // "it imports `__cxa_throw`"; "" for steady ones.
    const std::string& why() const { return why_; }

private:
    void is(Stacks stacks, std::string_view how, std::string_view name);

    Stacks stacks_ = Stacks::steady;
    bool of_python_ = false;
    std::string own_unwinder_;
    std::string why_;
};

}  // namespace mlbcc::target
