// The page that Prometheus reads, over HTTP. Whoever asks waits for the tracer to make a page, the
// tracer for nobody.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "base/result.h"

namespace mlbcc::exports {

class PageShelf;

class Exporter {
public:
    // `address` is [ADDR]:PORT, of this machine alone where there is no ADDR. Errors: it is none,
    // or in use.
    static Result<std::unique_ptr<Exporter>> open(const std::string& address);
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    const std::string& url() const { return url_; }  // where the page is
    bool is_page_wanted() const;
    void give(std::vector<prometheus::MetricFamily> page);

private:
    struct Server;
    Exporter(std::shared_ptr<PageShelf> shelf, std::unique_ptr<Server> server);
    std::shared_ptr<PageShelf> shelf_;  // the server's threads have it, too
    std::unique_ptr<Server> server_;
    std::string url_;
};

}  // namespace mlbcc::exports
