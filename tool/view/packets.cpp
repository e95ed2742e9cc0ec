#include "view/packets.h"

#include <algorithm>

#include "perfetto.pb.h"

namespace mlbcc::view {
namespace {

constexpr uint32_t kSequence = 1, kNoticeSequence = 2;
constexpr uint32_t kBegins = 1, kNeeds = 2;  // TracePacket.SequenceFlags
constexpr uint64_t kNoticeTrack = uint64_t{1} << 59;

}  // namespace

Packets::Packets(sink::OutputFile file, std::optional<uint64_t> max_size)
    : file_(std::move(file)), max_size_(max_size), piece_bytes_(kWriteAt) {
    if (max_size_) piece_bytes_ = std::max(*max_size_, kLeast) / kPieces;
}

// A Trace is a list of packets: field 1, its length, the packet.
void Packets::append(std::string& out, const perfetto::protos::TracePacket& packet) {
    out.push_back(0x0a);
    size_t length = packet.ByteSizeLong();
    for (; length >= 0x80; length >>= 7) out.push_back(static_cast<char>(length | 0x80));
    out.push_back(static_cast<char>(length));
    packet.AppendToString(&out);
}

void Packets::add(perfetto::protos::TracePacket& packet, bool is_whole) {
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(is_first_ ? kBegins | kNeeds : kNeeds);
    is_first_ = false;
    if (packet.has_track_event()) ++now_.packets;
    if (now_.first_ns == 0) now_.first_ns = packet.timestamp();
    append(now_.bytes, packet);
    if (is_whole) whole();
}

void Packets::whole() {
    if (now_.bytes.size() < piece_bytes_) return;
    if (max_size_) return next_piece();
    write(now_.bytes);
    now_.bytes.clear();
}

void Packets::write(std::string_view bytes) {
    if (failure_) return;
    if (auto done = file_.write(bytes); !done) failure_ = done.error();
}

void Packets::next_piece() {
    ring_bytes_ += now_.bytes.size();
    ring_.push_back(std::move(now_));
    now_ = {};
    ++piece_;
    is_first_ = true;
    drop_beyond(*max_size_ - std::min<uint64_t>(*max_size_, piece_bytes_ + kNotice));
}

void Packets::drop_beyond(uint64_t bytes) {
    while (ring_bytes_ > bytes && ring_.size() > 1) {
        ring_bytes_ -= ring_.front().bytes.size();
        dropped_ += ring_.front().packets;
        ring_.pop_front();
    }
}

// A mark where what is left begins, and in front of it that something is missing.
void Packets::tell_cut() {
    std::string out;
    perfetto::protos::TracePacket packet;
    packet.set_trusted_packet_sequence_id(kNoticeSequence);
    packet.mutable_track_descriptor()->set_uuid(kNoticeTrack);
    packet.mutable_track_descriptor()->set_name("mlbcc");
    packet.set_previous_packet_dropped(true);
    append(out, packet);
    packet.Clear();
    packet.set_trusted_packet_sequence_id(kNoticeSequence);
    packet.set_timestamp(ring_.front().first_ns);
    auto& event = *packet.mutable_track_event();
    event.set_type(perfetto::protos::TrackEvent::TYPE_INSTANT);
    event.set_track_uuid(kNoticeTrack);
    event.set_name("cut: earlier events did not fit");
    auto& count = *event.add_debug_annotations();
    count.set_name("packets left out");
    count.set_uint_value(dropped_);
    append(out, packet);
    write(out);
}

Result<void> Packets::finish() {
    if (max_size_) {
        next_piece();
        drop_beyond(*max_size_ - kNotice);
        if (dropped_ > 0) tell_cut();
        for (const Piece& piece : ring_) write(piece.bytes);
    } else {
        write(now_.bytes);
    }
    if (failure_) return *failure_;
    return {};
}

}  // namespace mlbcc::view
