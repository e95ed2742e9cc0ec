// Ctrl-C and its like as something to poll: the signals are blocked and read from a descriptor.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mlbcc::session {

struct Interrupt {
    int signal = 0;
    bool from_terminal = false;  // the whole foreground group got it, not only the tracer; also
                                 // where the tracer itself sent it
};

class Signals {
public:
    static Result<Signals> block();  // SIGINT, SIGTERM, SIGHUP
    int fd() const { return fd_.get(); }
    std::optional<Interrupt> next();  // does not wait
    // From now on they end the tracer at once; of each the first does nothing if `forgive_one`.
    void let_through(bool forgive_one);

private:
    UniqueFd fd_;
};

}  // namespace mlbcc::session
