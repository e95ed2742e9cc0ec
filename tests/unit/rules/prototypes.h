// C prototypes and types without libclang: a TypeTable from lines as a header has them.
//
//   Prototypes p;
//   p.add("CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)");
//
// Types are looked up by their spelling; pointers to known types are made when they are named.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/types.h"

namespace mlbcc::test {

class Prototypes {
public:
    Prototypes() {
        using namespace rules;
        put({"void", VoidType{}});
        put({"bool", BoolType{}});
        put({"char", IntType{1, true, true}});
        put({"unsigned char", IntType{1, false, true}});
        put({"short", IntType{2, true}});
        put({"int", IntType{4, true}});
        put({"unsigned int", IntType{4, false}});
        put({"long long", IntType{8, true}});
        put({"unsigned long long", IntType{8, false}});
        put({"__int128", IntType{16, true}});
        put({"size_t", IntType{8, false}, false, true});
        put({"CUdeviceptr", IntType{8, false}, true});
        put({"float", FloatType{4}});
        put({"double", FloatType{8}});
        put({"long double", FloatType{16}});
        put({"CUresult",
             EnumType{4, false, {{"CUDA_SUCCESS", 0}, {"CUDA_ERROR_INVALID_VALUE", 1}}}});
        put({"enum sign", EnumType{4, true, {{"SIGN_MINUS", -1}, {"SIGN_PLUS", 1}}}});
        for (const char* opaque : {"CUfunc_st", "CUstream_st", "CUmod_st"}) {
            put({opaque, RecordType{}});
            put({handle_of(opaque), PointerType{types_.at(opaque)}});
        }
    }

    // A struct from "TYPE NAME" at offsets: record("dim3", 12, {{"unsigned int x", 0}, ...}).
    struct Member {
        std::string text;
        uint32_t offset = 0;
        uint8_t bit_offset = 0, bit_width = 0;
        uint64_t count = 0;  // of an array; 0: none
    };
    rules::TypeId record(const std::string& spelling, uint32_t size,
                         const std::vector<Member>& members, bool is_union = false) {
        rules::RecordType made{is_union, true, size, {}};
        for (const Member& one : members) {
            auto [type, name] = split(one.text);
            rules::TypeId id = this->type(type);
            if (one.count > 0) {
                std::string text = type + "[" + std::to_string(one.count) + "]";
                id = table_.add({text, rules::ArrayType{id, one.count}});
            }
            made.fields.push_back({name, id, one.offset, one.bit_offset, one.bit_width});
        }
        return put({spelling, std::move(made)});
    }

    Prototypes& add(std::string_view text) {
        size_t open = text.find('('), close = text.rfind(')');
        auto [ret, name] = split(std::string(text.substr(0, open)));
        rules::Signature made{.name = name, .ret = type(ret), .place = {"api.h", 3, 10}};
        std::string inside(text.substr(open + 1, close - open - 1));
        while (!inside.empty()) {
            size_t comma = std::min(inside.find(','), inside.size());
            std::string one = trimmed(inside.substr(0, comma));
            inside.erase(0, comma + 1);
            if (one == "...") {
                made.variadic = true;
            } else if (one != "void") {
                auto [param_type, param] = split(one);
                made.params.push_back({param, type(param_type)});
            }
        }
        table_.add(std::move(made));
        return *this;
    }

    rules::TypeTable& table() { return table_; }
    const rules::TypeTable& table() const { return table_; }

    rules::TypeId type(const std::string& spelling) {
        auto known = types_.find(spelling);
        if (known != types_.end()) return known->second;
        if (spelling.ends_with("*")) {
            std::string to = trimmed(spelling.substr(0, spelling.size() - 1));
            bool to_const = to.starts_with("const ") && !to.ends_with("*");
            if (to_const) to.erase(0, 6);
            return put({spelling, rules::PointerType{type(to), to_const}});
        }
        throw std::invalid_argument("no such type: " + spelling);
    }

private:
    static std::string handle_of(std::string_view opaque) {
        std::string_view name = opaque.substr(2, opaque.size() - 5);
        if (name == "func") return "CUfunction";
        return name == "mod" ? "CUmodule" : "CUstream";
    }
    static std::string trimmed(std::string text) {
        while (!text.empty() && text.front() == ' ') text.erase(0, 1);
        while (!text.empty() && text.back() == ' ') text.pop_back();
        return text;
    }
    // "const char *name" -> {"const char *", "name"}
    static std::pair<std::string, std::string> split(const std::string& text) {
        size_t at = text.find_last_of(" *") + 1;
        return {trimmed(text.substr(0, at)), trimmed(text.substr(at))};
    }
    rules::TypeId put(rules::CType type) {
        std::string spelling = type.spelling;
        bool is_enum = std::holds_alternative<rules::EnumType>(type.kind);
        rules::TypeId id = table_.add(std::move(type));
        if (is_enum) table_.index_constants(id);
        types_[spelling] = id;
        return id;
    }

    rules::TypeTable table_;
    std::map<std::string, rules::TypeId> types_;
};

// Some of the driver API, and what it has not.
inline Prototypes cuda_prototypes() {
    Prototypes p;
    p.record("dim3", 12, {{"unsigned int x", 0}, {"unsigned int y", 4}, {"unsigned int z", 8}});
    p.record("CUlaunchAttribute", 72, {{"int id", 0}, {"unsigned long long value", 8}});
    p.record("CUlaunchConfig", 56,
             {{"unsigned int gridDimX", 0},
              {"unsigned int gridDimY", 4},
              {"CUstream hStream", 32},
              {"CUlaunchAttribute *attrs", 40},
              {"unsigned int numAttrs", 48}});
    p.add("CUresult cuInit(unsigned int Flags)");
    p.add("CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)");
    p.add("CUresult cuMemFree_v2(CUdeviceptr dptr)");
    p.add("CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)");
    p.add("CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)");
    p.add("CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, "
          "unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, "
          "unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, "
          "void **kernelParams, void **extra)");
    p.add("CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, "
          "void **kernelParams, void **extra)");
    p.add("CUresult cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, "
          "size_t sharedMem, CUstream stream)");
    return p;
}

}  // namespace mlbcc::test
