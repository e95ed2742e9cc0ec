// Programs with probes of their own, with places as Debian's Python has them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "target/fixture.h"

namespace mlbcc::target {

inline UsdtArgument in_register(std::string text, uint8_t size, bool is_signed, std::string name) {
    return {std::move(text), size, is_signed, UsdtRegister{std::move(name)}};
}

inline void add_programs(FakeHost& host) {
    for (const char* name : {"python3", "plain", "secret"}) {
        host.libraries[name].paths.push_back(std::string("/usr/bin/") + name);
    }
    host.libraries["./libshop.so"].paths.push_back("/opt/libshop.so");
    host.usdt_probes["/usr/bin/plain"];
    host.usdt_probes["/usr/bin/python3"] = {
        {"python",
         "audit",
         0x42512a,
         0x25126,
         0xa84276,
         {in_register("8@%rbx", 8, false, "rbx"), in_register("8@%r15", 8, false, "r15")}},
        {"python", "gc__done", 0x42873b, 0x2873b, 0, {in_register("-8@%r12", 8, true, "r12")}},
        {"python",
         "gc__start",
         0x4287f3,
         0x287f3,
         0,
         {{"-4@112(%rsp)", 4, true, UsdtMemory{"rsp", "", 1, 112}}}},
        {"python",
         "line",
         0x43423c,
         0x3423c,
         0,
         {{"8f@%xmm0", 0, false, UsdtUnknown{"a floating-point value"}},
          {"-4@$-3", 4, true, UsdtConstant{-3}}}},
    };
    host.usdt_probes["/opt/libshop.so"] = {
        {"shop",
         "sold",
         0x10,
         0x10,
         0,
         {in_register("8@%rdi", 8, false, "rdi"), in_register("-4@%r8d", 4, true, "r8")}},
        {"shop",
         "sold",
         0x20,
         0x20,
         0,
         {{"8@label(,%rax,8)", 8, false, UsdtMemory{"pc", "rax", 8, 0x2000}},
          in_register("-2@%dx", 2, true, "rdx")}},
    };
}

}  // namespace mlbcc::target
