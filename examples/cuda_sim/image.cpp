#include "image.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace cuda_sim {
namespace {

constexpr std::string_view kFirstLine = "cuda_sim image\n";

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == line.npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// Cuts the first line off `text` and returns it.
std::string_view next_line(std::string_view& text) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return trimmed(line);
}

bool begins_with(const char* text, std::string_view beginning) {
    return std::strncmp(text, beginning.data(), beginning.size()) == 0;
}

// PTX begins with its version, behind comments and empty lines.
bool is_ptx(const char* text) {
    while (true) {
        while (std::isspace(static_cast<unsigned char>(*text))) ++text;
        if (begins_with(text, ".version")) return true;
        if (!begins_with(text, "//")) return false;
        text += std::strcspn(text, "\n");
    }
}

bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

// ".visible .entry scale(": the names behind .entry, wherever they stand.
void parse_ptx(std::string_view text, Image& image) {
    constexpr std::string_view kEntry = ".entry";
    for (auto at = text.find(kEntry); at != text.npos; at = text.find(kEntry)) {
        text.remove_prefix(at + kEntry.size());
        const std::string_view rest = trimmed(text.substr(0, text.find('(')));
        const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_name);
        const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        if (!name.empty()) image.push_back(find_or_make_kernel(name));
    }
}

}  // namespace

CUresult parse_image(const char* text, Image& image) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    if (is_ptx(text)) {
        parse_ptx(text, image);
        return CUDA_SUCCESS;
    }
    if (!begins_with(text, kFirstLine)) return CUDA_ERROR_INVALID_IMAGE;
    std::string_view rest = text + kFirstLine.size();
    while (!rest.empty()) {
        const auto name = next_line(rest);
        if (name.empty() || name.front() == '#' || name == trimmed(kFirstLine)) continue;
        const Kernel* kernel = find_kernel(name);
        if (!kernel) return CUDA_ERROR_NO_BINARY_FOR_GPU;
        image.push_back(kernel);
    }
    return CUDA_SUCCESS;
}

CUresult read_image(const char* path, std::string& text) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    char part[4096];
    while (const auto n = std::fread(part, 1, sizeof part, file.get())) text.append(part, n);
    return std::ferror(file.get()) ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_SUCCESS;
}

CUresult load_image(const char* path, Image& image) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::string text;
    if (CUresult error = read_image(path, text)) return error;
    return parse_image(text.c_str(), image);
}

}  // namespace cuda_sim
