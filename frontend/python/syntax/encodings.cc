#include "frontend/python/syntax/encodings.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "frontend/python/syntax/unicode.h"

namespace cobra::python {
namespace ast {
namespace {

// The codes from `first` to `last`, whose characters begin at `character` and grow by `step`.
struct Difference {
  uint16_t first, last, character, step;
};
#define COBRA_ENCODING_DIFFERENCES
#include "frontend/python/tables/encodings.inc"
#undef COBRA_ENCODING_DIFFERENCES

// Characters of two bytes in UTF-8, a string for each lead byte; '~' where there is none.
#define COBRA_ENCODING_TABLES
#include "frontend/python/tables/encodings.inc"
#undef COBRA_ENCODING_TABLES
struct Table {
  absl::string_view name;
  uint8_t lead, trail;  // the first ones
  absl::Span<const absl::string_view> rows;
};
constexpr Table kTables[] = {{"gbk", 0x81, 0x40, k_gbk},
                             {"cp949", 0x81, 0x41, k_cp949},
                             {"cp950", 0x81, 0x40, k_cp950},
                             {"cp932", 0x81, 0x40, k_cp932},
                             {"jisx0212", 0xa1, 0xa1, k_jisx0212}};
// The characters from 0x80 on of encodings with one byte for each character.
struct Page {
  absl::string_view name, text;
};
constexpr Page kPages[] = {
#define COBRA_ENCODING_PAGES
#include "frontend/python/tables/encodings.inc"
#undef COBRA_ENCODING_PAGES
};
struct EncodingName {
  absl::string_view alias, name;
};
constexpr EncodingName kNames[] = {
#define COBRA_ENCODING_NAMES
#include "frontend/python/tables/encodings.inc"
#undef COBRA_ENCODING_NAMES
};

constexpr uint32_t kNone = 0xfffd;

std::vector<uint16_t> CharactersOf(absl::string_view utf8) {
  std::vector<uint16_t> characters;
  for (size_t at = 0; at < utf8.size();) {
    const uint8_t b = static_cast<uint8_t>(utf8[at]);
    const auto more = [&](size_t i) { return static_cast<uint32_t>(utf8[at + i]) & 0x3f; };
    const uint32_t c = b < 0x80 ? b : b < 0xe0 ? (b & 0x1fu) << 6 | more(1) : (b & 0xfu) << 12 | more(1) << 6 | more(2);
    at += b < 0x80 ? 1 : b < 0xe0 ? 2 : 3;
    characters.push_back(static_cast<uint16_t>(c));
  }
  return characters;
}

// By lead byte << 8 | trail byte.
using DoubleBytes = std::vector<uint16_t>;

DoubleBytes Read(const Table& table) {
  DoubleBytes all(1 << 16, kNone);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::vector<uint16_t> characters = CharactersOf(table.rows[row]);
    for (size_t i = 0; i < characters.size(); ++i) {
      if (characters[i] != '~') all[(table.lead + row) << 8 | (table.trail + i)] = characters[i];
    }
  }
  return all;
}

template <size_t kCount>
DoubleBytes Variant(DoubleBytes all, const Difference (&differences)[kCount], unsigned least = 0) {
  for (size_t code = 0; code < all.size(); ++code) {
    if (code >> 8 < least || (code & 0xff) < least) all[code] = kNone;
  }
  for (const Difference& d : differences) {
    for (uint32_t code = d.first; code <= d.last; ++code)
      all[code] = static_cast<uint16_t>(d.character + d.step * (code - d.first));
  }
  return all;
}

// The rows of JIS X 0208, which Shift JIS folds in pairs.
DoubleBytes EucJp(const DoubleBytes& shift_jis) {
  DoubleBytes all(1 << 16, kNone);
  for (unsigned row = 0; row < 94; ++row) {
    for (unsigned cell = 0; cell < 94; ++cell) {
      const unsigned lead = (row < 62 ? 0x81 : 0xc1) + row / 2;
      unsigned trail = row % 2 == 1 ? 0x9f + cell : 0x40 + cell;
      if (row % 2 == 0 && trail >= 0x7f) ++trail;
      all[(0xa1 + row) << 8 | (0xa1 + cell)] = shift_jis[lead << 8 | trail];
    }
  }
  return all;
}

using DoubleByteTables = absl::flat_hash_map<absl::string_view, DoubleBytes>;

const DoubleByteTables& Tables() {
  static const auto* const kAll = [] {
    auto* all = new DoubleByteTables();
    for (const Table& table : kTables) all->emplace(table.name, Read(table));
    const auto add = [all](absl::string_view name, DoubleBytes table) { all->emplace(name, std::move(table)); };
    add("gb2312", Variant(all->at("gbk"), k_gb2312, 0xa1));
    add("gb18030", Variant(all->at("gbk"), k_gb18030));
    add("euc_kr", Variant(all->at("cp949"), k_euc_kr, 0xa1));
    add("big5", Variant(all->at("cp950"), k_big5));
    add("shift_jis", Variant(all->at("cp932"), k_shift_jis));
    add("euc_jp", EucJp(all->at("shift_jis")));
    return all;
  }();
  return *kAll;
}

// What GB 18030 has four bytes for: the characters of the basic plane that have no two, in order.
const std::vector<uint16_t>& FourByteCharacters() {
  static const auto* const kCharacters = [] {
    std::vector<bool> has_two(1 << 16);
    for (uint16_t c : Tables().at("gb18030")) has_two[c] = c != kNone;
    auto* characters = new std::vector<uint16_t>();
    for (uint32_t c = 0x80; c < 0x10000; ++c) {
      if (!has_two[c] && (c < 0xd800 || c >= 0xe000)) characters->push_back(static_cast<uint16_t>(c));
    }
    return characters;
  }();
  return *kCharacters;
}

// The character of four bytes; kNone.
uint32_t FourBytes(absl::string_view bytes) {
  if (bytes.size() < 4) return kNone;
  const auto digit = [&](size_t i, uint8_t low, uint8_t high) {
    const uint8_t b = static_cast<uint8_t>(bytes[i]);
    return b < low || b > high ? -1 : b - low;
  };
  const int a = digit(0, 0x81, 0xfe), b = digit(1, 0x30, 0x39), c = digit(2, 0x81, 0xfe), d = digit(3, 0x30, 0x39);
  if (a < 0 || b < 0 || c < 0 || d < 0) return kNone;
  const auto n = static_cast<uint32_t>(((a * 10 + b) * 126 + c) * 10 + d);
  constexpr uint32_t kBeyondBasic = 189000;  // 0x90 0x30 0x81 0x30
  if (n >= kBeyondBasic) return n - kBeyondBasic < 0x100000 ? n - kBeyondBasic + 0x10000 : kNone;
  return n < FourByteCharacters().size() ? FourByteCharacters()[n] : kNone;
}

// The syllable that euc_kr writes with eight bytes: a filler and three letters, each behind 0xa4.
// kNone.
uint32_t Composed(absl::string_view bytes) {
  constexpr absl::string_view kFirst = "\xa1\xa2\xa4\xa7\xa8\xa9\xb1\xb2\xb3\xb5\xb6\xb7\xb8\xb9\xba\xbb\xbc\xbd\xbe";
  constexpr absl::string_view kLast =
      "\xd4\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa9\xaa\xab\xac\xad\xae\xaf\xb0\xb1\xb2\xb4\xb5\xb6\xb7\xb8\xba\xbb\xbc\xbd"
      "\xbe";
  if (bytes.size() < 8 || bytes[1] != '\xd4') return kNone;
  for (size_t i = 0; i < 8; i += 2) {
    if (bytes[i] != '\xa4') return kNone;
  }
  const size_t first = kFirst.find(bytes[3]), last = kLast.find(bytes[7]);
  const unsigned vowel = static_cast<uint8_t>(bytes[5]) - 0xbfu;
  if (first == absl::string_view::npos || last == absl::string_view::npos || vowel > 20) return kNone;
  return static_cast<uint32_t>(0xac00 + (first * 21 + vowel) * 28 + last);
}

// One character of an encoding with two bytes for most; kNone and one byte if it is invalid.
struct Next {
  uint32_t character = kNone;
  size_t bytes = 1;
};
Next NextOf(absl::string_view name, const DoubleBytes& table, absl::string_view rest) {
  const uint8_t lead = static_cast<uint8_t>(rest[0]);
  if (lead < 0x80) return {lead, 1};
  const bool is_jis = name == "shift_jis" || name == "cp932";
  if (is_jis && lead >= 0xa1 && lead <= 0xdf) return {0xff61u + lead - 0xa1u, 1};
  if (name == "cp932" && lead == 0x80) return {0x80, 1};
  if (name == "cp932" && lead == 0xa0) return {0xf8f0, 1};
  if (name == "cp932" && lead >= 0xfd) return {0xf8f1u + lead - 0xfdu, 1};
  if (rest.size() < 2) return {};
  const uint8_t trail = static_cast<uint8_t>(rest[1]);
  if (name == "euc_jp" && lead == 0x8e) {
    return trail >= 0xa1 && trail <= 0xdf ? Next{0xff61u + trail - 0xa1u, 2} : Next{};
  }
  if (name == "euc_jp" && lead == 0x8f) {
    if (rest.size() < 3) return {};
    const uint32_t c = Tables().at("jisx0212")[static_cast<size_t>(trail) << 8 | static_cast<uint8_t>(rest[2])];
    return c == kNone ? Next{} : Next{c, 3};
  }
  if (name == "euc_kr" && Composed(rest) != kNone) return {Composed(rest), 8};
  if (name == "gb18030" && trail >= 0x30 && trail <= 0x39) {
    const uint32_t c = FourBytes(rest);
    return c == kNone ? Next{} : Next{c, 4};
  }
  const uint32_t c = table[static_cast<size_t>(lead) << 8 | trail];
  return c == kNone ? Next{} : Next{c, 2};
}

// Lower case, with one '_' for all else, as encodings.normalize_encoding() has it.
std::string Normal(absl::string_view encoding) {
  std::string name;
  bool is_apart = false;
  for (char c : encoding) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.') {
      is_apart = true;
      continue;
    }
    if (is_apart && !name.empty()) name += '_';
    is_apart = false;
    name += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return name;
}

absl::string_view PythonsName(absl::string_view encoding) {
  const std::string normal = Normal(encoding);
  // "utf-8-unix", "latin-1-dos": what editors write.
  if (normal == "utf_8" || normal == "utf8" || absl::StartsWith(normal, "utf_8_")) return "utf_8";
  if (absl::StartsWith(normal, "latin_1_") || absl::StartsWith(normal, "iso_8859_1_")) return "latin_1";
  for (const EncodingName& row : kNames) {
    if (row.alias == normal) return row.name;
  }
  return "";
}

void DecodePage(const std::vector<uint16_t>* page, absl::string_view bytes, Decoded* out) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t b = static_cast<uint8_t>(bytes[i]);
    const uint32_t c = b < 0x80 || page == nullptr ? b : (*page)[b - 0x80u];
    if (c == kNone) {
      out->kind = EncodingKind::kInvalid;
      out->bad = i;
      return;
    }
    AppendUtf8(static_cast<int32_t>(c), &out->text);
  }
}

}  // namespace

