// A trace given as text, and the files that are made of it, whole.
#include "view/view.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace mlbcc::view {
namespace {

const std::string kMeta =
    R"({"event_id":0,"type":"meta","schema":1,"tool":"mlbcc 0.1.0","start":"2026-11-20T12:00:00Z",)"
    R"("host":{"kernel":"6.18.44","arch":"x86_64"},"command":["python3","a \"b\".py"]})"
    "\n";
const std::string kThread = R"("pid":70,"tid":70,"comm":"python3","cpu":1)";
const std::string kEvents =
    R"({"event_id":1,"ts":0.001000000,"type":"user","name":"cuInit","phase":"B",)" + kThread +
    R"(,"args":{"Flags":0}})"
    "\n"
    R"({"event_id":2,"ts":0.003000000,"type":"file","name":"open","phase":"B",)" +
    kThread + R"(,"parent":1,"args":{"file":"a,\"b\""}})" + "\n" +
    R"({"event_id":3,"ts":0.005000123,"type":"file","name":"open","phase":"E",)" + kThread +
    R"(,"begin":2,"duration_us":2000.123,"ret":-1})" + "\n" +
    R"({"event_id":4,"ts":0.006000000,"type":"user","name":"cuInit","phase":"E",)" + kThread +
    R"(,"begin":1,"duration_us":5000.000,"ret":"CUDA_SUCCESS"})" + "\n" +
    R"({"event_id":5,"ts":0.007000000,"type":"memory","name":"alloc","function":"cuMemAlloc",)"
    R"("symbol":"cuMemAlloc_v2","phase":"X",)" +
    kThread +
    R"(,"duration_us":12.500,"ret":0,"args":{"at":"0x7f00","size":4096,"from":["f","g"]},)"
    R"("stack":["cuMemAlloc_v2","main"]})" +
    "\n" +
    R"({"event_id":6,"ts":0.008000000,"type":"counter","name":"held","function":"f","phase":"i",)" +
    kThread + R"(,"args":{"bytes":4096,"of":"x","big":"9007199254740993"}})" + "\n" +
    R"({"event_id":7,"ts":0.009000000,"type":"lost","cpu":1,"count":17,"rules":["a.rules:12"]})"
    "\n";
const std::string kSummary =
    R"({"event_id":8,"ts":1.500000000,"type":"summary","events":7,"lost":17})"
    "\n";

class TestFile {
public:
    explicit TestFile(const std::string& text = {}) {
        int fd = ::mkstemp(path.data());
        ::close(fd);
        std::ofstream(path, std::ios::binary) << text;
    }
    ~TestFile() { ::unlink(path.c_str()); }
    std::string text() const {
        std::ostringstream out;
        out << std::ifstream(path, std::ios::binary).rdbuf();
        return out.str();
    }
    std::string path = "/tmp/view_test_XXXXXX";
};

std::string made_of(const std::string& text,
                    const std::function<Opened(const std::string&, const TraceOrigin&)>& open) {
    TestFile from(text), to;
    Result<saved::TraceFile> trace = saved::TraceFile::open(from.path);
    if (!trace) return "error: " + trace.error().message();
    auto read = convert(*trace, [&](const TraceOrigin& origin) { return open(to.path, origin); });
    return read ? to.text() : "error: " + read.error().message();
}
std::string chrome_of(const std::string& text) {
    return made_of(text, open_chrome);
}
std::string csv_of(const std::string& text) {
    return made_of(text,
                   [](const std::string& path, const TraceOrigin&) { return open_csv(path); });
}

