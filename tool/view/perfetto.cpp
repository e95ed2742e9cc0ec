// Perfetto's trace format: TracePackets of tracks and of what is on them, with each name written
// once. Slices stand in the order of their ends; the reader sorts by time.
// https://perfetto.dev/docs/reference/synthetic-track-event
#include "perfetto.pb.h"

#include <string>
#include <unordered_map>

#include "sink/output_file.h"
#include "view/counters.h"
#include "view/flows.h"
#include "view/packets.h"
#include "view/values.h"
#include "view/view.h"

namespace mlbcc::view {
namespace {

using perfetto::protos::DebugAnnotation;
using perfetto::protos::TracePacket;
using perfetto::protos::TrackDescriptor;
using perfetto::protos::TrackEvent;

// Ids of tracks are global to the trace.
constexpr uint64_t kThreads = uint64_t{1} << 63;
constexpr uint64_t kProcesses = uint64_t{1} << 62;
constexpr uint64_t kCounters = uint64_t{1} << 61;
constexpr uint64_t kLosses = uint64_t{1} << 60;

constexpr size_t kLongestInterned = 128;  // bytes of a value

class Perfetto : public ViewWriter {
public:
    Perfetto(sink::OutputFile file, std::optional<uint64_t> max_size)
        : packets_(std::move(file), max_size) {}

    void slice(const Slice& slice) override;
    void instant(const DrawnEvent& record) override;
    void lost(const saved::LostEvents& lost) override;
    bool failed() const override { return packets_.failed(); }
    Result<void> finish(const Ending& ending) override;

private:
    TrackEvent& begin(uint64_t time_ns, TrackEvent::Type type, uint64_t track);
    void end() { packets_.add(packet_, true); }
    void name(TrackEvent& event, std::string_view type, std::string_view name);
    void arguments(TrackEvent& event, const Slice& slice);
    DebugAnnotation& argument(TrackEvent& event, std::string_view name);
    void text_argument(TrackEvent& event, std::string_view name, std::string_view text);
    void set(DebugAnnotation& one, const saved::FieldValue& value);
    void set_text(DebugAnnotation& one, std::string_view text);

    uint64_t track_of(const DrawnEvent& record);
    uint64_t process_track(const DrawnEvent& record);
    uint64_t counter_track(const DrawnEvent& record, std::string_view name);
    void counter(const DrawnEvent& record);
    uint64_t loss_track();
    TrackDescriptor& describe(uint64_t track);

