// A request is answered even if this process falls over it.
//   * LLVM ends the process on some errors (an atomic operation that BPF lacks, say) instead of
//     returning one: the answer is what had been printed until then.
//   * libclang overflows the stack on text that nests deep enough: the answer says that it crashed.
#pragma once

#include <string>

#include "compiler/capture.h"

namespace mlbcc::compiler {

// Once, at start. Answers go to `socket`.
void answer_even_at_the_end(int socket);

// While one lives, a request is under way.
class LastWords {
public:
    // `crash`: what to say of a crash, "libclang crashed on the C declarations".
    explicit LastWords(const std::string& crash);
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    ~LastWords();
    void printed_to(const OutputCapture& capture);  // which must outlive this
};

}  // namespace mlbcc::compiler
