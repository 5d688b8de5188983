#include "lab/published/cobra/wordpiece.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/status_macros.h"

namespace cobra::lab {
namespace {

constexpr size_t kLongestWord = 100;  // as in BERT

}  // namespace

absl::StatusOr<WordPieceVocabulary> WordPieceVocabulary::FromText(absl::string_view text) {
  WordPieceVocabulary v;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    v.ids_.try_emplace(std::string(line), static_cast<int32_t>(v.pieces_.size()));
    v.pieces_.emplace_back(line);
  }
  const std::pair<const char*, int32_t*> special[] = {
      {"[PAD]", &v.pad_}, {"[UNK]", &v.unknown_}, {"[CLS]", &v.cls_}, {"[SEP]", &v.sep_}, {"[MASK]", &v.mask_}};
  for (const auto& [name, id] : special) {
    const auto found = v.ids_.find(name);
    if (found == v.ids_.end())
      return absl::InvalidArgumentError(absl::StrCat(name, ": the vocabulary has no such line"));
    *id = found->second;
  }
  return v;
}

absl::StatusOr<WordPieceVocabulary> WordPieceVocabulary::Load(absl::string_view path) {
  if (!FileExists(path))
    return absl::NotFoundError(absl::StrCat(path, ": no such file; scripts/setup.sh --wordpiece fetches it"));
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<WordPieceVocabulary> vocabulary = FromText(text);
  if (!vocabulary.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", vocabulary.status().message()));
  return vocabulary;
}

std::vector<WordPiece> WordPieceVocabulary::Split(absl::string_view text) const {
  const std::string lower = absl::AsciiStrToLower(text);
  std::vector<WordPiece> pieces;
  for (size_t i = 0; i < lower.size();) {
    const auto c = static_cast<unsigned char>(lower[i]);
    if (absl::ascii_isspace(c) || absl::ascii_iscntrl(c)) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    if (!absl::ascii_ispunct(c)) {
      const auto inside = [](unsigned char d) {
        return !absl::ascii_isspace(d) && !absl::ascii_iscntrl(d) && !absl::ascii_ispunct(d);
      };
      while (end < lower.size() && inside(static_cast<unsigned char>(lower[end]))) ++end;
    }
    SplitWord(lower, i, end, &pieces);
    i = end;
  }
  return pieces;
}

void WordPieceVocabulary::SplitWord(absl::string_view text, size_t begin, size_t end,
                                    std::vector<WordPiece>* out) const {
  const size_t before = out->size();
  bool known = end - begin <= kLongestWord;
  for (size_t i = begin; i < end && known;) {
    size_t stop = end;
    for (; stop > i; --stop) {
      const auto found = ids_.find(absl::StrCat(i == begin ? "" : "##", text.substr(i, stop - i)));
      if (found == ids_.end()) continue;
      out->push_back({found->second, i, stop - i});
      break;
    }
    known = stop > i;
    i = stop;
  }
  if (known) return;
  out->resize(before);
  out->push_back({unknown_, begin, end - begin});
}

}  // namespace cobra::lab
