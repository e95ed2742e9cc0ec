// What whoever started the tool may have left in a state that it cannot work with: it is set right,
// and told for the command that the tool starts, which gets all as it was.
#pragma once

namespace mlbcc::process {

struct Inherited {
    bool children_are_ignored = false;  // SIGCHLD: nobody could be waited for
};

// Closed standard streams are taken by what fails each use, and is closed in programs that are
// started: no other file gets their numbers. A file that becomes too large is an error of writing.
Inherited set_right();

}  // namespace mlbcc::process
