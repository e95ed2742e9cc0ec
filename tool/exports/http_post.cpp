#include "exports/http_post.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace mlbcc::exports {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";
constexpr long kPatienceMs = 5000;  // for an answer
constexpr const char* kHttpPort = "4318";

size_t pass_over(const char* /*data*/, size_t size, size_t count, void* /*user*/) {
    return size * count;
}

}  // namespace

// libcurl, once there is a collector: 31 libraries come with it, which every start would load.
struct HttpPost::Curl {
    void* library = nullptr;  // stays: OpenSSL, which comes with it, ends with the process
    decltype(&curl_global_init) global_init{};
    decltype(&curl_easy_init) init{};
    decltype(&curl_easy_cleanup) cleanup{};
    decltype(&curl_easy_setopt) set{};
    decltype(&curl_easy_perform) perform{};
    decltype(&curl_easy_getinfo) info{};
    decltype(&curl_easy_strerror) error_text{};
    decltype(&curl_easy_unescape) unescape{};
    decltype(&curl_free) free{};
    decltype(&curl_slist_append) append{};
    decltype(&curl_slist_free_all) free_list{};
    decltype(&curl_url) url{};
    decltype(&curl_url_cleanup) url_cleanup{};
    decltype(&curl_url_set) url_set{};
    decltype(&curl_url_get) url_get{};
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;

    bool load() {
        library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
        return library != nullptr && find("curl_global_init", global_init) &&
               find("curl_easy_init", init) && find("curl_easy_cleanup", cleanup) &&
               find("curl_easy_setopt", set) && find("curl_easy_perform", perform) &&
               find("curl_easy_getinfo", info) && find("curl_easy_strerror", error_text) &&
               find("curl_easy_unescape", unescape) && find("curl_free", free) &&
               find("curl_slist_append", append) && find("curl_slist_free_all", free_list) &&
               find("curl_url", url) && find("curl_url_cleanup", url_cleanup) &&
               find("curl_url_set", url_set) && find("curl_url_get", url_get);
    }
    ~Curl() {
        if (headers != nullptr) free_list(headers);
        if (easy != nullptr) cleanup(easy);
    }
    // A part of a URL; "" where it has none.
    std::string part(CURLU* of, CURLUPart which) const {
        char* text = nullptr;
        if (url_get(of, which, &text, 0) != CURLUE_OK) return {};
        std::string copy = text;
        free(text);
        return copy;
    }

private:
    template <class Function> bool find(const char* name, Function& into) {
        into = reinterpret_cast<Function>(::dlsym(library, name));
        return into != nullptr;
    }
};

HttpPost::HttpPost(std::unique_ptr<Curl> curl) : curl_(std::move(curl)) {}
HttpPost::~HttpPost() = default;

Result<std::unique_ptr<HttpPost>> HttpPost::open(const std::string& url) {
    auto curl = std::make_unique<Curl>();
    if (!curl->load())
        return Error{"--otlp needs libcurl, which cannot be loaded", 0, "apt install libcurl4"};
    if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (curl->easy = curl->init()) == nullptr)
        return Error{"--otlp: libcurl cannot be initialised"};
    std::unique_ptr<HttpPost> made(new HttpPost(std::move(curl)));
    if (auto done = made->read_address(url); !done) return done.error();
    made->read_headers();
    made->set_options();
    return made;
}

Result<void> HttpPost::read_address(const std::string& url) {
    const Curl& curl = *curl_;
    const std::unique_ptr<CURLU, decltype(curl.url_cleanup)> parts(curl.url(), curl.url_cleanup);
    const bool is_url = curl.url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
    const std::string scheme = curl.part(parts.get(), CURLUPART_SCHEME);
    std::string port = curl.part(parts.get(), CURLUPART_PORT);
    if (!is_url || (scheme != "http" && scheme != "https") || port == "0" ||
        !curl.part(parts.get(), CURLUPART_QUERY).empty() ||
        !curl.part(parts.get(), CURLUPART_FRAGMENT).empty()) {
        return Error{fmt::format("--otlp: `{}` is not the address of a collector", url), 0,
                     "write http://collector:4318 or https://collector"};
    }
    if (port.empty()) {
        port = scheme == "http" ? kHttpPort : "443";
        curl.url_set(parts.get(), CURLUPART_PORT, port.c_str(), 0);
    }
    place_ = curl.part(parts.get(), CURLUPART_HOST) + ":" + port;
    base_ = curl.part(parts.get(), CURLUPART_URL);
    while (base_.ends_with('/')) base_.pop_back();
    return {};
}

// "api-key=secret,x=a%20b", as OpenTelemetry's exporters have it.
void HttpPost::read_headers() {
    Curl& curl = *curl_;
    const auto add = [&](const std::string& line) {
        if (curl_slist* longer = curl.append(curl.headers, line.c_str())) curl.headers = longer;
    };
    add("Content-Type: application/json");
    add("Expect:");  // no asking before a long body
    const char* given = std::getenv("OTEL_EXPORTER_OTLP_HEADERS");
    std::string_view rest = given == nullptr ? "" : given;
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const size_t equals = one.find('=');
        if (equals == one.npos) continue;
        const std::string_view value = one.substr(equals + 1);
        char* text =
            curl.unescape(curl.easy, value.data(), static_cast<int>(value.size()), nullptr);
        if (text == nullptr) continue;
        const std::string line = fmt::format("{}: {}", one.substr(0, equals), text);
        curl.free(text);
        if (line.find_first_of("\r\n") == line.npos) add(line);
    }
}

void HttpPost::set_options() {
    const Curl& curl = *curl_;
    curl.set(curl.easy, CURLOPT_HTTPHEADER, curl.headers);
    curl.set(curl.easy, CURLOPT_USERAGENT, "mlbcc/" MLBCC_VERSION);
    curl.set(curl.easy, CURLOPT_WRITEFUNCTION, pass_over);
    curl.set(curl.easy, CURLOPT_TIMEOUT_MS, kPatienceMs);
    curl.set(curl.easy, CURLOPT_NOSIGNAL, 1L);
    if (const char* certificates = std::getenv("OTEL_EXPORTER_OTLP_CERTIFICATE"))
        curl.set(curl.easy, CURLOPT_CAINFO, certificates);
}

HttpPost::Answer HttpPost::post(const std::string& path, const std::string& body) {
    const Curl& curl = *curl_;
    std::array<char, CURL_ERROR_SIZE> why{};
    curl.set(curl.easy, CURLOPT_URL, (base_ + path).c_str());
    curl.set(curl.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl.set(curl.easy, CURLOPT_POSTFIELDS, body.data());
    curl.set(curl.easy, CURLOPT_ERRORBUFFER, why.data());
    const CURLcode code = curl.perform(curl.easy);
    curl.set(curl.easy, CURLOPT_ERRORBUFFER, nullptr);
    if (code == CURLE_OPERATION_TIMEDOUT) return {"it does not answer", true};
    if (code != CURLE_OK) return {*why.data() != '\0' ? why.data() : curl.error_text(code), true};
    long status = 0;
    curl.info(curl.easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) return {};
    return {fmt::format("it answers with status {}", status),
            status == 429 || (status >= 502 && status <= 504)};
}

}  // namespace mlbcc::exports
