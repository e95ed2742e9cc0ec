#include "target/stacks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace mlbcc::target {

namespace {

// Where an unwinder of GCC's or LLVM's begins, what C++ and Rust call it by, and what glibc ends a
// thread or prints a backtrace with.
constexpr auto kUnwinds = std::to_array<std::string_view>(
    {"_Unwind_RaiseException", "_Unwind_ForcedUnwind", "_Unwind_Resume",
     "_Unwind_Resume_or_Rethrow", "_Unwind_Backtrace", "__cxa_throw", "__cxa_rethrow",
     "__cxa_begin_catch", "__gxx_personality_v0", "pthread_cancel", "pthread_exit", "thrd_exit",
     "backtrace"});

// glibc's, and those of libraries of coroutines: boost.context, libcoro, libco.
constexpr auto kSwitches = std::to_array<std::string_view>(
    {"makecontext", "swapcontext", "setcontext", "make_fcontext", "jump_fcontext", "ontop_fcontext",
     "coro_transfer", "co_switch"});

// A file that has these unwinds, too: glibc, which has the others, does not itself.
constexpr auto kUnwinders =
    std::to_array<std::string_view>({"_Unwind_RaiseException", "__cxa_throw"});

// Interpreters whose calls coroutines interrupt: greenlets of Python, fibers of Ruby and PHP.
constexpr auto kInterpreters =
    std::to_array<std::string_view>({"_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx",
                                     "rb_fiber_resume", "zend_fiber_switch_context"});

// What calls Python functions may be in the middle of that when a greenlet goes on.
bool calls_python(std::string_view name) {
    return name.starts_with("PyObject_Call") || name.starts_with("PyObject_Vectorcall") ||
           name.starts_with("PyEval_Call") || name.starts_with("_PyObject_MakeTpCall");
}

bool is_glibc_own(std::string_view name) {
    return name.ends_with("context") && !name.ends_with("fcontext");
}

template <size_t N>
bool is_one(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool is_go_table(std::string_view section) {
    return section == ".gopclntab" || section == ".data.rel.ro.gopclntab";
}

void StackSigns::is(Stacks stacks, std::string_view how, std::string_view name) {
    if (stacks <= stacks_) return;
    stacks_ = stacks;
    why_ = fmt::format("it {} `{}`", how, name);
}

void StackSigns::imports(std::string_view name) {
    if (is_one(kUnwinds, name)) is(Stacks::unwound, "imports", name);
    if (is_one(kSwitches, name) || calls_python(name)) is(Stacks::switched, "imports", name);
    of_python_ |= calls_python(name);
}

void StackSigns::defines(std::string_view name, bool is_local) {
    if (is_one(kUnwinders, name)) {
        if (is_local)
            own_unwinder_ = name;
        else
            is(Stacks::unwound, "has", name);
    }
    if (is_one(kInterpreters, name)) {
        is(Stacks::switched, "has", name);
        of_python_ |= name.find("PyEval") != name.npos;
    }
    if (is_one(kSwitches, name) && !is_glibc_own(name)) is(Stacks::switched, "has", name);
}

StackSigns StackSigns::not_known() {
    StackSigns signs;
    signs.stacks_ = Stacks::unwound;
    signs.why_ = "it came while the trace ran, and was not known when the probes were made";
    return signs;
}

StackSigns StackSigns::of_function(bool is_exported) const {
    StackSigns mine = *this;
    if (!is_exported && !own_unwinder_.empty()) mine.is(Stacks::unwound, "has", own_unwinder_);
    return mine;
}

void StackSigns::has_section(std::string_view name) {
    if (is_go_table(name)) is(Stacks::go, "has", name);
}

}  // namespace mlbcc::target
