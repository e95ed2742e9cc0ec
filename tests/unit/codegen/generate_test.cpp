// The generated C of one small rule file a feature (tests/golden/codegen), and what all of it has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/generated.h"
#include "codegen/template.h"
#include "sink/golden.h"

namespace mlbcc::test {
namespace {

using codegen::AttachMode;

void expect_both(const std::string& name, const std::string& rules) {
    expect_golden("codegen/" + name + ".session.c.golden", generated(rules, AttachMode::session));
    expect_golden("codegen/" + name + ".multi.c.golden", generated(rules, AttachMode::multi));
}

TEST(Generate, ASpanWithItsArguments) {
    expect_both("span_args", "on cuda:cuMemAlloc { span userspace(args) }\n");
}

TEST(Generate, AnEventWithAConditionAtReturnAGaugeAndAStack) {
    expect_both("event_where_gauge_stack",
                "on cuda:cuMemAlloc {\n"
                "    where ret == CUDA_SUCCESS && bytesize > 0\n"
                "    event memory.alloc(address = *dptr, size = bytesize)\n"
                "    gauge gpu_bytes[*dptr] = bytesize\n"
                "    stack user\n"
                "}\n");
}

TEST(Generate, ACountByTextAndAHistogram) {
    expect_both("count_text_hist", "on cuda:cuModuleGetFunction {\n"
                                   "    count by name as \"By name\"\n"
                                   "    hist duration\n"
                                   "}\n");
}

TEST(Generate, ALearntName) {
    expect_both("learn", "on cuda:cuModuleGetFunction { learn kernel[*hfunc] = name }\n"
                         "on cuda:cuLaunchKernel { count by kernel[f] }\n");
}

TEST(Generate, ASample) {
    expect_both("sample", "on cuda:cuInit { sample 1/100 event init(Flags) }\n");
}

TEST(Generate, OnEntry) {
    expect_both("on_entry", "on entry cuda:cuLaunchKernel {\n"
                            "    where gridDimX * gridDimY > 1 && comm == \"py\"\n"
                            "    event launch(stream = hStream, threads = blockDimX / 32)\n"
                            "}\n");
}

std::string source(const std::string& rules, codegen::Options options = {},
                   plan::Arch arch = plan::Arch::x86_64) {
    const Planned planned(rules, kDriver, cuda_prototypes(), arch);
    EXPECT_EQ(planned.messages(), "");
    if (options.templates == nullptr) options.templates = &shipped_templates();
    auto program = codegen::generate(planned.plan(), options);
    return program ? program->source : program.error().message();
}

TEST(Generate, EveryFragmentNamesItsRule) {
    std::string text = source("on cuda:cuMemAlloc {\n where bytesize > 1\n event a(*dptr)\n}\n");
    EXPECT_EQ(count_of(text, "#line 2 \"a.rules\""), 1u);
    EXPECT_EQ(count_of(text, "#line 3 \"a.rules\""), 1u);
    EXPECT_EQ(count_of(text, "{{"), 0u) << "no slot is left";
}

TEST(Generate, AConditionOfSeveralRulesIsDecidedOnce) {
    codegen::Options options;
    options.file_offsets = {3000, 32, 0, 8, 64, 40};
    std::string rule = "on cuda:cuInit { where starts_with(file_name(Flags), \"nv\") && Flags > 1 "
                       "span a(n = file_name(Flags)) }\n";
    std::string text = source(rule + rule, options);
    EXPECT_EQ(count_of(text, "mlbcc_read_file_name(v"), 1u);
    EXPECT_EQ(count_of(text, "((mlbcc_word *)v0)[0] & 0xffffULL) ^ 0x766eULL)"), 1u)
        << "not the zero";
    EXPECT_EQ(count_of(text, "#define MLBCC_OFFSET_task_struct_files 3000\n"), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_OFFSET_file_f_path_dentry 64\n"), 1u);
    EXPECT_EQ(count_of(source("on cuda:cuInit { count }"), "mlbcc_read_file_name"), 0u);
    std::string both = "on cuda:cuInit { where starts_with(file_name(Flags), \"TCP\") || "
                       "starts_with(file_name(Flags), \"UNIX\")   count }\n";
    EXPECT_EQ(count_of(source(both, options), "mlbcc_read_file_name(v"), 1u);
}

TEST(Generate, WhereAPythonIsIsKnownWithoutItsFunctions) {
    std::string text = source("on cuda:cuInit { where in_python(Flags)   count }");
    EXPECT_EQ(count_of(text, "mlbcc_in_python(&call.id, "), 1u);
    EXPECT_EQ(count_of(text, "int python_starts("), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_PYTHONS 1\n"), 1u);
    EXPECT_EQ(count_of(text, "mlbcc_walk_python"), 0u);
    EXPECT_EQ(count_of(source("on cuda:cuInit { count }"), "python_starts"), 0u);
}

TEST(Generate, ALayoutIsAsserted) {
    std::string text = source("on cuda:cuModuleGetFunction { event a(name, hmod) stack user }");
    EXPECT_EQ(count_of(text, "MLBCC_SAME(shape_1_record, f0, 104);"), 1u);
    EXPECT_EQ(count_of(text, "MLBCC_SAME(shape_1_record, f2, 168);"), 1u);
    EXPECT_EQ(count_of(text, "MLBCC_SAME(shape_1_record, stack, 176);"), 1u);
}

TEST(Generate, TheSettingsFollowTheOptions) {
    const std::string rules = "on entry cuda:cuInit { count }";
    EXPECT_EQ(count_of(source(rules), "#define MLBCC_EVERYONE 0\n"), 1u);
    EXPECT_EQ(count_of(source(rules, {.everyone = true}), "#define MLBCC_EVERYONE 1\n"), 1u);
    EXPECT_EQ(count_of(source(rules), "#define MLBCC_NAMESPACE 0\n"), 1u);
    std::string in_namespace = source(rules, {.namespace_ = codegen::NamespaceId{4, 4026531836}});
    EXPECT_EQ(count_of(in_namespace, "#define MLBCC_NAMESPACE 1\n"
                                     "#define MLBCC_NAMESPACE_DEVICE 4ULL\n"
                                     "#define MLBCC_NAMESPACE_INODE 4026531836ULL\n"),
              1u);
    EXPECT_EQ(count_of(source(rules), "args_x86_64.h"), 1u);
    EXPECT_EQ(count_of(source(rules, {}, plan::Arch::arm64), "args_arm64.h"), 1u);
}

TEST(Generate, Arm64PassesTheAddressOfALargeStruct) {
    Prototypes types = cuda_prototypes();
    types.add("int cuBig(CUlaunchConfig a, int b, int c, int d, int e, int f, int g, int h, "
              "CUlaunchConfig i)");
    auto big = [&](const std::string& rules) {
        const Planned planned(rules, "cuBig@10", types, plan::Arch::arm64);
        EXPECT_EQ(planned.messages(), "");
        auto program = codegen::generate(planned.plan(), {.templates = &shipped_templates()});
        return program ? program->source : program.error().message();
    };
    const std::string fields = "event x(a.numAttrs, i.hStream)";
    std::string at_entry = big("on entry cuda:cuBig { " + fields + " }");
    EXPECT_EQ(count_of(at_entry, "v0, 8, (void *)(MLBCC_ARG0(ctx) + 48));"), 1u);
    EXPECT_EQ(count_of(at_entry, "v1, 8, (void *)(MLBCC_STACK_ARG(ctx, 0)));"), 1u);
    EXPECT_EQ(count_of(at_entry, "v2, 8, (void *)(v1 + 32));"), 1u);
    std::string at_return = big("on cuda:cuBig { " + fields + " }");
    EXPECT_EQ(count_of(at_return, "v0, 8, (void *)(MLBCC_SAVED(u64, 0) + 48));"), 1u);
    EXPECT_EQ(count_of(at_return, "v1, 8, (void *)(MLBCC_SAVED(u64, 64) + 32));"), 1u);
}

TEST(Generate, FramesAreThereOnlyWhereTheyAreNeeded) {
    const std::string plain = "on cuda:cuInit { event a(pid) }";
    auto frames = [](const std::string& rules, AttachMode mode) {
        return count_of(source(rules, {.mode = mode}), "#define MLBCC_USES_FRAMES 1\n") == 1;
    };
    EXPECT_FALSE(frames(plain, AttachMode::session)) << "the kernel keeps the start";
    EXPECT_TRUE(frames(plain, AttachMode::multi));
    EXPECT_TRUE(frames("on cuda:cuInit { event a(Flags) }", AttachMode::session));
    EXPECT_FALSE(frames("on entry cuda:cuInit { event a(Flags) }", AttachMode::multi));
}

TEST(Generate, WhereReturnProbesAreAwaitedIsAskedOfTheKernel) {
    const std::string rules = "on cuda:cuMemAlloc { span userspace(args) }\n";
    EXPECT_EQ(count_of(source(rules), "#define MLBCC_TASK_UPROBES"), 0u);
    std::string text = source(rules, {.task_uprobes_offset = 2896, .return_instances_offset = 8});
    EXPECT_EQ(count_of(text, "#define MLBCC_TASK_UPROBES 2896\n"), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_RETURN_INSTANCES 8\n"), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_AWAITED "), 0u);
    EXPECT_EQ(count_of(text, "#define MLBCC_AWAITED_SP "), 0u);
    text = source(
        rules, {.task_uprobes_offset = 2896, .return_instances_offset = 8, .awaited_offset = 96});
    EXPECT_EQ(count_of(text, "#define MLBCC_AWAITED 96\n"), 1u);
    text = source(rules, {.task_uprobes_offset = 2896,
                          .return_instances_offset = 8,
                          .return_instance = codegen::ReturnInstance{56, 40, 48}});
    EXPECT_EQ(count_of(text, "#define MLBCC_AWAITED_NEXT 56\n#define MLBCC_AWAITED_SP 40\n"
                             "#define MLBCC_AWAITED_TO 48\n"),
              1u);
}

TEST(Generate, AProgramThatMaySetRegistersDoesTheReturn) {
    const std::string rules = "on cuda:cuMemAlloc { span userspace(args) }\n";
    codegen::Options options;
    options.templates = &shipped_templates();
    auto text = [&](const char* sign) {
        const Planned planned(rules, kDriver, cuda_prototypes(), plan::Arch::x86_64, sign);
        const auto program = codegen::generate(planned.plan(), options);
        return program ? program->source : program.error().message();
    };
    EXPECT_EQ(count_of(text("__cxa_throw"), "    mlbcc_return(ctx);\n"), 0u);
    options.return_places = {.uprobe = 136, .consumers = -56, .offset = -24, .task_shadow = {}};
    const std::string thrown = text("__cxa_throw");
    EXPECT_EQ(count_of(thrown, "_end(ctx);\n    mlbcc_return(ctx);\n"), 1u);
    EXPECT_EQ(count_of(thrown, "#define MLBCC_UPROBE_CONSUMERS -56\n"), 1u);
    EXPECT_EQ(count_of(thrown, "#define MLBCC_TASK_SHADOW"), 0u);
    EXPECT_EQ(count_of(text(""), "    mlbcc_return(ctx);\n"), 0u) << "sessions see the end";
}

std::string python(std::optional<uint32_t> fsbase) {
    const Planned planned("on cuda:cuMemAlloc { event memory.alloc(size = bytesize)\n"
                          "    stack python stack user }\n"
                          "on cuda:cuMemAlloc { where ret != CUDA_SUCCESS event failed }\n");
    EXPECT_EQ(planned.messages(), "");
    codegen::Options options{.task_fsbase_offset = fsbase, .templates = &shipped_templates()};
    auto program = codegen::generate(planned.plan(), options);
    return program ? functions(*program) + program->source : program.error().message();
}

TEST(Generate, PythonFunctionsStandBeforeTheUserStack) {
    std::string text = python(4992);
    EXPECT_EQ(count_of(text, "// python python_starts -\n"), 1u);
    EXPECT_EQ(count_of(text, "#define MLBCC_FSBASE 4992\n"), 1u);
    EXPECT_EQ(count_of(text, "    struct python_stack python;\n    struct user_stack stack;\n"),
              1u);
    EXPECT_EQ(count_of(text, "call.python = &record->python;\n"
                             "            mlbcc_take_python(&call, hits & 1);\n"),
              1u)
        << text;
}

TEST(Generate, WithoutTheKernelsTypesNoPythonFunctionIsLookedFor) {
    std::string text = python(std::nullopt);
    EXPECT_EQ(count_of(text, "python_starts"), 0u);
    EXPECT_EQ(count_of(text, "call->python->count = call->python->state = 0;\n"), 1u);
}

TEST(Generate, EachShapeIsAProgramOfTheModesKind) {
    const Planned planned("on cuda:cuInit { event a(pid) } on cuda:cuMemFree { event b(dptr) }");
    auto made = [&](AttachMode mode) {
        auto program =
            codegen::generate(planned.plan(), {.mode = mode, .templates = &shipped_templates()});
        return program ? functions(*program) : program.error().message();
    };
    std::string two_kinds = "// entry shape_0 0\n// return shape_1 1\n"
                            "// entry shape_2 2\n// return shape_3 3\n";
    EXPECT_EQ(made(AttachMode::perf), two_kinds);
    EXPECT_EQ(made(AttachMode::multi), two_kinds);
    EXPECT_EQ(made(AttachMode::session), "// session shape_0 0\n// session shape_1 1\n"
                                         "// session shape_2 2\n// session shape_3 3\n");
}

TEST(Generate, ForksAreFollowedByRawTracepointsWhereTheTaskIsKnown) {
    const Planned planned("on entry cuda:cuInit { count }");
    codegen::Options options{.templates = &shipped_templates()};
    auto program = codegen::generate(planned.plan(), options);
    ASSERT_TRUE(program) << program.error().message();
    ASSERT_EQ(program->functions.size(), 4u);
    EXPECT_EQ(program->functions.at(1).point, "task:task_newtask");
    EXPECT_EQ(program->functions.at(1).name, "tracepoint__task__task_newtask");
    EXPECT_EQ(program->functions.at(1).kind, codegen::ProgramKind::tracepoint);
    options.task_pid_offset = 2480;
    program = codegen::generate(planned.plan(), options);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(count_of(program->source, "#define MLBCC_TASK_PID 2480\n"), 1u);
    EXPECT_EQ(program->functions.at(1).name, "raw_tracepoint__task_newtask");
    EXPECT_EQ(program->functions.at(1).kind, codegen::ProgramKind::raw_tracepoint);
}

TEST(Generate, SharedFunctionsAreInlinedIntoAFewShapes) {
    const Planned planned("on cuda:cuInit { event a(Flags) stack user }");
    auto program = codegen::generate(planned.plan(), {.templates = &shipped_templates()});
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_TRUE(program->commons.empty());
    for (const char* name : {"enter", "push", "leave_frame", "submit", "copy_stack", "report"}) {
        EXPECT_EQ(count_of(program->source, fmt::format("#define mlbcc_{0} common_{0}\n", name)),
                  1u);
    }
}

TEST(Generate, SharedFunctionsOfManyShapesAreCalledByNumber) {
    const Planned planned("on cuda:cuInit { event a(Flags + 1) stack user }\n"
                          "on cuda:cuMemFree { sum dptr }\n"
                          "on cuda:cuMemAlloc { hist bytesize * 2 }\n"
                          "on cuda:cuMemcpyHtoD { sum ByteCount * 3 }");
    ASSERT_GT(planned.plan().shapes.size(), 4u);
    auto program = codegen::generate(planned.plan(), {.templates = &shipped_templates()});
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_FALSE(program->direct[codegen::Side::user]);
    EXPECT_EQ(program->commons.begin()->second, "common_enter");
    EXPECT_GT(program->commons.size(), 8u);
    for (const auto& [number, name] : program->commons) {
        std::string shown = fmt::format("static u64 (*mlbcc_{})(struct call *call) = "
                                        "(void *){:#x};\n",
                                        name.substr(7), number);
        EXPECT_EQ(count_of(program->source, shown), 1u) << shown;
        EXPECT_EQ(count_of(program->source, " " + name + "(struct call *call) {\n"), 1u) << name;
    }
}

constexpr const char* kManyShapes =
    "on cuda:cuMemAlloc { span a(args) }\n"
    "on cuda:cuMemFree { span b(args) count }\n"
    "on cuda:cuModuleGetFunction { span c(args) learn kernel[*hfunc] = str(name, 200) }\n"
    "on cuda:cuMemcpyHtoD { span d(args) }\n"
    "on cuda:cuMemcpyHtoD { where ret == CUDA_SUCCESS event e(str(srcHost, 200)) }\n";

TEST(Generate, ManyShapesShareTheProgramsOfBeginningsAndEnds) {
    const Planned planned(kManyShapes);
    auto made = [&](AttachMode mode) {
        auto program =
            codegen::generate(planned.plan(), {.mode = mode, .templates = &shipped_templates()});
        return program ? functions(*program) : program.error().message();
    };
    EXPECT_EQ(made(AttachMode::multi),
              "// return shape_1 1\n// return shape_2 2\n// entry shape_3 3, rests 3\n"
              "// return shape_4 4\n// entry shape_5 5, rests 5\n// return shape_6 6\n"
              "// entry begin_recorded - 0 3 5\n// return end_call -, ends 0\n");
    EXPECT_EQ(made(AttachMode::session),
              "// session shape_0 0\n// session shape_1 1\n// session shape_2 2\n"
              "// session shape_3 3, rests 3\n// session shape_4 4\n"
              "// session shape_5 5, rests 5\n// session shape_6 6\n"
              "// session begin_recorded - 3 5\n// session end_call -, ends 0\n"
              "// session lose_call -, ends 1\n");
    EXPECT_EQ(made(AttachMode::perf),
              "// entry shape_0 0\n// return shape_1 1\n// return shape_2 2\n// entry shape_3 3\n"
              "// return shape_4 4\n// entry shape_5 5\n// return shape_6 6\n");
    expect_golden("codegen/many_shapes.session.c.golden",
                  generated(kManyShapes, AttachMode::session));
}

TEST(Generate, APlanOfOneShapeAnEndNeedsNoDispatcher) {
    const Planned planned("on cuda:cuInit { event a(pid) }");
    auto program = codegen::generate(planned.plan(), {.templates = &shipped_templates()});
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_TRUE(program->direct[codegen::Side::user]);
    EXPECT_EQ(functions(*program), "// session on_call -\n");
    auto two = codegen::generate(planned.plan(),
                                 {.mode = AttachMode::multi, .templates = &shipped_templates()});
    ASSERT_TRUE(two) << two.error().message();
    EXPECT_TRUE(two->direct[codegen::Side::user]);
    EXPECT_EQ(functions(*two), "// entry shape_0 0\n// return shape_1 1\n");
}

TEST(Generate, DivisionFollowsTheSign) {
    const std::string text =
        source("on entry cuda:cuMemAlloc { sum bytesize / 2 }\n"
               "on entry cuda:cuLaunchKernel { sum gridDimX / 2 }\n"
               "on entry cuda:cuInit { sum Flags / CUDA_ERROR_INVALID_VALUE }");
    EXPECT_EQ(count_of(text, "record->f0 = mlbcc_unsigned_div((u64)(MLBCC_ARG1(ctx)), (s64)2ULL)"),
              0u)
        << "long expressions have a name";
    EXPECT_EQ(count_of(text, "mlbcc_unsigned_div((u64)(MLBCC_ARG1(ctx)), (s64)2ULL)"), 1u);
    EXPECT_EQ(count_of(text, "mlbcc_signed_div((s64)(u32)(MLBCC_ARG1(ctx)), (s64)2ULL)"), 1u);
    EXPECT_EQ(count_of(text, "mlbcc_signed_div((s64)(u32)(MLBCC_ARG0(ctx)), (s64)1ULL)"), 1u);
}

TEST(Generate, WithoutRulesThereIsNothingToDispatch) {
    const plan::Plan empty;
    codegen::Options options{.templates = &shipped_templates()};
    auto program = codegen::generate(empty, options);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(functions(*program), "");
}

TEST(Cookie, HoldsTheProbeItsWordsAndItsShapes) {
    plan::ProbePlan probe;
    probe.id = plan::ProbeId{0x323456};
    probe.entry_shape = plan::ShapeId{0xabcd};
    EXPECT_EQ(codegen::cookie(probe), 0xffff'abcd'0032'3456ull);
    probe.return_shape = plan::ShapeId{0xfffe};
    EXPECT_EQ(codegen::cookie(probe), 0xfffe'abcd'0032'3456ull);
    probe.entry.emplace();
    EXPECT_EQ(codegen::cookie(probe), 0xfffe'abcd'0032'3456ull);
    probe.entry->argument_words = 3;
    EXPECT_EQ(codegen::cookie(probe), 0xfffe'abcd'00f2'3456ull);
    probe.entry->argument_text = 31;
    EXPECT_EQ(codegen::cookie(probe), 0xfffe'abcd'f8f2'3456ull);
}

TEST(Template, FillsItsSlots) {
    const codegen::Templates templates{{"t.h", "int {{name}} = {{value}}; {{name}}"}};
    auto text = codegen::fill(templates, "t.h", {{"name", "x"}, {"value", "{{no slot}}"}});
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(text->text(), "#line 1 \"probe_templates/t.h\"\nint x = {{no slot}}; x");
}

TEST(Template, OfBracesThatDoNotCloseIsText) {
    const codegen::Templates templates{{"t.h", "a {{ b"}};
    auto text = codegen::fill(templates, "t.h");
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(text->text(), "#line 1 \"probe_templates/t.h\"\na {{ b");
}

TEST(Template, MistakesNameIt) {
    const codegen::Templates templates{{"t.h", "{{other}}"}};
    auto unknown = codegen::fill(templates, "t.h", {{"name", "x"}});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().what, "the template t.h has an unknown slot {{other}}");
    auto missing = codegen::fill(templates, "u.h");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().what, "the template u.h is missing");
    EXPECT_EQ(missing.error().help, "check --templates, or install mlbcc again");
}

TEST(Generate, EachMissingTemplateIsNamed) {
    for (const char* name : {"record.h", "args_x86_64.h", "runtime.bpf.c", "call.bpf.c",
                             "frames.bpf.c", "entry.bpf.c", "return.bpf.c", "follow.bpf.c"}) {
        codegen::Templates templates = shipped_templates();
        ASSERT_EQ(templates.erase(name), 1u) << name;
        std::string said = source("on cuda:cuInit { event a(Flags) }", {.templates = &templates});
        EXPECT_EQ(said.substr(0, said.find(" is missing")), std::string("the template ") + name);
    }
}

}  // namespace
}  // namespace mlbcc::test
