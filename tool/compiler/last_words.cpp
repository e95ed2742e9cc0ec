#include "compiler/last_words.h"

#include <llvm/Support/ErrorHandling.h>
#include <sys/resource.h>

#include <array>
#include <csignal>

#include "base/channel.h"
#include "compiler/reply.h"

namespace mlbcc::compiler {

namespace {

constexpr size_t kSignalStack = size_t{64} << 10;
constexpr rlim_t kMainStack = rlim_t{64} << 20;

// Exit and signal handlers take no argument, so what they need has to be static.
struct UnderWay {
    int socket = -1;
    bool active = false;
    const OutputCapture* capture = nullptr;
    std::string crash_reply;  // written beforehand: a handler may not allocate
};

UnderWay& under_way() {
    static UnderWay value;
    return value;
}

void answer(std::string_view json) {
    under_way().active = false;
    if (auto sent = send_message(under_way().socket, json); !sent) return;  // nobody left to tell
}

void answer_at_exit() {
    if (!under_way().active || under_way().capture == nullptr) return;
    std::string log = under_way().capture->text();
    answer(failure({Error{"the program cannot be compiled"}, "compile", "", log}).json);
}

void answer_at_crash(int signal) {
    if (under_way().active) answer(under_way().crash_reply);
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // delivered as this returns
}

void exit_on_fatal_error(void*, const char* reason, bool) {
    std::fprintf(stderr, "error: %s\n", reason);
    std::exit(1);
}

// A stack that has overflowed cannot run the handler, so it has one of its own.
void catch_crashes() {
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);  // writing one of LLVM's 100 MB takes longer than all else
    static std::array<char, kSignalStack> memory;
    stack_t stack{};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    ::sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = answer_at_crash;
    action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        ::sigaction(signal, &action, nullptr);
    }
}

// libclang's own handlers have no such stack, and its own thread has a small one.
void use_own_stack_for_libclang() {
    ::setenv("LIBCLANG_NOTHREADS", "1", 1);
    ::setenv("LIBCLANG_DISABLE_CRASH_RECOVERY", "1", 1);
    rlimit limit{};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kMainStack) return;
    limit.rlim_cur = std::min(kMainStack, limit.rlim_max);
    ::setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace

void answer_even_at_the_end(int socket) {
    under_way().socket = socket;
    std::atexit(answer_at_exit);
    llvm::install_fatal_error_handler(exit_on_fatal_error);
    use_own_stack_for_libclang();
    catch_crashes();
}

LastWords::LastWords(const std::string& crash) {
    under_way().crash_reply = failure({Error{crash}, "compile", "", ""}).json;
    under_way().capture = nullptr;
    under_way().active = true;
}

LastWords::~LastWords() {
    under_way().active = false;
    under_way().capture = nullptr;
}

void LastWords::printed_to(const OutputCapture& capture) {
    under_way().capture = &capture;
}

}  // namespace mlbcc::compiler
