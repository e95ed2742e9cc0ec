// `--print`: events as lines on standard output while tracing.
#pragma once

#include <memory>

#include "sink/sink.h"
#include "terminal/live_text.h"

namespace mlbcc::terminal {

// A thread writes the lines: the trace waits for nobody. Where too many wait, further ones are left
// out and counted; `note` is told at the end how many. Errors of flush(): nobody reads any more.
Result<std::unique_ptr<sink::Sink>> open_print(terminal::LiveFilter filter, const plan::Plan& plan,
                                               sink::TellNote note);

}  // namespace mlbcc::terminal