Decoded DecodeFrom(absl::string_view encoding, absl::string_view bytes) {
  Decoded out;
  const absl::string_view name = PythonsName(encoding);
  if (name.empty()) return out;
  out.name = std::string(name);
  out.kind = EncodingKind::kUtf8;
  if (name == "utf_8") return out;
  if (name == "ascii") {
    const auto high = std::find_if(bytes.begin(), bytes.end(), [](char c) { return (c & 0x80) != 0; });
    if (high != bytes.end()) out.kind = EncodingKind::kInvalid;
    out.bad = static_cast<size_t>(high - bytes.begin());
    return out;
  }
  out.kind = EncodingKind::kDecoded;
  out.text.reserve(bytes.size() + bytes.size() / 4);
  const auto* page = std::find_if(std::begin(kPages), std::end(kPages), [&](const Page& p) { return p.name == name; });
  if (page != std::end(kPages) || name == "latin_1") {
    std::vector<uint16_t> characters;
    if (name != "latin_1") characters = CharactersOf(page->text);
    DecodePage(name == "latin_1" ? nullptr : &characters, bytes, &out);
    return out;
  }
  const auto table = Tables().find(name);
  if (table == Tables().end()) {
    out.kind = EncodingKind::kUnsupported;
    return out;
  }
  while (out.bad < bytes.size()) {
    const Next next = NextOf(name, table->second, bytes.substr(out.bad));
    if (next.character == kNone) {
      out.kind = EncodingKind::kInvalid;
      return out;
    }
    AppendUtf8(static_cast<int32_t>(next.character), &out.text);
    out.bad += next.bytes;
  }
  return out;
}

}  // namespace ast
}  // namespace cobra::python
