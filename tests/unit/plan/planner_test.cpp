// How the rules on one function become its records, and which functions share a shape.
#include <gtest/gtest.h>

#include "plan/planned.h"

namespace mlbcc::test {
namespace {

std::string texts(const std::vector<rules::TypedPtr>& values) {
    std::string out;
    for (const auto& one : values) out += (out.empty() ? "" : ", ") + Planned::tree(*one);
    return out;
}

TEST(Planner, ASpanIsARecordAtEachEnd) {
    const Planned p("on cuda:cuMemAlloc { span userspace(args, block = *dptr) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("cuMemAlloc_v2"), "%0@48; %1@56; span userspace<1 r0> dptr=0 bytesize=1");
    EXPECT_EQ(p.ret("cuMemAlloc_v2"),
              "(load8 %0:28 +0 0.0)@64; ret@72; span userspace<1 r0> block=0");
    EXPECT_EQ(p.probe("cuMemAlloc_v2").function, "cuMemAlloc");
    EXPECT_EQ(p.probe("cuMemAlloc_v2").ret->layout.unread, 56u);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").entry->layout.unread, std::nullopt);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").entry->argument_words, 2u);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").entry->layout.size, 64u);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").ret->layout.size, 80u);
}

TEST(Planner, AnEventIsOneRecordAtReturnOrAtEntry) {
    const Planned p("on cuda:cuInit { event one.call(Flags, ret) }\n"
                    "on entry cuda:cuMemFree { event two(args) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("cuInit"), "no record");
    EXPECT_EQ(p.ret("cuInit"), "%0@56; ret@104; ret@112; event one.call<1 r0> Flags=0 ret=1");
    EXPECT_EQ(p.entry("cuMemFree_v2"), "%0@48; event two.<1 r1> dptr=0");
    EXPECT_EQ(p.ret("cuMemFree_v2"), "no record");
    EXPECT_FALSE(p.probe("cuMemFree_v2").has_return());
    EXPECT_FALSE(p.probe("cuMemFree_v2").return_shape);
    EXPECT_TRUE(p.probe("cuInit").has_return());
}

TEST(Planner, RulesAddUpAndTheirFieldsJoin) {
    const Planned p("on cuda:cu* { span userspace(args) }\n"
                    "on cuda:cuInit { span userspace(who = pid) event other(Flags) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.entry("cuInit"), "%0@48; header@16; span userspace<3 r1> Flags=0/1 who=1/2");
    EXPECT_EQ(p.ret("cuInit"), "%0@56; ret@104; span userspace<3 r1>; event other.<2 r1> Flags=0");
    EXPECT_EQ(p.probe("cuInit").parts.size(), 2u);
    EXPECT_EQ(p.probe("cuMemFree_v2").parts.size(), 1u);
}

TEST(Planner, TheMoreExactRuleWinsThenTheLater) {
    const Planned exact("on cuda:cuInit { span userspace(x = Flags) }\n"
                        "on cuda:cu* { span userspace(x = pid) }");
    EXPECT_EQ(exact.entry("cuInit"), "header@16; %0@48; span userspace<3 r0> x=1/2");
    const Planned later("on cuda:cuInit { span userspace(x = Flags) }\n"
                        "on cuda:cuInit { span userspace(x = pid) }");
    EXPECT_EQ(later.entry("cuInit"), "%0@48; header@16; span userspace<3 r1> x=1/2");
    const Planned same("on cuda:cuInit { span userspace(x = Flags) }\n"
                       "on cuda:cu* { span userspace(x = Flags) }");
    EXPECT_EQ(same.entry("cuInit"), "%0@48; span userspace<3 r0> x=0");
    const Planned sometimes("on cuda:cuInit { span userspace(x = Flags, y = 1) }\n"
                            "on cuda:cuInit { where Flags > 1 span userspace(x = pid) }");
    EXPECT_EQ(sometimes.entry("cuInit"),
              "%0@48; 1@56; header@16; span userspace<3 r1> x=0/1 x=2/2 y=1/1");
}

TEST(Planner, EventsOfOtherNamesStandApart) {
    const Planned p("on cuda:cuInit { event a.x(Flags) event a.y(Flags) event b.x(pid) }");
    EXPECT_EQ(p.ret("cuInit"), "%0@56; header@16; ret@104; event a.x<1 r0> Flags=0; "
                               "event a.y<1 r0> Flags=0; event b.x<1 r0> pid=1");
}

TEST(Planner, AConditionIsSplitByWhenItIsKnown) {
    const Planned p("on cuda:cuMemAlloc { where bytesize > 4 && ret == CUDA_SUCCESS where pid "
                    "event memory.alloc(size = bytesize) }");
    EXPECT_EQ(p.messages(), "");
    const auto& part = p.probe("cuMemAlloc_v2").parts.at(0);
    EXPECT_EQ(texts(part.entry_where), "(b9 %1:18 4:08), pid");
    EXPECT_EQ(part.return_where.size(), 1u);
    EXPECT_TRUE(part.conditional());
    EXPECT_FALSE(p.probe("cuMemAlloc_v2").hits_vary()) << "only one rule: reaching the end says it";
}

TEST(Planner, HitsVaryOnlyWhereSeveralRulesActAtReturn) {
    const Planned p("on cuda:cuInit { where Flags event a(pid) }\n"
                    "on cuda:cuInit { event b(pid) }\n"
                    "on cuda:cuMemFree { sample 1/8 event a(pid) }\n"
                    "on entry cuda:cuMemFree { event b(pid) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_TRUE(p.probe("cuInit").hits_vary());
    EXPECT_TRUE(p.probe("cuInit").needs_frame());
    EXPECT_EQ(p.probe("cuInit").return_parts(), 3u);
    EXPECT_FALSE(p.probe("cuMemFree_v2").hits_vary());
    EXPECT_FALSE(p.probe("cuMemFree_v2").needs_frame());
    EXPECT_EQ(p.probe("cuMemFree_v2").return_parts(), 1u);
    EXPECT_EQ(p.probe("cuMemFree_v2").parts.at(0).sample, 8u);
    EXPECT_EQ(p.plan().rules.at(2).sample, 8u);
    EXPECT_EQ(p.plan().rules.at(2).place, "a.rules:3");
}

TEST(Planner, WhatTheEndNeedsIsSaved) {
    const Planned p("on cuda:cuMemAlloc { event a(bytesize) }\n"
                    "on cuda:cuLaunchKernel { event a(hStream) }\n"
                    "on cuda:cuLaunchKernelEx { event a(config->gridDimX, s = config->hStream) }\n"
                    "on cuda:cuModuleGetFunction { event a(name, *hfunc) }\n"
                    "on cuda:cuMemFree { event a(pid, duration) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("cuMemAlloc_v2").saved_words, 6u);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").saved_bytes(), 48u);
    EXPECT_EQ(p.probe("cuLaunchKernel").saved_words, 9u);
    const auto& ex = p.probe("cuLaunchKernelEx");
    EXPECT_EQ(ex.saved_words, 0u);
    ASSERT_EQ(ex.saved.size(), 2u);
    EXPECT_EQ(ex.saved[1].offset, 8u);
    EXPECT_EQ(ex.saved_bytes(), 16u);
    const auto& get = p.probe("cuModuleGetFunction");
    EXPECT_EQ(get.saved_words, 6u) << "hfunc is kept, *hfunc is read at return";
    ASSERT_EQ(get.saved.size(), 1u);
    EXPECT_EQ(get.saved[0].offset, 48u);
    EXPECT_EQ(get.saved[0].size, 64u);
    EXPECT_FALSE(p.probe("cuMemFree_v2").needs_frame());
    EXPECT_EQ(p.plan().frame_save_bytes, 112u);
}

TEST(Planner, AStructByValueKeepsAllItsWords) {
    const Planned p("on cuda:cudaLaunchKernel { event a(blockDim.z, stream) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.ret("cudaLaunchKernel"),
              "%2.8:4@56; %5@64; ret@72; event a.<1 r0> blockDim.z=0 stream=1");
    EXPECT_EQ(p.probe("cudaLaunchKernel").saved_words, 8u);
}

TEST(Planner, PlainArgumentsAreWordsAsTheyAreAndAtMostOneText) {
    const Planned p("on entry cuda:cuMemAlloc { event a(args) }\n"
                    "on entry cuda:cuMemcpyHtoD { event a(srcHost) }\n"
                    "on entry cuda:cuLaunchKernel { event a(args) }\n"
                    "on entry cuda:cudaLaunchKernel { event a(args) }\n"
                    "on entry cuda:cuModuleGetFunction { event a(args) }\n"
                    "on entry cuda:cuMystery { event a(args) }\n"
                    "on entry cuda:cuInit { event a(args) stack user }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("cuMemAlloc_v2").entry->argument_words, 2u);
    EXPECT_EQ(p.probe("cuMemcpyHtoD_v2").entry->argument_words, 2u);
    EXPECT_EQ(p.probe("cuMemcpyHtoD_v2").entry->layout.fields.at(0).offset, 56u);
    EXPECT_EQ(p.probe("cuLaunchKernel").entry->argument_words, 11u);
    EXPECT_EQ(p.probe("cuLaunchKernel").entry->argument_text, 0u);
    EXPECT_EQ(p.probe("cudaLaunchKernel").entry->argument_words, std::nullopt);
    const plan::RecordPlan& named = *p.probe("cuModuleGetFunction").entry;
    EXPECT_EQ(named.argument_words, 3u);
    EXPECT_EQ(named.argument_text, 3u);
    EXPECT_EQ(named.layout.fields.at(2).offset, 48u + 3 * 8) << "text is behind the words";
    EXPECT_EQ(named.layout.size, 48u + 3 * 8 + 64);
    EXPECT_EQ(p.probe("cuMystery").entry->argument_words, 6u);
    EXPECT_EQ(p.probe("cuInit").entry->argument_words, std::nullopt) << "a stack";
}

TEST(Planner, PythonFunctionsArePartOfTheRecordAndAUserStackBehindIt) {
    const Planned p("on entry cuda:cuInit { event a(Flags) stack python }\n"
                    "on entry cuda:cuMemAlloc { event a(bytesize) stack user stack python }\n"
                    "on cuda:cuMemFree { span a stack python }\n"
                    "on entry cuda:cuMemcpyHtoD { event a(ByteCount) stack user }");
    EXPECT_EQ(p.messages(), "");
    const plan::RecordLayout& alone = p.probe("cuInit").entry->layout;
    EXPECT_EQ(alone.stack[rules::StackKind::python], 56u);
    EXPECT_EQ(alone.size, 56u + 520);
    EXPECT_FALSE(alone.has(rules::StackKind::user));
    const plan::RecordLayout& both = p.probe("cuMemAlloc_v2").entry->layout;
    EXPECT_EQ(both.stack[rules::StackKind::python], 56u);
    EXPECT_EQ(both.stack[rules::StackKind::user], 56u + 520);
    EXPECT_TRUE(p.probe("cuMemFree_v2").entry->layout.has(rules::StackKind::python));
    EXPECT_FALSE(p.probe("cuMemFree_v2").ret->layout.has(rules::StackKind::python));
    EXPECT_FALSE(p.probe("cuMemcpyHtoD_v2").entry->layout.has(rules::StackKind::python));
    EXPECT_TRUE(p.plan().takes(rules::StackKind::python));
    EXPECT_TRUE(p.plan().knows_pythons());
    const Planned asks("on cuda:cuInit { span a(in_python(Flags)) }");
    EXPECT_EQ(asks.messages(), "");
    EXPECT_FALSE(asks.plan().takes(rules::StackKind::python));
    EXPECT_TRUE(asks.plan().knows_pythons());
}

TEST(Planner, ArgumentsThatPointToTextReadAtEntryAreKnown) {
    Prototypes types = cuda_prototypes();
    types.add("int cuTwo(int n, const char *a, const char *b)");
    const Planned p("on cuda:cuTwo { where str(a, 8) == \"x\" event e(b) }\n"
                    "on cuda:cuMemAlloc { event m(args) }",
                    "cuTwo@10 cuMemAlloc_v2@20", types);
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("cuTwo").text_words, 6u);
    EXPECT_EQ(p.probe("cuTwo").text_bytes, 64u);
    EXPECT_EQ(p.probe("cuMemAlloc_v2").text_words, 0u);
}

TEST(Planner, WhatIsMoreThanWordsAndOneTextIsARecordOfItsOwn) {
    Prototypes types = cuda_prototypes();
    types.add("int cuTwo(const char *a, const char *b)").add("int cuLong(const char *a)");
    types.add("int cuFar(int a, int b, int c, int d, int e)");
    const Planned p("on entry cuda:cuTwo { event a(args) }\n"
                    "on entry cuda:cuLong { event a(str(a, 128)) }\n"
                    "on entry cuda:cuFar { event a(e) }",
                    "cuTwo@10 cuLong@20 cuFar@30", types);
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("cuTwo").entry->argument_words, std::nullopt) << "two texts";
    EXPECT_EQ(p.probe("cuLong").entry->argument_words, std::nullopt) << "not of 64 bytes";
    EXPECT_EQ(p.probe("cuFar").entry->argument_words, std::nullopt) << "four words for nothing";
}

TEST(Planner, ArgsWithoutAPrototypeAreSixWords) {
    const Planned p("on cuda:cuMystery { span userspace(args) }");
    EXPECT_EQ(p.entry("cuMystery"),
              "%0@48; %1@56; %2@64; %3@72; %4@80; %5@88; span userspace<1 r0> arg0=0 arg1=1 "
              "arg2=2 arg3=3 arg4=4 arg5=5");
    EXPECT_EQ(p.ret("cuMystery"), "ret@56; span userspace<1 r0>");
}

TEST(Planner, FieldsAreAlignedAndDoNotOverlap) {
    const Planned p("on cuda:cuModuleGetFunction { event a(hmod, short = str(name, 9), name, comm, "
                    "function, *hfunc) stack user }");
    EXPECT_EQ(p.messages(), "");
    const plan::RecordLayout& layout = p.probe("cuModuleGetFunction").ret->layout;
    uint32_t end = *layout.unread + 8;
    EXPECT_EQ(end, sizeof(plan::RecordHeader) + sizeof(plan::ReturnHeader) + 8);
    EXPECT_EQ(layout.words, end);
    EXPECT_EQ(layout.fields.at(0).offset, end + 8) << "the second register";
    EXPECT_EQ(layout.fields.at(3).offset, offsetof(plan::RecordHeader, comm));
    end += 8 * plan::argument_registers(plan::Arch::x86_64);
    for (const plan::RecordSlot& field : layout.fields) {
        if (field.placed) continue;
        EXPECT_EQ(field.offset, end);
        EXPECT_EQ(field.offset % 8, 0u);
        end += field.size;
    }
    EXPECT_EQ(layout.fields.at(1).size, 16u);
    EXPECT_EQ(layout.fields.at(2).size, 64u);
    EXPECT_EQ(layout.fields.at(3).size, 16u);
    EXPECT_EQ(layout.size, end);
    EXPECT_EQ(layout.stack[rules::StackKind::user], end);
    EXPECT_EQ(p.plan().record_bytes, end + sizeof(plan::UserStack) + plan::kMaxStackBytes +
                                         plan::kMaxAwaitedReturns * sizeof(plan::AwaitedReturn));
}

TEST(Planner, OneValueIsOneField) {
    const Planned p("on cuda:cuMemAlloc { event a(x = *dptr) event b(y = *dptr, z = bytesize) "
                    "gauge bytes[*dptr] = bytesize }");
    EXPECT_EQ(p.ret("cuMemAlloc_v2"),
              "(load8 %0:28 +0 0.0)@112; %1@72; ret@120; event a.<1 r0> x=0; "
              "event b.<1 r0> y=0 z=1; gauge bytes<1 r0>[0] op0 1");
}

TEST(Planner, GaugesAndLearntNamesAreRecordFields) {
    const Planned p("on cuda:cuModuleGetFunction { learn kernel[*hfunc] = name }\n"
                    "on cuda:cuInit { gauge open += 1 }\n"
                    "on cuda:cuLaunchKernel { event launch(k = kernel[f]) }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.ret("cuModuleGetFunction"), "(load8 %0:28 +0 0.0)@64; (text %2:28 64)@72+64; "
                                            "ret@136; learn kernel<1 r0> 0=1");
    EXPECT_EQ(p.ret("cuInit"), "ret@56; gauge open<1 r1> op1 #1");
    const auto& launch = p.probe("cuLaunchKernel").ret->layout.fields.at(0);
    EXPECT_EQ(launch.type.learnt_table, "kernel");
    EXPECT_EQ(launch.type.kind, plan::ValueType::Kind::hex);
}

TEST(Planner, WhatTheKernelCannotComputeIsTheTracers) {
    const Planned p(
        "on cuda:cuMemAlloc { where ret == 0 && context[tid] != 0\n"
        "  learn context[tid] push *dptr\n"
        "  event a(size = bytesize, device = device[context[tid]])\n"
        "  gauge bytes[*dptr] = bytesize by device = device[context[tid]] of context[tid]\n"
        "  count by kind = bytesize > 1 ? \"many\" : \"one\" }\n"
        "on cuda:cuInit { learn device[Flags : Flags + 1] = 1 }");
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.ret("cuMemAlloc_v2"),
              "header@20; (load8 %0:28 +0 0.0)@112; %1@72; ret@120; "
              "condition<1 r0> (b12 context[0]1 #0); "
              "learn context<1 r0> 0 op4=1; "
              "event a.<1 r0> size=2 device=device[context[0]1]0; "
              "gauge bytes<1 r0>[1] op0 2 by device=device[context[0]1]0 of context[0]1; "
              "tally 0<1 r0> by ((b9 2 #1) ? \"many\" : \"one\")");
    EXPECT_TRUE(p.plan().aggregates.at(0).in_tracer);
    EXPECT_TRUE(p.probe("cuMemAlloc_v2").aggregates.empty());
    EXPECT_EQ(p.ret("cuInit"), "%0@56; ret@104; learn device<1 r1> 0:(b3 0 #1)=#1");
}

