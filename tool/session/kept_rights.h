// What the tracer keeps of its rights once the probes are attached: what it may still need, and no
// more. Detaching, reading the rings and writing what was opened before need none.
#pragma once

#include <functional>
#include <string>

#include "codegen/codegen.h"
#include "load/steps.h"
#include "plan/plan.h"
#include "process/capabilities.h"

namespace mlbcc::session {

struct WorkToCome {           // that is still to come
    bool command = false;     // one that signals are passed on to, which may run as somebody else
    bool processes = false;   // whose memory maps, files and counters are read
    bool late = false;        // functions are attached later: of libraries that come, or by address
    bool one_by_one = false;  // by a perf event a function
};
WorkToCome work_to_come(const plan::Plan& plan, bool command, bool late, codegen::AttachMode mode);

struct KeptRights {
    Capabilities capabilities;
    std::string why;  // "signals for the command, functions that come later"
};
KeptRights rights_to_keep(const WorkToCome& work, Capabilities own);

// Whether maps can be read and the traced processes are seen with what is left is tried. `steps` is
// told what was kept, and why.
void give_up_rights(const WorkToCome& work, const load::Steps& steps,
                    const std::function<bool()>& reads_maps,
                    const std::function<bool()>& sees_processes);

// What waits for a CPU does not keep the tracer from it. False where the kernel refuses.
bool become_realtime();

}  // namespace mlbcc::session