TEST(Chrome, EveryKindOfLine) {
    EXPECT_EQ(chrome_of(kMeta + kEvents + kSummary),
              R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":70,"tid":70,"name":"process_name","args":{"name":"python3"}}
,{"ph":"M","pid":70,"tid":70,"name":"thread_name","args":{"name":"python3"}}
,{"ph":"X","pid":70,"tid":70,"ts":3000.000,"dur":2000.123,"cat":"file","name":"open","args":{"file":"a,\"b\"","[returned]":-1,"[event]":2,"[cpu]":1}}
,{"ph":"X","pid":70,"tid":70,"ts":1000.000,"dur":5000.000,"cat":"user","name":"cuInit","args":{"Flags":0,"[returned]":"CUDA_SUCCESS","[event]":1,"[cpu]":1}}
,{"ph":"X","pid":70,"tid":70,"ts":7000.000,"dur":12.500,"cat":"memory","name":"alloc","args":{"at":"0x7f00","size":4096,"from":["f","g"],"[returned]":0,"[function]":"cuMemAlloc","[symbol]":"cuMemAlloc_v2","[event]":5,"[cpu]":1,"[stack]":["cuMemAlloc_v2","main"]}}
,{"ph":"C","pid":70,"tid":70,"ts":8000.000,"cat":"counter","name":"held","args":{"bytes":4096}}
,{"ph":"i","pid":0,"tid":0,"ts":9000.000,"s":"g","cat":"lost","name":"events were lost","args":{"count":17,"rules":["a.rules:12"],"[cpu]":1}}
],"otherData":{"tool":"mlbcc 0.1.0","start":"2026-11-20T12:00:00Z","kernel":"6.18.44","arch":"x86_64","command":["python3","a \"b\".py"],"lost":17,"complete":true}}
)");
}

