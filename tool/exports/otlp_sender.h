// Posts to a collector on a thread of its own: the tracer waits for nobody.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace mlbcc::exports {

class OtlpSender {
public:
    // Errors: as of HttpPost.
    static Result<std::unique_ptr<OtlpSender>> open(const std::string& url);
    ~OtlpSender();
    OtlpSender(const OtlpSender&) = delete;
    OtlpSender& operator=(const OtlpSender&) = delete;

    // `path` is /v1/metrics or /v1/traces. Of too many that wait the oldest go.
    void give(const char* path, std::string body);
    // Waits, some seconds at most, until all that was given is posted. What the user should know of
    // what was not taken, if anything.
    std::optional<std::string> finish();

private:
    struct Shared;
    explicit OtlpSender(std::shared_ptr<Shared> shared);
    std::shared_ptr<Shared> shared_;  // the thread has it, too, which may outlive this
};

}  // namespace mlbcc::exports
