#include "exports/otlp_json.h"

#include <cmath>
#include <concepts>
#include <string_view>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "sink/json.h"

namespace mlbcc::exports {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Numbers of the enumerations, as JSON has them.
constexpr int kCumulative = 2, kServer = 2, kError = 2;

class Json {
public:
    Json() { json_.StartObject(); }
    std::string take() {
        json_.EndObject();
        return {buffer_.GetString(), buffer_.GetSize()};
    }

    // What is not UTF-8 is escaped byte by byte.
    void text(std::string_view value) {
        sink::Buffer quoted{value.size() * 6 + 8};
        sink::write_text(quoted, value);
        json_.RawValue(quoted.view().data(), quoted.size(), rapidjson::kStringType);
    }
    void text(const char* name, std::string_view value) {
        json_.Key(name);
        text(value);
    }
    void number(const char* name, int value) {
        json_.Key(name);
        json_.Int(value);
    }
    void real(const char* name, double value) {
        json_.Key(name);
        json_.Double(std::isfinite(value) ? value : 0);
    }
    // Integers of 64 bits are texts.
    void big(const char* name, uint64_t value) { text(name, std::to_string(value)); }
    void flag(const char* name, bool value) {
        json_.Key(name);
        json_.Bool(value);
    }
    template <class Write> void object(const char* name, Write&& write) {
        if (name != nullptr) json_.Key(name);
        json_.StartObject();
        write();
        json_.EndObject();
    }
    template <class Write> void list(const char* name, Write&& write) {
        json_.Key(name);
        json_.StartArray();
        write();
        json_.EndArray();
    }
    void item(double value) { json_.Double(value); }
    void item(const std::string& value) { text(value); }