// 637 functions of three prototypes, `args` of all.
TEST(Planner, FunctionsOfLikePrototypesShareShapes) {
    Prototypes types = cuda_prototypes();
    const char* params[] = {"(unsigned int a)", "(CUdeviceptr *a, size_t b)",
                            "(CUfunction a, int b, CUstream c)"};
    std::string functions;
    for (int i = 0; i < 637; ++i) {
        std::string name = "cuCall" + std::to_string(1000 + i);
        types.add("CUresult " + name + params[i % 3]);
        functions += fmt::format("{}@{:x} ", name, 16 * (i + 1));
    }
    const Planned p("on cuda:cu* { span userspace(args) }", functions, types);
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.plan().probes.size(), 637u);
    EXPECT_EQ(p.plan().shapes.size(), 2u) << "one an end: words are taken as they are";
    for (size_t i = 0; i < p.plan().probes.size(); ++i) {
        const plan::ProbePlan& probe = p.plan().probes[i];
        ASSERT_EQ(static_cast<size_t>(probe.id), i);
        ASSERT_EQ(probe.entry->argument_words, i % 3 + 1);
        ASSERT_EQ(probe.entry_shape, p.plan().shapes.at(0).id);
        ASSERT_EQ(probe.return_shape, p.plan().shapes.at(1).id);
    }
    EXPECT_EQ(p.plan().shapes.at(0).end, rules::Stage::entry);
    EXPECT_EQ(p.plan().shapes.at(1).end, rules::Stage::ret);
}

