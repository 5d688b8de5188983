// The tokenizer of BERT-uncased (Devlin et al., 2019; section 3 of COBRA): lower case, split at
// blanks and around every punctuation character, then the longest piece of the vocabulary first;
// pieces inside a word begin with "##". Only ASCII is supported, because calls of layers contain
// nothing else.
#ifndef COBRA_LAB_PUBLISHED_COBRA_WORDPIECE_H_
#define COBRA_LAB_PUBLISHED_COBRA_WORDPIECE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::lab {

struct WordPiece {
  int32_t id = 0;
  size_t begin = 0;  // in the text
  size_t size = 0;
};

class WordPieceVocabulary {
 public:
  // One piece a line; the line's number, from 0, is its id. InvalidArgument without [PAD], [UNK],
  // [CLS], [SEP] and [MASK].
  static absl::StatusOr<WordPieceVocabulary> FromText(absl::string_view text);
  // NotFound, which says how to get the file, if it does not exist (scripts/setup.sh --wordpiece).
  static absl::StatusOr<WordPieceVocabulary> Load(absl::string_view path);

  // Without [CLS] and [SEP]. A word that cannot be composed of pieces, or has more than 100
  // characters, is one [UNK].
  std::vector<WordPiece> Split(absl::string_view text) const;

  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  const std::string& piece(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  int32_t pad() const { return pad_; }
  int32_t cls() const { return cls_; }
  int32_t sep() const { return sep_; }
  int32_t mask() const { return mask_; }

 private:
  void SplitWord(absl::string_view text, size_t begin, size_t end, std::vector<WordPiece>* out) const;

  std::vector<std::string> pieces_;
  absl::flat_hash_map<std::string, int32_t> ids_;
  int32_t pad_ = 0, unknown_ = 0, cls_ = 0, sep_ = 0, mask_ = 0;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_WORDPIECE_H_
