// str.encode and bytes.decode: the encodings that source files, configurations and names use, and
// the error handlers.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/encodings.h"

namespace cobra::python {
namespace {

enum class Codec : uint8_t { kUtf8, kAscii, kLatin1, kUtf16, kUtf16Le, kUtf16Be, kUtf32, kUtf32Le, kUtf32Be };
struct CodecName {
  absl::string_view name;
  Codec codec;
  absl::string_view shown;
};
constexpr CodecName kCodecs[] = {
    {"utf_8", Codec::kUtf8, "utf-8"},
    {"utf8", Codec::kUtf8, "utf-8"},
    {"u8", Codec::kUtf8, "utf-8"},
    {"ascii", Codec::kAscii, "ascii"},
    {"us_ascii", Codec::kAscii, "ascii"},
    {"646", Codec::kAscii, "ascii"},
    {"latin_1", Codec::kLatin1, "latin-1"},
    {"latin1", Codec::kLatin1, "latin-1"},
    {"iso_8859_1", Codec::kLatin1, "latin-1"},
    {"iso8859_1", Codec::kLatin1, "latin-1"},
    {"l1", Codec::kLatin1, "latin-1"},
    {"utf_16", Codec::kUtf16, "utf-16"},
    {"utf16", Codec::kUtf16, "utf-16"},
    {"utf_16_le", Codec::kUtf16Le, "utf-16-le"},
    {"utf_16_be", Codec::kUtf16Be, "utf-16-be"},
    {"utf_32", Codec::kUtf32, "utf-32"},
    {"utf32", Codec::kUtf32, "utf-32"},
    {"utf_32_le", Codec::kUtf32Le, "utf-32-le"},
    {"utf_32_be", Codec::kUtf32Be, "utf-32-be"},
};

const CodecName* KnownCodec(absl::string_view encoding) {
  const std::string name = absl::StrReplaceAll(absl::AsciiStrToLower(encoding), {{"-", "_"}, {" ", "_"}});
  for (const CodecName& c : kCodecs) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

Result<CodecName> FindCodec(Interpreter& interp, absl::string_view encoding) {
  if (const CodecName* known = KnownCodec(encoding)) return *known;
  if (ast::DecodeFrom(encoding, "").kind != ast::EncodingKind::kUnknown)
    return interp.Unsupported(absl::StrCat("encoding into ", encoding));
  return interp.Raise(interp.types().LookupError, "unknown encoding: ", encoding);
}

std::string EscapeOf(uint32_t c) {
  if (c < 0x100) return absl::StrFormat("\\x%02x", c);
  return c < 0x10000 ? absl::StrFormat("\\u%04x", c) : absl::StrFormat("\\U%08x", c);
}

// An exception with the five arguments that programs may read.
Failure RaiseCodecError(Interpreter& interp, ClassObject* cls, absl::string_view codec, Value object, int64_t start,
                        int64_t end, absl::string_view reason) {
  Value args[] = {interp.NewStr(codec), object, Value::Int(start), Value::Int(end), interp.NewStr(reason)};
  return interp.RaiseValue(NewException(interp, cls, 5, args));
}

void AppendUnit(std::string* out, uint32_t unit, int bytes, bool big_endian) {
  for (int i = 0; i < bytes; ++i) {
    int shift = 8 * (big_endian ? bytes - 1 - i : i);
    out->push_back(static_cast<char>(unit >> shift & 0xff));
  }
}

void AppendWide(std::string* out, Codec codec, uint32_t c) {
  bool big = codec == Codec::kUtf16Be || codec == Codec::kUtf32Be;
  if (codec == Codec::kUtf32 || codec == Codec::kUtf32Le || codec == Codec::kUtf32Be) return AppendUnit(out, c, 4, big);
  if (c < 0x10000) return AppendUnit(out, c, 2, big);
  AppendUnit(out, 0xd800 + ((c - 0x10000) >> 10), 2, big);
  AppendUnit(out, 0xdc00 + ((c - 0x10000) & 0x3ff), 2, big);
}

// Appends the replacement for a character that the codec cannot encode; false if the character is
// an error.
bool ReplaceInEncoding(absl::string_view errors, uint32_t c, std::string* out) {
  if (errors == "ignore") return true;
  if (errors == "replace") return out->push_back('?'), true;
  if (errors == "backslashreplace") return out->append(EscapeOf(c)), true;
  if (errors == "xmlcharrefreplace") return absl::StrAppend(out, "&#", c, ";"), true;
  return false;
}

// The length of the UTF-8 character at `at`. If there is no valid character, returns 0 and sets
// *bad to the number of bytes to skip and *reason to the cause.
size_t Utf8Length(absl::string_view bytes, size_t at, size_t* bad, absl::string_view* reason) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  unsigned char c = byte(0);
  size_t size = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
  *bad = 1;
  *reason = "invalid start byte";
  if (size == 0) return 0;
  for (size_t i = 1; i < size; ++i) {
    *bad = i;
    *reason = "unexpected end of data";
    if (at + i >= bytes.size()) return 0;
    *reason = "invalid continuation byte";
    unsigned char low = 0x80, high = 0xbf;
    if (i == 1) {
      if (c == 0xe0) low = 0xa0;
      if (c == 0xed) high = 0x9f;
      if (c == 0xf0) low = 0x90;
      if (c == 0xf4) high = 0x8f;
    }
    if (byte(i) < low || byte(i) > high) return 0;
  }
  return size;
}

struct Decoding {
  Interpreter& interp;
  absl::string_view codec, bytes, errors;
  std::string out;