TEST(Csv, EveryKindOfLine) {
    EXPECT_EQ(
        csv_of(kMeta + kEvents + kSummary),
        "kind,start_s,duration_us,pid,tid,comm,cpu,type,name,function,symbol,returned,args,stack,"
        "incomplete,event_id\r\n"
        R"(call,0.003000000,2000.123,70,70,python3,1,file,open,,,-1,"{""file"":""a,\""b\""""}",,,2)"
        "\r\n"
        R"(call,0.001000000,5000.000,70,70,python3,1,user,cuInit,,,CUDA_SUCCESS,"{""Flags"":0}",,,1)"
        "\r\n"
        R"(call,0.007000000,12.500,70,70,python3,1,memory,alloc,cuMemAlloc,cuMemAlloc_v2,0,)"
        R"("{""at"":""0x7f00"",""size"":4096,""from"":[""f"",""g""]}","[""cuMemAlloc_v2"",""main""]",,5)"
        "\r\n"
        R"(counter,0.008000000,,70,70,python3,1,counter,held,f,,,)"
        R"("{""bytes"":4096,""of"":""x"",""big"":""9007199254740993""}",,,6)"
        "\r\n"
        R"(lost,0.009000000,,,,,1,,,,,,"{""count"":17,""rules"":[""a.rules:12""]}",,,)"
        "\r\n");
}

// `comm` as a trace has it, in JSON.
void expect_cell(const std::string& comm, const std::string& cell) {
    const std::string event =
        R"({"event_id":1,"ts":0.001000000,"type":"user","name":"f","phase":"X","pid":7,"tid":7,"comm":")" +
        comm + R"(","cpu":1,"duration_us":2.000})" + "\n";
    const std::string csv = csv_of(kMeta + event + kSummary);
    EXPECT_NE(csv.find("\r\ncall,0.001000000,2.000,7,7," + cell + ",1,user,f,"), csv.npos) << csv;
}

// What steers a terminal, is no UTF-8, or would be a spreadsheet's formula, is none of that.
TEST(Csv, NamesOfProgramsAreText) {
    for (const auto& [comm, cell] :
         {std::pair("=1+1", "'=1+1"), std::pair("@SUM(A1)", "'@SUM(A1)"), std::pair("-x", "'-x"),
          std::pair("+1", "'+1"), std::pair("a=b", "a=b"), std::pair(R"(\u001b[2J)", "\\x1b[2J"),
          std::pair(R"(a\u00ff)", "a\\xff"), std::pair(R"(a\nb)", "a\\nb")}) {
        expect_cell(comm, cell);
    }
}

TEST(Csv, QuotesOnlyWhereACellNeedsThem) {
    for (const auto& [comm, cell] :
         {std::pair("a,b", "\"a,b\""), std::pair(R"(a\"b)", "\"a\"\"b\""),
          std::pair("a;b c", "a;b c")}) {
        expect_cell(comm, cell);
    }
}

// ---- calls without their beginning or end

std::string line(int id, double seconds, const std::string& name, const std::string& phase,
                 const std::string& more = {}) {
    return R"({"event_id":)" + std::to_string(id) + R"(,"ts":)" + std::to_string(seconds) +
           R"(,"type":"t","name":")" + name + R"(","phase":")" + phase + R"(",)" + kThread + more +
           "}\n";
}

// name begin-end what is missing, in milliseconds
class Told : public ViewWriter {
public:
    void slice(const Slice& slice) override {
        const char* const kMissing[] = {"", " no begin", " no end", " open"};
        text += std::string(slice.call->name) + " " + std::to_string(slice.begin_ns / 1000000) +
                "-" + std::to_string(slice.end_ns / 1000000) +
                kMissing[static_cast<size_t>(slice.missing)] + "\n";
    }
    void instant(const DrawnEvent&) override {}
    void lost(const saved::LostEvents&) override {}
    bool failed() const override { return false; }
    Result<void> finish(const Ending&) override { return {}; }
    std::string text;
};

std::string slices_of(const std::string& lines) {
    Told told;
    Spans spans([&](const Slice& slice) { told.slice(slice); });
    EventReader reader;
    saved::LineParser parser;
    std::istringstream in(lines);
    for (std::string one; std::getline(in, one);) spans.add(*reader.read(*parser.parse(one)));
    spans.finish(9'000'000);
    return told.text;
}

TEST(Spans, OneInAnother) {
    EXPECT_EQ(slices_of(line(1, 0.001, "a", "B") + line(2, 0.002, "b", "B", R"(,"parent":1)") +
                        line(3, 0.003, "b", "E", R"(,"begin":2)") +
                        line(4, 0.004, "a", "E", R"(,"begin":1)")),
              "b 2-3\na 1-4\n");
}

TEST(Spans, AnOuterEndShowsThatTheInnerIsOver) {
    EXPECT_EQ(slices_of(line(1, 0.001, "a", "B") + line(2, 0.002, "b", "B", R"(,"parent":1)") +
                        line(3, 0.004, "a", "E", R"(,"begin":1)")),
              "b 2-4 no end\na 1-4\n");
}

TEST(Spans, ABeginThatIsNotInItShowsThatACallIsOver) {
    EXPECT_EQ(slices_of(line(1, 0.001, "a", "B") + line(2, 0.002, "b", "B", R"(,"parent":1)") +
                        line(3, 0.003, "c", "B", R"(,"parent":1)") + line(4, 0.005, "d", "B")),
              "b 2-3 no end\nc 3-5 no end\na 1-5 no end\nd 5-9 open\n");
}

TEST(Spans, AnEndWithoutItsBeginHasItsTime) {
    EXPECT_EQ(slices_of(line(1, 0.005, "a", "E", R"(,"duration_us":2000.000)") +
                        line(2, 0.006, "b", "E", R"(,"begin":77,"duration_us":1000.000)")),
              "a 3-5 no begin\nb 5-6 no begin\n");
}

TEST(Spans, WhatIsOpenAtTheEndIsGivenOutermostFirst) {
    EXPECT_EQ(slices_of(line(1, 0.001, "a", "B") + line(2, 0.002, "b", "B", R"(,"parent":1)")),
              "a 1-9 open\nb 2-9 open\n");
}

// A span of f, of which two rules have an event and one an instant; a call of g within it; an event
// without a span, twice; and a call that begins when f's event was.
const std::string kSameCalls =
    line(1, 0.001, "f", "B") +
    line(2, 0.001, "f (once)", "X", R"(,"function":"f","parent":1,"duration_us":8000.000)") +
    line(3, 0.001, "f (twice)", "X", R"(,"function":"f","parent":1,"duration_us":8000.000)") +
    line(4, 0.001, "f (thrice)", "i", R"(,"function":"f","parent":1)") +
    line(5, 0.002, "g", "B", R"(,"parent":1,"sample":8)") +
    line(6, 0.002, "seen", "X", R"(,"function":"g","parent":5,"duration_us":1000.000)") +
    line(7, 0.002, "h", "X", R"(,"parent":5,"duration_us":500.000)") +
    line(8, 0.003, "g", "E", R"(,"begin":5,"duration_us":1000.000)") +
    line(9, 0.009, "f", "E", R"(,"begin":1,"duration_us":8000.000)") +
    line(10, 0.010, "k", "X", R"(,"duration_us":100.000)") +
    line(11, 0.010, "again", "X", R"(,"function":"k","duration_us":100.000)") +
    line(12, 0.010, "k", "X", R"(,"duration_us":100.001)") + line(13, 0.011, "m", "B") +
    line(14, 0.011, "m", "E", R"(,"begin":13,"duration_us":null)") +
    line(15, 0.011, "seen", "X", R"(,"function":"m","duration_us":null)");

TEST(Spans, RecordsOfOneCallAreKnown) {
    std::string kinds;
    std::istringstream rows(csv_of(kMeta + kSameCalls + kSummary).substr(csv_of(kMeta).size()));
    for (std::string row; std::getline(rows, row);) {
        kinds += row.substr(0, row.find(',')) +
                 row.substr(row.rfind(','), row.size() - 1 - row.rfind(',')) + " ";
    }
    EXPECT_EQ(kinds, "event,2 event,3 instant,4 event,6 call,7 call,5 call,1 call,10 event,11 "
                     "call,12 call,13 event,15 ");
}

TEST(CallReport, ACallIsCountedOnce) {
    auto report = [](CallSelection wanted) {
        TestFile from(kMeta + kSameCalls + kSummary);
        auto calls = report_calls(wanted);
        Result<saved::TraceFile> trace = saved::TraceFile::open(from.path);
        EXPECT_TRUE(trace && convert(*trace, *calls));
        return calls->text();
    };
    CallSelection all;
    all.top = 20;
    const std::string text = report(all);
    EXPECT_NE(text.find("6 of 6 calls"), text.npos) << text;
    EXPECT_NE(text.find("t  f (once)"), text.npos) << text;
    EXPECT_EQ(text.find("python3  f (once)"), text.npos) << text;
    CallSelection some;
    some.name = "f (*";
    EXPECT_NE(report(some).find("1 of 6 calls"), text.npos) << report(some);
}

TEST(Chrome, IncompleteCallsAreShownSo) {
    std::string text =
        chrome_of(kMeta + line(1, 0.001, "a", "B") + line(2, 0.002, "b", "B", R"(,"parent":1)") +
                  line(3, 0.003, "c", "B", R"(,"parent":1)") +
                  line(4, 0.004, "d", "E", R"(,"duration_us":500.000)"));
    auto shown = [&](const std::string& one) {
        EXPECT_NE(text.find(one), std::string::npos) << one << "\n" << text;
    };
    shown(R"("ts":2000.000,"dur":1000.000,"cat":"t","name":"b","cname":"terrible","args":{)"
          R"("[event]":2,"[cpu]":1,"[incomplete]":"its end was not recorded"}})");
    shown(R"("ts":3500.000,"dur":500.000,"cat":"t","name":"d","cname":"terrible","args":{)"
          R"("[event]":4,"[cpu]":1,"[incomplete]":"its beginning was not recorded"}})");
    shown(R"({"ph":"B","pid":70,"tid":70,"ts":1000.000,"cat":"t","name":"a","cname":"terrible",)"
          R"("args":{"[event]":1,"[cpu]":1,"[incomplete]":"it had not ended"}})");
    shown(R"("lost":0,"complete":false}})");
}

TEST(Chrome, AThreadsNewNameIsGivenAgain) {
    std::string second = line(2, 0.002, "b", "i");
    second.replace(second.find("python3"), 7, "worker");
    std::string text = chrome_of(kMeta + line(1, 0.001, "a", "i") + second);
    EXPECT_NE(text.find(R"("name":"thread_name","args":{"name":"worker"}})"), std::string::npos);
    EXPECT_NE(text.find(R"("name":"process_name","args":{"name":"worker"}})"), std::string::npos);
}

TEST(Convert, TheFolderIsMissing) {
    TestFile from(kMeta + kEvents);
    Result<saved::TraceFile> trace = saved::TraceFile::open(from.path);
    ASSERT_TRUE(trace);
    auto read = convert(*trace, [](const TraceOrigin& origin) {
        return open_chrome("/no/such/folder/f.json", origin);
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(),
              "cannot create /no/such/folder/f.json: No such file or directory");
}

}  // namespace
}  // namespace mlbcc::view
