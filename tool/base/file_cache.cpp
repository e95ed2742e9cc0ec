#include "base/file_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/write_all.h"

namespace mlbcc {
namespace {

struct Hash {
    uint64_t low = 0, high = 0;
    bool operator==(const Hash&) const = default;
};

struct Head {
    char magic[16];
    Hash question, answer;
    uint64_t bytes = 0;  // of the answer, which follows
};
constexpr char kMagic[sizeof Head::magic] = "mlbcc cache 1";

Hash hash_of(std::string_view text) {
    XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return {hash.low64, hash.high64};
}

std::string name_of(const Hash& hash) {
    char name[40];
    std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                  static_cast<unsigned long long>(hash.low));
    return name;
}

// Nobody else can have written it, or can put another in its place.
bool is_own(int fd, mode_t type, struct stat& status) {
    return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
           status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_all(int fd, void* to, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = ::read(fd, static_cast<char*>(to) + done, size - done);
        if (got <= 0) return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

// "0123456789abcdef0123456789abcdef", or ".4711" behind it: of a process that has not finished it.
bool is_file_name(std::string_view name) {
    constexpr size_t kDigits = 2 * 16;
    const size_t end = name.find_first_not_of("0123456789abcdef");
    if (end == name.npos) return name.size() == kDigits;
    return end == kDigits && name[end] == '.' && name.size() > end + 1 &&
           name.find_first_not_of("0123456789", end + 1) == name.npos;
}

// The folder may have others: it is whatever MLBCC_CACHE names.
bool is_kept(int folder, const char* name, struct stat& status) {
    if (!is_file_name(name)) return false;
    UniqueFd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    char magic[sizeof kMagic];
    return file && is_own(file.get(), S_IFREG, status) &&
           read_all(file.get(), magic, sizeof magic) &&
           std::memcmp(magic, kMagic, sizeof magic) == 0;
}

struct Kept {
    std::string name;
    timespec used;
    size_t bytes;
};

std::vector<Kept> all_kept(int folder) {
    std::vector<Kept> all;
    int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::unique_ptr<DIR, decltype([](DIR* one) { ::closedir(one); })> files(::fdopendir(again));
    if (!files) return all;
    while (const dirent* entry = ::readdir(files.get())) {
        struct stat status {};
        if (!is_kept(folder, entry->d_name, status)) continue;
        all.push_back({entry->d_name, status.st_mtim, static_cast<size_t>(status.st_size)});
    }
    return all;
}

}  // namespace

std::string file_state(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
           std::to_string(status.st_mtim.tv_nsec) + " " + path;
}

FileCache::FileCache(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
    ::mkdir(folder.c_str(), 0700);
    UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (opened && is_own(opened.get(), S_IFDIR, status)) folder_ = std::move(opened);
}

std::optional<std::string> FileCache::get(std::string_view question) const {
    if (!folder_) return std::nullopt;
    const Hash asked = hash_of(question);
    UniqueFd file(::openat(folder_.get(), name_of(asked).c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    Head head{};
    if (!file || !is_own(file.get(), S_IFREG, status)) return std::nullopt;
    if (!read_all(file.get(), &head, sizeof head)) return std::nullopt;
    bool fits = std::memcmp(head.magic, kMagic, sizeof kMagic) == 0 && head.question == asked &&
                static_cast<uint64_t>(status.st_size) == sizeof head + head.bytes;
    if (!fits) return std::nullopt;
    std::string answer(head.bytes, '\0');
    if (!read_all(file.get(), answer.data(), answer.size()) || hash_of(answer) != head.answer)
        return std::nullopt;
    ::futimens(file.get(), nullptr);  // the oldest are those that nobody asks for
    return answer;
}

void FileCache::put(std::string_view question, std::string_view answer) const {
    if (!folder_ || answer.size() > kMaxBytes / 2) return;
    make_room(answer.size());
    Head head{};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    head.question = hash_of(question);
    head.answer = hash_of(answer);
    head.bytes = answer.size();
    const std::string name = name_of(head.question);
    const std::string part = name + "." + std::to_string(::getpid());
    ::unlinkat(folder_.get(), part.c_str(), 0);  // of a process that ended in the middle of it
    UniqueFd file(::openat(folder_.get(), part.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    bool whole = write_all(file.get(), {reinterpret_cast<const char*>(&head), sizeof head}) &&
                 write_all(file.get(), answer);
    if (!whole || ::renameat(folder_.get(), part.c_str(), folder_.get(), name.c_str()) != 0)
        ::unlinkat(folder_.get(), part.c_str(), 0);
}

void FileCache::make_room(size_t bytes) const {
    std::vector<Kept> all = all_kept(folder_.get());
    std::ranges::sort(all, [](const Kept& a, const Kept& b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                              : a.used.tv_nsec < b.used.tv_nsec;
    });
    size_t files = all.size() + 1;
    for (const Kept& one : all) bytes += one.bytes;
    for (const Kept& one : all) {
        if (files <= kMaxFiles && bytes <= kMaxBytes) return;
        ::unlinkat(folder_.get(), one.name.c_str(), 0);
        --files;
        bytes -= one.bytes;
    }
}

}  // namespace mlbcc
