// Where a running trace shows what it has measured.
#pragma once

#include <string>

namespace mlbcc::exports {

struct ExportOptions {
    std::string prometheus;  // [ADDR]:PORT where metrics are served, "" is nowhere
    std::string otlp;        // address of a collector, "" is none
};

}  // namespace mlbcc::exports
