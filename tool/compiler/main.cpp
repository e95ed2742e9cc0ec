// mlbcc-bcc: the one program that links libbcc, libclang and LLVM. mlbcc starts it with a Unix
// stream socket as descriptor 3, asks (base/channel.h), and closes the socket when it is done.
//
//   {"request":"types"|"entries"|"compile"|"versions", ...}  ->  {"ok":true, ...} or
//   {"ok":false,"error":...}
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/channel.h"
#include "compiler/entry.h"
#include "compiler/last_words.h"
#include "compiler/program.h"
#include "compiler/reply.h"
#include "compiler/types.h"
#include "compiler/versions.h"

namespace mlbcc::compiler {

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MLBCC_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(MLBCC_SANITIZED)
constexpr bool kIsSanitized = true;  // AddressSanitizer reserves terabytes
#else
constexpr bool kIsSanitized = false;
#endif

constexpr int kSocket = 3;
constexpr rlim_t kMaxMemory = rlim_t{8} << 30;  // bytes

// Variables that would change what clang or libbcc do.
constexpr const char* kUnwanted[] = {"CPATH",
                                     "C_INCLUDE_PATH",
                                     "ARCH",
                                     "BCC_LINUX_VERSION_CODE",
                                     "BCC_KERNEL_MODULES_SUFFIX",
                                     "CCC_OVERRIDE_OPTIONS"};

// Whatever it is doing, it ends when the tracer has: LLVM may be in the middle of something long.
// Not by PR_SET_PDEATHSIG, which also comes when a thread of the tracer ends.
void end_with_peer() {
    std::thread([] {
        pollfd peer{kSocket, POLLRDHUP, 0};
        while (::poll(&peer, 1, -1) < 0 && errno == EINTR) {
        }
        ::_exit(1);
    }).detach();
}

// No more memory than headers and programs need by far, and nothing left behind by a crash.
void limit_process() {
    const rlimit none{0, 0}, memory{kMaxMemory, kMaxMemory};
    ::setrlimit(RLIMIT_CORE, &none);
    if (!kIsSanitized) ::setrlimit(RLIMIT_DATA, &memory);
}

void prepare_process() {
    for (const char* name : kUnwanted) ::unsetenv(name);
    limit_process();
    end_with_peer();
    answer_even_at_the_end(kSocket);
}

Reply answer(Message message) {
    const std::string& json = message.json;
    rapidjson::Document request;
    request.Parse(json.data(), json.size());
    if (request.HasParseError() || !request.IsObject()) {
        return failure({Error{"the request is not a JSON object"}, "", "", ""});
    }
    const std::string name = json::text_of(request, "request");
    if (name == "types") return parse_types(request);
    if (name == "entries") return choose_entries(request);
    if (name == "compile") return compile_program(request, std::move(message.fds));
    if (name == "versions") return tell_versions();
    return failure({Error{"there is no request `" + std::string(name) + "`"}, "", "", ""});
}

// Until the peer closes its end; false if it went in the middle of something.
bool serve() {
    while (true) {
        auto message = receive_message(kSocket);
        if (!message) return false;
        if (message->json.empty()) return true;
        Reply reply = answer(std::move(*message));
        std::vector<int> fds;
        for (const UniqueFd& fd : reply.fds) fds.push_back(fd.get());
        if (!send_message(kSocket, reply.json, fds)) return false;
    }
}

}  // namespace

}  // namespace mlbcc::compiler

int main() {
    mlbcc::compiler::prepare_process();
    bool in_order = mlbcc::compiler::serve();
    // LLVM's own way out takes milliseconds to free what the kernel frees at once.
    ::_exit(in_order ? 0 : 1);
}