    template <std::invocable Write> void attribute(std::string_view key, Write&& write_value) {
        object(nullptr, [&] {
            text("key", key);
            object("value", write_value);
        });
    }
    void attribute(std::string_view key, std::string_view value) {
        attribute(key, [&] { text("stringValue", value); });
    }
    void attribute(std::string_view key, uint64_t value) {
        attribute(key, [&] { big("intValue", value); });
    }

private:
    rapidjson::StringBuffer buffer_;
    rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

// {"resourceSpans":[{"resource":..., "scopeSpans":[{"scope":..., "spans":[...]}]}]}
template <class Write> std::string message(const OtlpResource& resource, const char* resources,
                                           const char* scopes, const char* items, Write&& write) {
    Json json;
    json.list(resources, [&] {
        json.object(nullptr, [&] {
            json.object("resource", [&] {
                json.list("attributes", [&] {
                    json.attribute("service.name", resource.service);
                    json.attribute("host.name", resource.host);
                    json.attribute("telemetry.sdk.name", std::string_view("mlbcc"));
                    json.attribute("telemetry.sdk.version", std::string_view(MLBCC_VERSION));
                });
            });
            json.list(scopes, [&] {
                json.object(nullptr, [&] {
                    json.object("scope", [&] {
                        json.text("name", "mlbcc");
                        json.text("version", MLBCC_VERSION);
                    });
                    json.list(items, [&] { write(json); });
                });
            });
        });
    });
    return json.take();
}

// Counts up to each bound become counts between them.
void add_histogram(Json& json, const ClientMetric::Histogram& histogram) {
    json.big("count", histogram.sample_count);
    json.real("sum", histogram.sample_sum);
    uint64_t below = 0;
    json.list("bucketCounts", [&] {
        for (const ClientMetric::Bucket& bucket : histogram.bucket) {
            if (std::isinf(bucket.upper_bound)) continue;
            json.item(std::to_string(bucket.cumulative_count - below));
            below = bucket.cumulative_count;
        }
        json.item(std::to_string(histogram.sample_count - below));
    });
    json.list("explicitBounds", [&] {
        for (const ClientMetric::Bucket& bucket : histogram.bucket) {
            if (!std::isinf(bucket.upper_bound)) json.item(bucket.upper_bound);
        }
    });
}

void add_points(Json& json, const MetricFamily& family, uint64_t start_ns, uint64_t now_ns) {
    json.list("dataPoints", [&] {
        for (const ClientMetric& metric : family.metric) {
            json.object(nullptr, [&] {
                json.list("attributes", [&] {
                    for (const auto& label : metric.label) json.attribute(label.name, label.value);
                });
                json.big("startTimeUnixNano", start_ns);
                json.big("timeUnixNano", now_ns);
                if (family.type == MetricType::Histogram) {
                    add_histogram(json, metric.histogram);
                } else {
                    json.real("asDouble", family.type == MetricType::Counter ? metric.counter.value
                                                                             : metric.gauge.value);
                }
            });
        }
    });
}

void add_metric(Json& json, const MetricFamily& family, uint64_t start_ns, uint64_t now_ns) {
    json.text("name", family.name);
    json.text("description", family.help);
    const bool is_counter = family.type == MetricType::Counter;
    const bool is_histogram = family.type == MetricType::Histogram;
    json.object(is_counter     ? "sum"
                : is_histogram ? "histogram"
                               : "gauge",
                [&] {
                    add_points(json, family, start_ns, now_ns);
                    if (is_counter || is_histogram)
                        json.number("aggregationTemporality", kCumulative);
                    if (is_counter) json.flag("isMonotonic", true);
                });
}

// "GET /items" -> GET, /items; what is no HTTP/1 has neither.
void add_names(Json& json, const requests::Request& request) {
    const std::string& endpoint = request.endpoint;
    const size_t blank = endpoint.find(' ');
    if (blank == std::string::npos || endpoint.starts_with('(')) return;
    json.attribute("http.request.method", std::string_view(endpoint).substr(0, blank));
    json.attribute("url.path", std::string_view(endpoint).substr(blank + 1));
}

void add_span(Json& json, const requests::Request& request, const requests::Parts& parts,
              uint64_t origin_ns, std::mt19937_64& random) {
    json.text("traceId", fmt::format("{:016x}{:016x}", random() | 1, random()));
    json.text("spanId", fmt::format("{:016x}", random() | 1));  // all zeros are no id
    json.text("name", request.endpoint);
    json.number("kind", kServer);
    json.big("startTimeUnixNano", origin_ns + request.begin_ns);
    json.big("endTimeUnixNano", origin_ns + request.end_ns);
    json.list("attributes", [&] {
        add_names(json, request);
        if (request.status != 0)
            json.attribute("http.response.status_code", uint64_t{request.status});
        json.attribute("http.request.size", request.bytes_in);
        json.attribute("http.response.size", request.bytes_out);
        json.attribute("process.pid", uint64_t{request.pid});
        json.attribute("thread.id", uint64_t{request.tid});
        for (size_t i = 0; i < parts.names().size(); ++i) {
            if (request.parts.at(i) == 0) continue;
            json.attribute("mlbcc.seconds." + parts.names()[i], [&] {
                json.real("doubleValue", static_cast<double>(request.parts.at(i)) * 1e-9);
            });
        }
    });
    if (request.status >= 500) json.object("status", [&] { json.number("code", kError); });
}

}  // namespace

std::string otlp_metrics(const OtlpResource& resource, const std::vector<MetricFamily>& families,
                         uint64_t start_ns, uint64_t now_ns) {
    return message(resource, "resourceMetrics", "scopeMetrics", "metrics", [&](Json& json) {
        for (const MetricFamily& family : families) {
            json.object(nullptr, [&] { add_metric(json, family, start_ns, now_ns); });
        }
    });
}

std::string otlp_spans(const OtlpResource& resource, const std::vector<requests::Request>& requests,
                       const requests::Parts& parts, uint64_t origin_ns, std::mt19937_64& random) {
    return message(resource, "resourceSpans", "scopeSpans", "spans", [&](Json& json) {
        for (const requests::Request& request : requests) {
            json.object(nullptr, [&] { add_span(json, request, parts, origin_ns, random); });
        }
    });
}

}  // namespace mlbcc::exports