  Result<void> Bad(size_t at, size_t count, absl::string_view reason) {
    if (errors == "ignore") return {};
    if (errors == "replace") {
      out += "\xef\xbf\xbd";
      return {};
    }
    if (errors == "backslashreplace") {
      for (size_t i = 0; i < count; ++i)
        absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(bytes[at + i]));
      return {};
    }
    return RaiseCodecError(interp, interp.types().UnicodeDecodeError, codec, Value(interp.NewBytes(bytes)),
                           static_cast<int64_t>(at), static_cast<int64_t>(at + count), reason);
  }
};

Result<void> DecodeUtf8Text(Decoding* d) {
  for (size_t at = 0; at < d->bytes.size();) {
    size_t bad;
    absl::string_view reason;
    size_t size = Utf8Length(d->bytes, at, &bad, &reason);
    if (size == 0) {
      COBRA_TRY(d->Bad(at, bad, reason));
      at += bad;
      continue;
    }
    d->out.append(d->bytes.data() + at, size);
    at += size;
  }
  return {};
}

Result<void> DecodeWide(Decoding* d, Codec codec) {
  bool four = codec == Codec::kUtf32 || codec == Codec::kUtf32Le || codec == Codec::kUtf32Be;
  bool big = codec == Codec::kUtf16Be || codec == Codec::kUtf32Be;
  size_t width = four ? 4 : 2, at = 0;
  auto unit = [&](size_t i) {
    uint32_t v = 0;
    for (size_t k = 0; k < width; ++k)
      v |= static_cast<uint32_t>(static_cast<unsigned char>(d->bytes[i + k])) << (8 * (big ? width - 1 - k : k));
    return v;
  };
  if ((codec == Codec::kUtf16 || codec == Codec::kUtf32) && d->bytes.size() >= width) {
    if (unit(0) == 0xfeff) {
      at = width;
    } else if (unit(0) == (four ? 0xfffe0000u : 0xfffeu)) {
      big = true;
      at = width;
    }
  }
  while (at < d->bytes.size()) {
    if (at + width > d->bytes.size()) {
      COBRA_TRY(d->Bad(at, d->bytes.size() - at, "truncated data"));
      break;
    }
    uint32_t c = unit(at);
    at += width;
    if (!four && c >= 0xd800 && c < 0xdc00 && at + 2 <= d->bytes.size() && unit(at) >= 0xdc00 && unit(at) < 0xe000) {
      c = 0x10000 + ((c - 0xd800) << 10) + (unit(at) - 0xdc00);
      at += 2;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
      COBRA_TRY(d->Bad(at - width, width, four ? "code point not in range(0x110000)" : "illegal encoding"));
      continue;
    }
    AppendUtf8(&d->out, c);
  }
  return {};
}

}  // namespace

Result<Value> EncodeText(Interpreter& interp, StrObject* s, absl::string_view encoding, absl::string_view errors) {
  COBRA_TRY(interp.Charge(StepsToScan(encoding.size())));
  COBRA_TRY_ASSIGN(CodecName codec, FindCodec(interp, encoding));
  COBRA_TRY(interp.Charge(s->ascii ? StepsToCopy(s->view().size()) : s->size / 4));
  if (codec.codec == Codec::kUtf8 || (s->ascii && (codec.codec == Codec::kAscii || codec.codec == Codec::kLatin1))) {
    return Value(interp.NewBytes(s->view()));
  }
  uint32_t limit = codec.codec == Codec::kAscii ? 0x80 : codec.codec == Codec::kLatin1 ? 0x100 : 0x110000;
  std::string out;
  if (codec.codec == Codec::kUtf16 || codec.codec == Codec::kUtf32) AppendWide(&out, codec.codec, 0xfeff);
  int64_t index = 0;
  for (int64_t at = 0; at < s->size; ++index) {
    uint32_t c = DecodeUtf8(s->data, &at);
    if (limit == 0x110000) {
      AppendWide(&out, codec.codec, c);
    } else if (c < limit) {
      out.push_back(static_cast<char>(c));
    } else if (!ReplaceInEncoding(errors, c, &out)) {
      return RaiseCodecError(interp, interp.types().UnicodeEncodeError, codec.shown, Value(s), index, index + 1,
                             absl::StrCat("ordinal not in range(", limit, ")"));
    }
  }
  return Value(interp.NewBytes(out));
}

