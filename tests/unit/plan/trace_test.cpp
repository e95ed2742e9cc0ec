// What `trace` makes of a record.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

const plan::TraceEmit* trace_of(const plan::RecordPlan& record) {
    for (const plan::Emit& emit : record.emits) {
        if (const auto* trace = std::get_if<plan::TraceEmit>(&emit.what)) return trace;
    }
    return nullptr;
}

TEST(TracePlan, IsTwoFieldsOfTheRecord) {
    const Planned p("on cuda:cuModuleGetFunction { trace *hfunc as name }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_TRUE(p.plan().traces_addresses());
    ASSERT_EQ(p.plan().probes.size(), 1u);
    const plan::RecordPlan& record = p.plan().probes[0].ret.value();
    const plan::TraceEmit* trace = trace_of(record);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(record.layout.fields[trace->address].size, 8u);
    EXPECT_EQ(record.layout.fields[trace->name].size, 64u);
}

TEST(TracePlan, IsForFunctionsOfLibraries) {
    EXPECT_EQ(Planned("on syscall:read { trace buf as \"f\" }").messages(),
              R"(error: `trace` is for functions of a library, which give addresses of others
 --> a.rules:1:19
  |
1 | on syscall:read { trace buf as "f" }
  |                   ^^^^^^^^^^^^^^^^
)");
    EXPECT_FALSE(Planned("on cuda:cuMemAlloc { count }").plan().traces_addresses());
}

TEST(TracePlan, IsOfWhatTheCallHas) {
    EXPECT_EQ(Planned("on cuda:cuModuleGetFunction { trace *hfunc as 5 }").messages(),
              R"(error: the name of a function is text
 --> a.rules:1:47
  |
1 | on cuda:cuModuleGetFunction { trace *hfunc as 5 }
  |                                               ^ this is a number
)");
    EXPECT_EQ(Planned("on cuda:cuModuleGetFunction { learn t[*hfunc] = name  trace *hfunc as "
                      "t[*hfunc] + \"\" }")
                  .messages()
                  .empty(),
              false);
    EXPECT_EQ(
        Planned("on cuda:cuModuleGetFunction { learn t[*hfunc] = 1  trace t[*hfunc] + 1 as name }")
            .messages(),
        R"(error: `trace` needs what the call itself has
 --> a.rules:1:58
  |
1 | on cuda:cuModuleGetFunction { learn t[*hfunc] = 1  trace t[*hfunc] + 1 as name }
  |                                                          ^^^^^^^^^^^^^ this is known to the tracer only
)");
}

}  // namespace
}  // namespace mlbcc::test
