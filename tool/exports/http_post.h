// Posts to a collector over HTTP or HTTPS, by libcurl: through a proxy where the environment names
// one (https_proxy, no_proxy), with the headers of OTEL_EXPORTER_OTLP_HEADERS.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace mlbcc::exports {

class HttpPost {
public:
    // `url` is http[s]://HOST[:PORT][/PREFIX]; without a port 4318, or 443 of https. Errors: it is
    // none; libcurl is not installed.
    static Result<std::unique_ptr<HttpPost>> open(const std::string& url);
    ~HttpPost();
    HttpPost(const HttpPost&) = delete;
    HttpPost& operator=(const HttpPost&) = delete;

    const std::string& place() const { return place_; }  // "collector:4318"
    struct Answer {
        std::string refusal;  // why it was not taken, "" where it was
        bool again = false;   // another time it may be
    };
    // JSON. Waits for the answer, some seconds at most. One thread.
    Answer post(const std::string& path, const std::string& body);

private:
    struct Curl;
    explicit HttpPost(std::unique_ptr<Curl> curl);
    Result<void> read_address(const std::string& url);
    void read_headers();
    void set_options();  // that are the same for each post

    std::unique_ptr<Curl> curl_;
    std::string base_, place_;  // "http://collector:4318/prefix"
};

}  // namespace mlbcc::exports