TEST(Planner, WhatDiffersIsAnotherShape) {
    Prototypes types = cuda_prototypes();
    types.add("int cuA(int a, int b)").add("int cuB(int b, int a)").add("int cuC(int a, float b)");
    types.add("int cuD(char a)").add("int cuE(unsigned char a)");
    types.add("int cuF(enum sign a)").add("int cuG(CUresult a)");
    auto shapes = [&](const std::string& rule, const char* one, const char* other) {
        const Planned p(rule, "cuA@10 cuB@20 cuC@30 cuD@40 cuE@50 cuF@60 cuG@70", types);
        EXPECT_EQ(p.messages(), "");
        return p.probe(one).entry_shape == p.probe(other).entry_shape ? "shared" : "apart";
    };
    EXPECT_STREQ(shapes("on entry cuda:cu[AB] { event x(args) }", "cuA", "cuB"), "shared");
    EXPECT_STREQ(shapes("on entry cuda:cu[AB] { event x(a) }", "cuA", "cuB"), "shared");
    EXPECT_STREQ(shapes("on entry cuda:cu[AB] { event x(a + 1) }", "cuA", "cuB"), "shared");
    EXPECT_STREQ(shapes("on entry cuda:cu[AB] { sum a + 1 }", "cuA", "cuB"), "apart");
    EXPECT_STREQ(shapes("on entry cuda:cu[AC] { count by a }", "cuA", "cuC"), "shared");
    EXPECT_STREQ(shapes("on entry cuda:cu[AD] { count by a }", "cuA", "cuD"), "apart");
    EXPECT_STREQ(shapes("on entry cuda:cu[DE] { count by a }", "cuD", "cuE"), "apart");
    EXPECT_STREQ(shapes("on entry cuda:cu[FG] { where a == 1 count }", "cuF", "cuG"), "apart");
    EXPECT_STREQ(shapes("on entry cuda:cu[DE] { event x(args) }", "cuD", "cuE"), "shared");
    EXPECT_STREQ(shapes("on entry cuda:cuA { event x(args) } on entry cuda:cuB { event y(args) }",
                        "cuA", "cuB"),
                 "shared");
}