namespace {

// Those of source files: gbk, cp1252, shift_jis.
Result<Value> DecodeAsSource(Interpreter& interp, absl::string_view bytes, absl::string_view encoding,
                             absl::string_view errors) {
  COBRA_TRY(interp.Charge(static_cast<int64_t>(bytes.size()) / 8));
  ast::Decoded decoded = ast::DecodeFrom(encoding, bytes);
  switch (decoded.kind) {
    case ast::EncodingKind::kDecoded: return Value(interp.NewStr(decoded.text));
    case ast::EncodingKind::kUtf8: return DecodeText(interp, bytes, "utf-8", errors);
    case ast::EncodingKind::kInvalid:
      if (errors != "strict") break;
      return RaiseCodecError(interp, interp.types().UnicodeDecodeError, decoded.name, Value(interp.NewBytes(bytes)),
                             static_cast<int64_t>(decoded.bad), static_cast<int64_t>(decoded.bad) + 1,
                             "illegal multibyte sequence");
    case ast::EncodingKind::kUnsupported: break;
    case ast::EncodingKind::kUnknown: return interp.Raise(interp.types().LookupError, "unknown encoding: ", encoding);
  }
  return interp.Unsupported(absl::StrCat("decoding from ", encoding));
}

// The escapes of a string's text, as between quotes; every other byte is a character of Latin-1.
Result<Value> DecodeEscapes(Interpreter& interp, absl::string_view bytes) {
  COBRA_TRY(interp.Charge(static_cast<int64_t>(bytes.size()) / 8));
  constexpr absl::string_view kPlain = "\\'\"abfnrtv";
  constexpr absl::string_view kMeant = "\\'\"\a\b\f\n\r\t\v";
  std::string out;
  auto digits = [&bytes](size_t begin, size_t most, int base, uint32_t* value) {
    size_t i = begin;
    for (*value = 0; i < bytes.size() && i < begin + most; ++i) {
      const int digit = absl::ascii_isdigit(bytes[i]) ? bytes[i] - '0' : absl::ascii_tolower(bytes[i]) - 'a' + 10;
      if (!absl::ascii_isxdigit(bytes[i]) || digit >= base) break;
      *value = *value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
    }
    return i - begin;
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '\\' || i + 1 == bytes.size()) {
      if (bytes[i] == '\\') return interp.Unsupported("decoding a single backslash at the end from unicode_escape");
      AppendUtf8(&out, static_cast<unsigned char>(bytes[i]));
      continue;
    }
    const char c = bytes[++i];
    uint32_t value = 0;
    if (const size_t plain = kPlain.find(c); plain != absl::string_view::npos) {
      out += kMeant[plain];
    } else if (c == '\n') {  // the line goes on
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      if (digits(i + 1, length, 16, &value) != length || value > 0x10ffff)
        return interp.Unsupported("decoding a damaged escape from unicode_escape");
      AppendUtf8(&out, value);
      i += length;
    } else if (const size_t length = digits(i, 3, 8, &value); length > 0) {
      AppendUtf8(&out, value);
      i += length - 1;
    } else if (c == 'N') {
      return interp.Unsupported("decoding names of characters from unicode_escape");
    } else {
      out += '\\';
      AppendUtf8(&out, static_cast<unsigned char>(c));
    }
  }
  return Value(interp.NewStr(out));
}

}  // namespace

Result<Value> DecodeText(Interpreter& interp, absl::string_view bytes, absl::string_view encoding,
                         absl::string_view errors) {
  COBRA_TRY(interp.Charge(StepsToScan(encoding.size())));
  if (absl::EqualsIgnoreCase(encoding, "utf-8-sig") || absl::EqualsIgnoreCase(encoding, "utf_8_sig")) {
    absl::ConsumePrefix(&bytes, "\xef\xbb\xbf");
    encoding = "utf-8";
  }
  if (absl::EqualsIgnoreCase(encoding, "unicode_escape") || absl::EqualsIgnoreCase(encoding, "unicode-escape"))
    return DecodeEscapes(interp, bytes);
  if (KnownCodec(encoding) == nullptr) return DecodeAsSource(interp, bytes, encoding, errors);
  COBRA_TRY_ASSIGN(CodecName codec, FindCodec(interp, encoding));
  COBRA_TRY(interp.Charge(static_cast<int64_t>(bytes.size()) / 8));
  Decoding d{interp, codec.shown, bytes, errors, ""};
  switch (codec.codec) {
    case Codec::kUtf8: COBRA_TRY(DecodeUtf8Text(&d)); break;
    case Codec::kAscii:
    case Codec::kLatin1:
      for (size_t i = 0; i < bytes.size(); ++i) {
        auto c = static_cast<unsigned char>(bytes[i]);
        if (c < 0x80 || codec.codec == Codec::kLatin1) {
          AppendUtf8(&d.out, c);
        } else {
          COBRA_TRY(d.Bad(i, 1, "ordinal not in range(128)"));
        }
      }
      break;
    default: COBRA_TRY(DecodeWide(&d, codec.codec));
  }
  return Value(interp.NewStr(d.out));
}

Result<Value> DecodeBytes(Interpreter& interp, absl::string_view bytes) {
  return DecodeText(interp, bytes, "utf-8", "strict");
}

}  // namespace cobra::python
