#include "base/file/file.h"

#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/new_file.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"

namespace cobra {
namespace {

namespace fs = std::filesystem;

// What unpacking an xz file may allocate: `xz -9` needs 65 MB, and a damaged header can ask for 4
// GB.
constexpr uint64_t kMaxXzMemory = uint64_t{1} << 28;

absl::Status ErrnoStatus(absl::string_view path, absl::string_view what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

absl::Status TooLarge(absl::string_view path, int64_t max_bytes) {
  return absl::ResourceExhaustedError(LimitMessage(path, max_bytes, "bytes"));
}

// zlib counts what it is given at once in 32 bits.
constexpr size_t kZlibPiece = size_t{1} << 20;

// Gives zlib the next piece of `rest`, if it has taken the one before.
void Feed(absl::string_view* rest, z_stream* z) {
  if (z->avail_in > 0) return;
  const absl::string_view piece = rest->substr(0, kZlibPiece);
  rest->remove_prefix(piece.size());
  z->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib only reads it
  z->avail_in = static_cast<uInt>(piece.size());
}

// Of several members, one after the other as `cat` joins files, all; zeros may follow the last one
// (RFC 1952, and as gzip and Python's gzip read it).
absl::StatusOr<std::string> Gunzip(absl::string_view path, absl::string_view raw, int64_t max_bytes) {
  z_stream z = {};
  if (inflateInit2(&z, 15 + 16) != Z_OK) return absl::InternalError("zlib: inflateInit2 failed");
  absl::string_view rest = raw;
  std::string out;
  char buffer[1 << 16];
  int code = Z_OK;
  while (true) {
    Feed(&rest, &z);
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof(buffer);
    code = inflate(&z, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END) break;
    out.append(buffer, sizeof(buffer) - z.avail_out);
    if (static_cast<int64_t>(out.size()) > max_bytes) break;
    if (code == Z_OK) continue;
    rest = raw.substr(raw.size() - rest.size() - z.avail_in);  // what this member has not taken
    z.avail_in = 0;
    if (rest.find_first_not_of('\0') == absl::string_view::npos || inflateReset(&z) != Z_OK) break;
  }
  inflateEnd(&z);
  if (static_cast<int64_t>(out.size()) > max_bytes) return TooLarge(path, max_bytes);
  if (code == Z_BUF_ERROR) return absl::DataLossError(absl::StrCat(path, ": truncated gzip file"));
  if (code != Z_STREAM_END) return absl::DataLossError(absl::StrCat(path, ": damaged gzip file"));
  return out;
}

absl::StatusOr<std::string> Unxz(absl::string_view path, absl::string_view raw, int64_t max_bytes) {
  lzma_stream z = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&z, kMaxXzMemory, LZMA_CONCATENATED) != LZMA_OK) {
    return absl::InternalError("liblzma: lzma_stream_decoder failed");
  }
  z.next_in = reinterpret_cast<const uint8_t*>(raw.data());
  z.avail_in = raw.size();
  std::string out;
  char buffer[1 << 16];
  lzma_ret code = LZMA_OK;
  while (code == LZMA_OK && static_cast<int64_t>(out.size()) <= max_bytes) {
    z.next_out = reinterpret_cast<uint8_t*>(buffer);
    z.avail_out = sizeof(buffer);
    code = lzma_code(&z, LZMA_FINISH);
    out.append(buffer, sizeof(buffer) - z.avail_out);
  }
  lzma_end(&z);
  if (static_cast<int64_t>(out.size()) > max_bytes) return TooLarge(path, max_bytes);
  if (code == LZMA_MEMLIMIT_ERROR) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": xz file: ", LimitMessage("its dictionary", kMaxXzMemory, "bytes")));
  }
  if (code != LZMA_STREAM_END) return absl::DataLossError(absl::StrCat(path, ": truncated or damaged xz file"));
  return out;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(absl::string_view path, int64_t max_bytes) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(std::string(path).c_str(), "rb"), &std::fclose);
  if (!file) return ErrnoStatus(path, "cannot be opened");
  if (IsDirectory(path)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory"));
  std::string contents;
  char buffer[1 << 16];
  while (size_t n = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    contents.append(buffer, n);
    if (static_cast<int64_t>(contents.size()) > max_bytes) return TooLarge(path, max_bytes);
  }
  if (std::ferror(file.get())) return ErrnoStatus(path, "cannot be read");
  return contents;
}

