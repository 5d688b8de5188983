// Strings since Python 3.12: those that stand side by side become one, and f-strings are tokens
// (lexer_fstrings.cc). Positions and joined texts are those of CPython 3.13's action_helpers.c.
#include "absl/strings/str_cat.h"
#include "frontend/python/syntax/parse/parser_impl.h"

namespace cobra::python {
namespace ast {

using K = TokenKind;

namespace {

const Constant* TextOrNull(const ExprNode* e) {
  const Constant* constant = e->AsOrNull<Constant>();
  return constant != nullptr && constant->constant_kind == ConstantKind::kStr ? constant : nullptr;
}

// The text of `{expression=}` as CPython keeps it: without comments.
std::string WithoutComments(absl::string_view text) {
  std::string out;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      quote = quote == 0 ? c : quote == c ? 0 : quote;
    } else if (c == '#' && quote == 0) {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i < text.size()) out += '\n';
      continue;
    }
    out += c;
  }
  return out;
}

}  // namespace

const ExprNode* Parser::ParseStringsOfTokens() {
  const Start start = Here();
  Collector<ExprNode> parts(this);
  bool bytes = false, text = false, formatted = false;
  do {
    if (At(K::kFStringStart)) {
      formatted = text = true;
      if (!ParseFString(&parts)) return nullptr;
      continue;
    }
    const ExprNode* one = ParseStrings(absl::Span<const Token>(token_, 1));
    if (one == nullptr) return nullptr;
    (one->As<Constant>()->constant_kind == ConstantKind::kBytes ? bytes : text) = true;
    parts.Add(one);
    Advance();
  } while (AtString());
  if (bytes && text) return FailLiteral("cannot mix bytes and nonbytes literals");
  if (!formatted && parts.size() == 1) return parts.back();
  return JoinStrings(From(start), parts.Take(), formatted);
}

// Texts side by side are one; an empty one is dropped. Without a field it is a constant.
const ExprNode* Parser::JoinStrings(const Position& pos, Seq<ExprNode> parts, bool formatted) {
  Collector<ExprNode> joined(this);
  for (size_t i = 0; i < parts.size();) {
    size_t end = i;
    while (end < parts.size() && parts[end]->Is<Constant>()) ++end;
    const ExprNode* part = end > i + 1 ? FoldTexts(parts.subspan(i, end - i)) : parts[i];
    i = std::max(end, i + 1);
    const Constant* text = TextOrNull(part);
    if (!formatted || text == nullptr || !text->text.empty()) joined.Add(part);
  }
  if (!formatted) return joined.back();
  JoinedStr* node = builder_->Node<JoinedStr>(pos);
  node->values = joined.Take();
  return WithHeight(node, HeightOf(node->values));
}

const Constant* Parser::FoldTexts(Seq<ExprNode> parts) {
  const Constant* first = parts.front()->As<Constant>();
  const Position& last = parts.back()->pos;
  std::string text;
  for (const ExprNode* part : parts) absl::StrAppend(&text, part->As<Constant>()->text);
  return MakeText(first->constant_kind, text, first->is_u_string,
                  {first->pos.line, first->pos.col, last.end_line, last.end_col});
}

bool Parser::ParseFString(Collector<ExprNode>* parts) {
  Depth depth(this);
  if (depth.exceeded()) return false;
  const absl::string_view prefix = TextOf(*token_);
  const bool raw = prefix.find_first_of("rR") != absl::string_view::npos;
  Advance();
  return ParseFStringParts(raw, false, parts) && Accept(K::kFStringEnd);
}

bool Parser::ParseFStringParts(bool raw, bool specification, Collector<ExprNode>* parts) {
  for (;;) {
    if (At(K::kFStringMiddle)) {
      std::string text;
      if (raw) {
        text = std::string(TextOf(*token_));
      } else if (!DecodeEscapes(TextOf(*token_), &text)) {
        return false;
      }
      if (!text.empty()) parts->Add(MakeText(ConstantKind::kStr, text, false, token_->pos));
      Advance();
    } else if (At(K::kLBrace)) {
      if (!ParseFStringField(specification, parts)) return false;
    } else {
      return true;
    }
  }
}

// `{expression [=] [!conversion] [:specification]}`; with `=` its text comes before it.
bool Parser::ParseFStringField(bool nested, Collector<ExprNode>* parts) {
  const Start start = Here();
  const int32_t begin = token_->end;
  Advance();
  const ExprNode* value = ParseYieldOrStarExpressions();
  if (value == nullptr) return false;
  const bool debug = Accept(K::kEqual);
  const int32_t end = token_->begin;
  Position text_pos = {start.line, start.col + 1, token_->pos.line, token_->pos.col};
  int conversion = -1;
  if (At(K::kOther) && TextOf(*token_) == "!") {
    const int32_t behind = token_->end;
    Advance();
    if (!At(K::kName)) return false;
    if (token_->begin != behind)
      return FailLiteralAt(*token_, "f-string: conversion type must come right after the exclamation mark") != nullptr;
    const absl::string_view name = TextOf(*token_);
    if (name != "s" && name != "r" && name != "a") {
      return FailLiteralAt(*token_, absl::StrCat("f-string: invalid conversion character '", name,
                                                 "': expected 's', 'r', or 'a'")) != nullptr;
    }
    conversion = static_cast<unsigned char>(name[0]);
    Advance();
  }
  const ExprNode* specification = nullptr;
  if (At(K::kColon) && (specification = ParseSpecification()) == nullptr) return false;
  if (!Accept(K::kRBrace)) return false;
  if (debug) {
    if (specification == nullptr && conversion == -1) conversion = 'r';
    const absl::string_view text = text_.substr(begin, end - begin);
    parts->Add(MakeText(ConstantKind::kStr, WithoutComments(text), false, text_pos));
  }
  FormattedValue* node = Make<FormattedValue>(start);
  node->value = value;
  node->conversion = conversion;
  node->format_spec = specification;
  if (WithHeight(node, HeightOf(value, specification)) == nullptr) return false;
  parts->Add(node);
  return true;
}

const ExprNode* Parser::ParseSpecification() {
  const Start start = Here();
  Advance();
  Collector<ExprNode> collected(this);
  if (!ParseFStringParts(false, true, &collected)) return nullptr;
  const Seq<ExprNode> parts = collected.Take();
  bool formatted = parts.size() < 2;
  for (const ExprNode* part : parts) formatted |= !part->Is<Constant>();
  return JoinStrings(From(start), parts, formatted);
}

}  // namespace ast
}  // namespace cobra::python
