#include "base/bytes/parsed_size.h"

#include <gtest/gtest.h>

#include <string>

namespace cobra {
namespace {

enum class Kind { kTree, kLeaf };
using Field = ParsedField<Kind>;

// Field 1 of a tree is a tree, which takes 100 bytes; all others take 10.
Field SizeOf(Kind kind, const WireField& field) {
  if (kind == Kind::kTree && field.number == 1 && field.kind == WireField::Kind::kBytes) return {100, Kind::kTree};
  return {10, std::nullopt};
}

ParsedSize Size(const std::string& bytes, int64_t most = 1 << 30) {
  ParsedSize size;
  const bool whole = AddParsedSize<Kind>(bytes, Kind::kTree, most, SizeOf, &size);
  EXPECT_EQ(whole, size.well_formed && size.bytes <= most);
  return size;
}

// A message in a message, so many of them.
std::string Nested(int depth) {
  std::string bytes;
  for (int i = 0; i < depth; ++i) {
    WireWriter out(256);
    out.Text(1, bytes);
    bytes = std::string(out.bytes());
  }
  return bytes;
}

TEST(ParsedSizeTest, AddsUpWhatFieldsTake) {
  EXPECT_EQ(Size("").bytes, 0);
  EXPECT_EQ(Size(std::string("\x10\x01", 2)).bytes, 10);           // a number
  EXPECT_EQ(Size(std::string("\x0a\x02\x10\x01", 4)).bytes, 110);  // in a message
  EXPECT_EQ(Size(std::string("\x12\x02\x10\x01", 4)).bytes, 10);   // text: nobody looks into it
}

TEST(ParsedSizeTest, EmptyMessagesCount) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::string("\x0a\x00", 2);
  EXPECT_EQ(Size(many).bytes, 100'000);
  EXPECT_EQ(Size(many, /*most=*/1000).bytes, 1100);  // it stops soon
}

TEST(ParsedSizeTest, DamagedOrTooDeep) {
  EXPECT_FALSE(Size("\x0a").well_formed);
  EXPECT_FALSE(Size(std::string("\x0a\x05\x10", 3)).well_formed);
  EXPECT_TRUE(Size(Nested(100)).well_formed);
  EXPECT_FALSE(Size(Nested(101)).well_formed);
}

}  // namespace
}  // namespace cobra