TEST(Planner, Arm64HasItsOwnSlots) {
    const Planned p("on cuda:cuLaunchKernel { event a(hStream) }", kDriver, cuda_prototypes(),
                    plan::Arch::arm64);
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.probe("cuLaunchKernel").saved_words, 9u);
    EXPECT_EQ(plan::to_text(p.probe("cuLaunchKernel").slots.at(8).at(0)), "s0");
    EXPECT_EQ(p.plan().arch, plan::Arch::arm64);
}

TEST(Planner, TextThatIsReturnedIsAField) {
    Prototypes types = cuda_prototypes();
    types.add("const char *cuName(int i)").add("void cuNothing(int i)");
    const Planned p("on cuda:cu* { span userspace }", "cuName@10 cuNothing@20", types);
    EXPECT_EQ(p.messages(), "");
    EXPECT_EQ(p.ret("cuName"), "(text ret:28 64)@56+64; span userspace<1 r0>");
    EXPECT_EQ(p.probe("cuName").ret_type->kind, plan::ValueType::Kind::text);
    EXPECT_EQ(p.ret("cuNothing"), "span userspace<1 r0>");
    EXPECT_EQ(p.probe("cuNothing").ret_type, std::nullopt);
}

TEST(Stacks, SayWhereCallsEnd) {
    const Planned plain("on cuda:cuInit { span userspace(args) }");
    EXPECT_FALSE(plain.probe("cuInit").ends_at_instructions());
    const Planned thrown("on cuda:cuInit { span userspace(args) }", kDriver, cuda_prototypes(),
                         plan::Arch::x86_64, "__cxa_throw");
    EXPECT_TRUE(thrown.probe("cuInit").ends_at_instructions());
    EXPECT_FALSE(thrown.probe("cuInit").moves());
    EXPECT_EQ(thrown.ret("cuInit"), plain.ret("cuInit"));
    const Planned entry("on entry cuda:cuInit { event a(args) }", kDriver, cuda_prototypes(),
                        plan::Arch::x86_64, "__cxa_throw");
    EXPECT_FALSE(entry.probe("cuInit").ends_at_instructions());
}

TEST(Stacks, OfCoroutinesHaveNoSpans) {
    const Planned span("on cuda:cuInit { span userspace(args) }", kDriver, cuda_prototypes(),
                       plan::Arch::x86_64, "swapcontext");
    const Planned event("on cuda:cuInit { event userspace(args) }");
    EXPECT_EQ(span.entry("cuInit"), "no record");
    EXPECT_EQ(span.ret("cuInit"), event.ret("cuInit"));
    EXPECT_TRUE(span.probe("cuInit").moves());
}

TEST(Stacks, OfGoHaveRegistersOfTheirOwn) {
    const Planned read("on entry cuda:cuMystery { event a(arg(5)) }", kDriver, cuda_prototypes(),
                       plan::Arch::x86_64, ".gopclntab");
    EXPECT_EQ(read.messages(), "");
    EXPECT_TRUE(read.probe("cuMystery").is_of_go());
    const Planned beyond("on entry cuda:cuMystery { event a(arg(6)) }", kDriver, cuda_prototypes(),
                         plan::Arch::x86_64, ".gopclntab");
    EXPECT_NE(beyond.messages().find("it is not known where this argument of a Go function is"),
              std::string::npos);
}

}  // namespace
}  // namespace mlbcc::test
