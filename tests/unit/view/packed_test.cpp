#include "view/packed.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace mlbcc::view {
namespace {

std::string from_base64(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    uint32_t bits = 0, known = 0;
    for (char c : text.substr(0, text.find('='))) {
        bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
        known += 6;
        if (known < 8) continue;
        known -= 8;
        bytes += static_cast<char>(bits >> known & 255);
    }
    return bytes;
}

std::string inflated(std::string packed) {
    z_stream stream{};
    std::string out(1 << 20, '\0');
    EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_EQ(stream.avail_in, 0u) << "it is all of the piece";
    out.resize(stream.total_out);
    inflateEnd(&stream);
    return out;
}

std::vector<std::string> pieces(Packed& packed) {
    sink::Buffer written(64);
    packed.finish(written);
    std::vector<std::string> all;
    std::string_view rest = written.view();
    for (size_t end = rest.find(','); end != std::string_view::npos; end = rest.find(',')) {
        all.push_back(inflated(from_base64(rest.substr(0, end))));
        rest.remove_prefix(end + 1);
    }
    all.push_back(inflated(from_base64(rest)));
    return all;
}

TEST(Packed, IsOnePieceOfWhatWasAdded) {
    Packed packed;
    packed.text("a\n");
    packed.number(300);
    EXPECT_EQ(packed.bytes(), 4u);
    EXPECT_EQ(pieces(packed), std::vector<std::string>{"a\n\xac\x02"});
}

TEST(Packed, EachPieceStandsAlone) {
    const std::string large(300'000, 'x');  // more than is kept before it is deflated
    Packed packed;
    packed.text("first\n");
    packed.end_piece();
    packed.text(large);
    packed.text("second\n");
    packed.end_piece();
    packed.text("first\n");
    EXPECT_EQ(packed.bytes(), 6 + large.size() + 7 + 6);
    EXPECT_EQ(pieces(packed), (std::vector<std::string>{"first\n", large + "second\n", "first\n"}));
}

TEST(Packed, OfNothingIsAnEmptyPiece) {
    Packed packed;
    EXPECT_EQ(pieces(packed), std::vector<std::string>{""});
}

}  // namespace
}  // namespace mlbcc::view
