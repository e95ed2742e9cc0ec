// What processes elsewhere see as "/": held, because a process that ends at once is gone before its
// files are read, and its mount namespace with it.
//
//   exec of 812, in a container   its namespace and root are opened, once for all that are there
//   812 has ended                 the file of a mapping of it is still found
//   none is left                  both are let go: a namespace that is held keeps its mounts
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/process_maps.h"
#include "base/unique_fd.h"

namespace mlbcc::symbols {

class HeldRoots {
public:
    explicit HeldRoots(std::string proc);

    // A process that may have come into another root, as soon as this is known: by now it may be
    // elsewhere, or gone.
    void see(uint32_t pid, uint64_t time_ns);
    void forked(uint32_t parent, uint32_t child, uint64_t time_ns);
    void ended(uint32_t pid, uint64_t time_ns);

    // The file of a mapping, below any of the roots.
    UniqueFd open(const Mapping& mapping) const;

private:
    struct Place {
        dev_t device = 0;
        ino_t inode = 0;
        bool operator==(const Place&) const = default;
    };
    struct Root {
        UniqueFd mounts, folder;
        Place mounts_place, folder_place;
        size_t users = 0;
        bool is_of(const Root& other) const {
            return mounts_place == other.mounts_place && folder_place == other.folder_place;
        }
    };
    struct User {
        Root* root = nullptr;
        uint64_t since_ns = 0;
    };
    static Place place_of(int fd);
    Root look_at(const std::string& process) const;
    Root* held(Root seen);
    void use(uint32_t pid, Root* root, uint64_t time_ns);
    void leave(std::unordered_map<uint32_t, User>::iterator user);

    std::string proc_;
    Root own_;  // only its places: it needs no holding
    std::vector<std::unique_ptr<Root>> roots_;
    std::unordered_map<uint32_t, User> users_;  // by pid, of those that are elsewhere
};

}  // namespace mlbcc::symbols