    TracePacket packet_;
    Packets packets_;
    Counters counters_;
    Flows flows_;
    NameIds categories_, names_, argument_names_, values_;
    // What tracks were called last, and in which piece of the file.
    Tracks threads_, processes_, counter_tracks_;
    std::unordered_map<std::string, uint64_t> counter_ids_;
    std::optional<uint64_t> losses_in_;  // the piece
};

TrackEvent& Perfetto::begin(uint64_t time_ns, TrackEvent::Type type, uint64_t track) {
    packet_.Clear();
    packet_.set_timestamp(time_ns);
    TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track);
    return event;
}

void Perfetto::name(TrackEvent& event, std::string_view type, std::string_view name) {
    uint64_t piece = packets_.piece();
    event.add_category_iids(categories_.id_of(type, piece, [&](uint64_t id) {
        auto& added = *packet_.mutable_interned_data()->add_event_categories();
        added.set_iid(id);
        added.set_name(type.data(), type.size());
    }));
    event.set_name_iid(names_.id_of(name, piece, [&](uint64_t id) {
        auto& added = *packet_.mutable_interned_data()->add_event_names();
        added.set_iid(id);
        added.set_name(name.data(), name.size());
    }));
}

DebugAnnotation& Perfetto::argument(TrackEvent& event, std::string_view name) {
    DebugAnnotation& one = *event.add_debug_annotations();
    one.set_name_iid(argument_names_.id_of(name, packets_.piece(), [&](uint64_t id) {
        auto& added = *packet_.mutable_interned_data()->add_debug_annotation_names();
        added.set_iid(id);
        added.set_name(name.data(), name.size());
    }));
    return one;
}

void Perfetto::set_text(DebugAnnotation& one, std::string_view text) {
    if (text.size() > kLongestInterned) {
        one.set_string_value(text.data(), text.size());
        return;
    }
    one.set_string_value_iid(values_.id_of(text, packets_.piece(), [&](uint64_t id) {
        auto& added = *packet_.mutable_interned_data()->add_debug_annotation_string_values();
        added.set_iid(id);
        added.set_str(text.data(), text.size());
    }));
}

void Perfetto::set(DebugAnnotation& one, const saved::FieldValue& value) {
    struct Set {
        Perfetto& self;
        DebugAnnotation& one;
        void operator()(std::monostate) const { self.set_text(one, "null"); }
        void operator()(bool is) const { one.set_bool_value(is); }
        void operator()(int64_t number) const { one.set_int_value(number); }
        void operator()(uint64_t number) const { one.set_uint_value(number); }
        void operator()(std::string_view text) const { self.set_text(one, text); }
        void operator()(double number) const { one.set_double_value(number); }
        void operator()(const saved::FieldValues& list) const {
            for (const saved::FieldValue& element : list)
                self.set(*one.add_array_values(), element);
        }
    };
    std::visit(Set{*this, one}, value);
}

void Perfetto::text_argument(TrackEvent& event, std::string_view name, std::string_view text) {
    if (!text.empty()) set_text(argument(event, name), text);
}

void Perfetto::arguments(TrackEvent& event, const Slice& slice) {
    each_argument(
        slice, [&](const DrawnEvent::Argument& one) { set(argument(event, one.name), one.value); });
    const DrawnEvent& call = *slice.call;
    if (const std::optional<saved::FieldValue>& ret = return_of(slice)) {
        set(argument(event, "[returned]"), *ret);
    }
    text_argument(event, "[function]", call.function);
    text_argument(event, "[symbol]", call.symbol);
    argument(event, "[event]").set_uint_value(call.id);
    argument(event, "[cpu]").set_uint_value(call.cpu);
    text_argument(event, "[incomplete]", text_of(slice.missing));
    if (stack_of(slice).empty()) return;
    DebugAnnotation& stack = argument(event, "[stack]");
    for (std::string_view frame : stack_of(slice)) set_text(*stack.add_array_values(), frame);
}

// A call that had not ended has no end here either: viewers draw it so.
void Perfetto::slice(const Slice& slice) {
    const DrawnEvent& call = *slice.call;
    uint64_t track = track_of(call);
    TrackEvent& event = begin(slice.begin_ns, TrackEvent::TYPE_SLICE_BEGIN, track);
    name(event, call.type, call.name);
    arguments(event, slice);
    if (uint64_t flow = flows_.begun_by(slice); flow != 0) event.add_flow_ids(flow);
    for (const Flow& one : flows_.ended_by(slice)) event.add_terminating_flow_ids(one.id);
    packets_.add(packet_, false);
    if (slice.missing != Missing::still_open) {
        begin(slice.end_ns, TrackEvent::TYPE_SLICE_END, track);
        packets_.add(packet_, false);
    }
    packets_.whole();
}

void Perfetto::instant(const DrawnEvent& record) {
    if (const DrawnEvent* one = counters_.of(record)) return counter(*one);
    TrackEvent& event = begin(record.time_ns, TrackEvent::TYPE_INSTANT, track_of(record));
    name(event, record.type, record.name);
    arguments(event, moment_of(record));
    end();
}

void Perfetto::counter(const DrawnEvent& record) {
    for (const DrawnEvent::Argument& one : record.arguments) {
        const auto* number = std::get_if<int64_t>(&one.value);
        if (number == nullptr) continue;
        std::string called = std::string(record.name) + "." + std::string(one.name);
        uint64_t track = counter_track(record, called);
        begin(record.time_ns, TrackEvent::TYPE_COUNTER, track).set_counter_value(*number);
        end();
    }
}

void Perfetto::lost(const saved::LostEvents& lost) {
    TrackEvent& event = begin(lost.time_ns, TrackEvent::TYPE_INSTANT, loss_track());
    name(event, "lost", "events were lost");
    argument(event, "count").set_uint_value(lost.count);
    argument(event, "[cpu]").set_uint_value(lost.cpu);
    DebugAnnotation& rules = argument(event, "rules");
    for (std::string_view rule : lost.rules) set_text(*rules.add_array_values(), rule);
    end();
}

// ---- tracks, each before what is on it, and again in each piece of the file

TrackDescriptor& Perfetto::describe(uint64_t track) {
    packet_.Clear();
    TrackDescriptor& described = *packet_.mutable_track_descriptor();
    described.set_uuid(track);
    return described;
}

// A process has its main thread's name; without that, of the first seen.
uint64_t Perfetto::process_track(const DrawnEvent& record) {
    uint64_t track = kProcesses | record.pid;
    std::string_view name = processes_.name_of(track);
    if (name.empty() || record.pid == record.tid) name = record.comm;
    if (!processes_.is_new(track, name, packets_.piece())) return track;
    auto& process = *describe(track).mutable_process();
    process.set_pid(static_cast<int32_t>(record.pid));
    process.set_process_name(std::string(processes_.name_of(track)));
    packets_.add(packet_, false);
    return track;
}

uint64_t Perfetto::track_of(const DrawnEvent& record) {
    uint64_t parent = process_track(record);
    uint64_t track = kThreads | uint64_t{record.pid} << 32 | record.tid;
    if (!threads_.is_new(track, record.comm, packets_.piece())) return track;
    TrackDescriptor& described = describe(track);
    described.set_parent_uuid(parent);
    auto& thread = *described.mutable_thread();
    thread.set_pid(static_cast<int32_t>(record.pid));
    thread.set_tid(static_cast<int32_t>(record.tid));
    thread.set_thread_name(record.comm.data(), record.comm.size());
    packets_.add(packet_, false);
    return track;
}

uint64_t Perfetto::counter_track(const DrawnEvent& record, std::string_view name) {
    uint64_t parent = process_track(record);
    std::string key = std::to_string(record.pid) + ":" + std::string(name);
    uint64_t track = kCounters | counter_ids_.try_emplace(key, counter_ids_.size()).first->second;
    if (!counter_tracks_.is_new(track, name, packets_.piece())) return track;
    TrackDescriptor& described = describe(track);
    described.set_parent_uuid(parent);
    described.set_name(name.data(), name.size());
    described.mutable_counter();
    packets_.add(packet_, false);
    return track;
}

uint64_t Perfetto::loss_track() {
    if (losses_in_ != packets_.piece()) {
        losses_in_ = packets_.piece();
        describe(kLosses).set_name("lost events");
        packets_.add(packet_, false);
    }
    return kLosses;
}

// No viewer opens an empty file.
Result<void> Perfetto::finish(const Ending&) {
    if (packets_.empty()) {
        describe(kLosses).set_name("no events");
        packets_.add(packet_, false);
    }
    return packets_.finish();
}

}  // namespace

Opened open_perfetto(const std::string& path, std::optional<uint64_t> max_size) {
    Result<sink::OutputFile> file = sink::OutputFile::open(path);
    if (!file) return file.error();
    return std::unique_ptr<ViewWriter>(std::make_unique<Perfetto>(std::move(*file), max_size));
}

}  // namespace mlbcc::view
