#include "load/rehearsal.h"

#include "host/open_guard.h"

namespace mlbcc::load {

Result<void> rehearse(const LoadOptions& options, Frontend& frontend, Loader& loader) {
    if (auto done = frontend.choose_entries(); !done) return done;
    if (frontend.grows()) {  // as LateLibraries would
        if (auto guard = host::OpenGuard::start(frontend.open_wait()); !guard) return guard.error();
    }
    Result<bpf::Map> rings = bpf::make_ring_table();
    if (!rings) return rings.error();
    if (auto done = loader.start(options, *rings); !done) return done;
    return loader.receive();
}

}  // namespace mlbcc::load