absl::StatusOr<std::string> ReadMaybeCompressed(absl::string_view path, int64_t max_bytes) {
  COBRA_ASSIGN_OR_RETURN(std::string raw, ReadFile(path, max_bytes));
  if (absl::StartsWith(raw, "\x1f\x8b")) return Gunzip(path, raw, max_bytes);
  if (absl::StartsWith(raw, absl::string_view("\xfd"
                                              "7zXZ\0",
                                              6)))
    return Unxz(path, raw, max_bytes);
  return raw;
}

namespace {

// A pipe, a device: what it is stays.
absl::Status WriteInPlace(const std::string& path, absl::string_view contents) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return ErrnoStatus(path, "cannot be written");
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  return std::fclose(file) == 0 && written ? absl::OkStatus() : ErrnoStatus(path, "cannot be written");
}

}  // namespace

absl::Status WriteFileAtomic(absl::string_view path, absl::string_view contents) {
  std::string target(path);
  std::error_code error;
  if (fs::is_symlink(target, error)) {  // the link stays, too
    const fs::path linked = fs::weakly_canonical(target, error);
    if (!error) target = linked.string();
  }
  if (fs::exists(target, error) && !fs::is_regular_file(target, error) && !fs::is_directory(target, error))
    return WriteInPlace(target, contents);
  std::string temporary;
  FILE* file = CreateBeside(target, &temporary);
  if (file == nullptr) return ErrnoStatus(path, "cannot be created");
  bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  written = std::fflush(file) == 0 && written;
  written = ::fsync(::fileno(file)) == 0 && written;
  written = std::fclose(file) == 0 && written;
  if (!written || std::rename(temporary.c_str(), target.c_str()) != 0) {
    absl::Status status = ErrnoStatus(path, "cannot be written");
    std::remove(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

std::string Gzip(absl::string_view contents) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out;
  char buffer[1 << 16];
  int code = Z_OK;
  while (code == Z_OK) {
    Feed(&contents, &z);
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof(buffer);
    code = deflate(&z, contents.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(buffer, sizeof(buffer) - z.avail_out);
  }
  deflateEnd(&z);
  return out;
}

absl::Status WriteMaybeGzip(absl::string_view path, absl::string_view contents) {
  return absl::EndsWith(path, ".gz") ? WriteFileAtomic(path, Gzip(contents)) : WriteFileAtomic(path, contents);
}

bool IsDirectory(absl::string_view path) {
  std::error_code error;
  return fs::is_directory(std::string(path), error);
}

bool FileExists(absl::string_view path) {
  std::error_code error;
  return fs::exists(std::string(path), error);
}

bool IsPathInside(absl::string_view path) {
  if (path.size() > 4096 || path.find('\0') != absl::string_view::npos) return false;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

namespace {

uint64_t StampOf(const struct stat& s) {
  uint64_t stamp = 1;
  for (const uint64_t part : {static_cast<uint64_t>(s.st_ctim.tv_sec), static_cast<uint64_t>(s.st_ctim.tv_nsec),
                              static_cast<uint64_t>(s.st_size), static_cast<uint64_t>(s.st_ino)}) {
    stamp = (stamp ^ part) * 0x9fb21c651e98df25u;
    stamp ^= stamp >> 32;
  }
  return stamp | 1;
}

}  // namespace

uint64_t FileStamp(absl::string_view path) {
  struct stat s;
  return ::stat(std::string(path).c_str(), &s) == 0 ? StampOf(s) : 0;
}

uint64_t FileStamp(int descriptor) {
  struct stat s;
  return ::fstat(descriptor, &s) == 0 ? StampOf(s) : 0;
}

absl::Status MakeDirectories(absl::string_view path) {
  std::error_code error;
  fs::create_directories(std::string(path), error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat(path, ": cannot be created"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListFiles(absl::string_view root, absl::string_view suffix) {
  std::error_code error;
  const fs::path base{std::string(root)};
  fs::recursive_directory_iterator it(base, error), end;
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat(root, ": cannot be listed"));
  std::vector<std::string> files;
  for (; it != end; it.increment(error)) {
    if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat(root, ": cannot be listed"));
    if (it->is_symlink(error) || !it->is_regular_file(error)) continue;
    std::string name = it->path().lexically_relative(base).string();
    if (absl::EndsWith(name, suffix)) files.push_back(std::move(name));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace cobra
