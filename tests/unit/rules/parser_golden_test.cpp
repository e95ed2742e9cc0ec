// The example file of the language's description (docs/language.md), less the kinds of targets that
// this version does not trace, as a tree.
#include <gtest/gtest.h>

#include "describe.h"
#include "parse_text.h"

namespace mlbcc::rules {
namespace {

constexpr const char* kExample = R"(# cuda.rules - what a job asks of the CUDA driver

library cuda = "libcuda.so.1" variants _v2 _v3 _v4 _ptds _ptsz
header "cuda.h", "types/cuda_driver.h"          # the toolkit's if it is installed, else ours

# Every driver call: a record when it begins and one when it ends, with its arguments by name.
on cuda:cu* except cuGetErrorName, cuGetErrorString {
    span userspace(args)
}

# Memory: one record a block, a live total, and what is left at the end.
on cuda:cuMemAlloc, cuda:cuMemAllocManaged {
    where ret == CUDA_SUCCESS
    event memory.alloc(address = *dptr, size = bytesize)
    gauge gpu_bytes[*dptr] = bytesize
    sum   bytesize as "Total memory allocated"
    stack user
}
on cuda:cuMemFree { where ret == CUDA_SUCCESS   gauge gpu_bytes[dptr] = 0 }

# Names for the handles that launches carry.
on cuda:cuModuleGetFunction { learn kernel[*hfunc] = name }
on cuda:cuLaunchKernel {
    event launch(kernel = kernel[f], blocks = gridDimX * gridDimY * gridDimZ, stream = hStream)
    count by kernel[f] as "Kernel launches"
}

# Only large or slow copies.
on cuda:cuMemcpyHtoDAsync { where ByteCount >= 1MiB || duration > 5ms   event copy.h2d(size = ByteCount) }

# A prototype may stand in the rule file itself.
int mylib_step(struct model *m, const char *label, size_t rows);
library mylib = "./libmylib.so"
on mylib:mylib_step { span userspace(label, rows) }
)";

constexpr const char* kTree =
    R"(library cuda = libcuda.so.1 variants _v2, _v3, _v4, _ptds, _ptsz
library mylib = ./libmylib.so
header cuda.h, types/cuda_driver.h
declaration at a.rules:32: int mylib_step(struct model *m, const char *label, size_t rows);
rule 0 at a.rules:7:
  on cuda:cu*
  except cuGetErrorName
  except cuGetErrorString
  span userspace {args}
rule 1 at a.rules:12:
  on cuda:cuMemAlloc
  on cuda:cuMemAllocManaged
  where (ret == CUDA_SUCCESS)
  event memory.alloc {address = (*dptr), size = bytesize}
  gauge gpu_bytes[(*dptr)] = bytesize
  sum bytesize as Total memory allocated
  stack user
rule 2 at a.rules:19:
  on cuda:cuMemFree
  where (ret == CUDA_SUCCESS)
  gauge gpu_bytes[dptr] = 0
rule 3 at a.rules:22:
  on cuda:cuModuleGetFunction
  learn kernel[(*hfunc)] = name
rule 4 at a.rules:23:
  on cuda:cuLaunchKernel
  event launch. {kernel = (kernel[f]), blocks = ((gridDimX * gridDimY) * gridDimZ), stream = hStream}
  count by (kernel[f]) as Kernel launches
rule 5 at a.rules:29:
  on cuda:cuMemcpyHtoDAsync
  where ((ByteCount >= 1048576B) || (duration > 5000000ns))
  event copy.h2d {size = ByteCount}
rule 6 at a.rules:34:
  on mylib:mylib_step
  span userspace {label = label, rows = rows}
)";

TEST(Golden, TheExampleOfTheLanguage) {
    Parsed parsed = parse_text(kExample);
    EXPECT_EQ(parsed.messages(), "");
    EXPECT_EQ(describe(parsed.rules), kTree);
}

// White space does not matter: one word a line, and all on one line, is the same tree.
TEST(Golden, WhiteSpaceDoesNotMatter) {
    std::string text = "on c:malloc, \"./x.so\":f* except free* { where size > 1 && ret != 0 "
                       "event e.f(a = size, *p) count by pid, tid as \"x\" hist duration "
                       "gauge g += size sample 1/10 stack user }";
    std::string lines = text;
    for (char& c : lines) {
        if (c == ' ') c = '\n';
    }
    Parsed one = parse_rules(text), many = parse_rules(lines);
    EXPECT_EQ(one.messages(), "");
    EXPECT_EQ(many.messages(), "");
    EXPECT_EQ(describe(one.rules), describe(many.rules));
    EXPECT_EQ(describe(one.rules.rules.at(0)), R"(rule 0 at a.rules:1:
  on c:malloc
  on "./x.so":f*
  except free*
  where ((size > 1) && (ret != 0))
  event e.f {a = size, *p = (*p)}
  count by pid, tid as x
  hist duration
  gauge g += size
  sample 1/10
  stack user
)");
}

}  // namespace
}  // namespace mlbcc::rules
