#include "client/input/model_list.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/text/similar_words.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/input/list_source.h"
#include "client/input/named_model.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// Unpacked: a million rows with architecture strings have a fifth of it.
constexpr int64_t kMaxListBytes = int64_t{256} << 20;

constexpr int64_t kMostRowBytes = 4096;  // of a row's name, as Limits::name_bytes

enum ListColumn { kRow, kModel, kEntry, kInputs, kArguments, kMode, kLatencyMs, kNumColumns };
constexpr absl::string_view kColumns[kNumColumns] = {"row",       "model", "entry",     "inputs",
                                                     "arguments", "mode",  "latency_ms"};
constexpr char kFormatHint[] = "the first line names the columns: row,model,entry,inputs,arguments,mode";

// As much of a cell as a message shows.
std::string Shown(absl::string_view cell) {
  return cell.size() <= 60 ? std::string(cell) : absl::StrCat(cell.substr(0, 57), "...");
}

// Whether it is written as an architecture: SPACE:STRING, or SPACE,option=value:STRING.
bool LooksLikeArchitecture(absl::string_view model) {
  const absl::string_view space = model.substr(0, model.find_first_of(":,"));
  return absl::StrContains(model, ':') && !space.empty() &&
         std::all_of(space.begin(), space.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; });
}

class ValueSplitter {
 public:
  explicit ValueSplitter(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<std::string>> Split() {
    std::vector<std::string> values;
    while (true) {
      while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
      if (at_ == text_.size()) return values;
      COBRA_ASSIGN_OR_RETURN(std::string value, Value());
      values.push_back(std::move(value));
    }
  }

 private:
  absl::StatusOr<std::string> Value() {
    const size_t begin = at_;
    std::string open;  // brackets whose end must come
    for (; at_ < text_.size() && (!open.empty() || !absl::ascii_isspace(text_[at_])); ++at_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        const size_t end = EndOfQuote();
        if (end == absl::string_view::npos)
          return absl::InvalidArgumentError(absl::StrCat(Shown(text_.substr(at_)), ": the quote does not end"));
        at_ = end;
      } else if (c == '(' || c == '[' || c == '{') {
        open += c == '(' ? ')' : c == '[' ? ']' : '}';
      } else if (!open.empty() && c == open.back()) {
        open.pop_back();
      }
    }
    const absl::string_view value = text_.substr(begin, at_ - begin);
    if (!open.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(Shown(value), ": a \"", open.substr(open.size() - 1), "\" is missing"));
    const bool is_quoted = value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0] &&
                           value.find(value[0], 1) == value.size() - 1;
    return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
  }

  // The quote that ends the one at at_; npos if there is none. A backslash takes the next
  // character, as in Python.
  size_t EndOfQuote() const {
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == text_[at_]) {
        return i;
      }
    }
    return absl::string_view::npos;
  }

  const absl::string_view text_;
  size_t at_ = 0;
};

// Where the columns are in a row; -1: not in this list.
struct Columns {
  std::array<int, kNumColumns> at;
  std::vector<std::string> ignored;
};

absl::StatusOr<Columns> FindColumns(const std::vector<std::string>& header) {
  Columns columns;
  columns.at.fill(-1);
  for (size_t i = 0; i < header.size(); ++i) {
    const auto* known = std::find(std::begin(kColumns), std::end(kColumns), header[i]);
    if (known == std::end(kColumns)) {
      columns.ignored.push_back(header[i]);
      continue;
    }
    int& at = columns.at[static_cast<size_t>(known - std::begin(kColumns))];
    if (at >= 0) return UsageError(absl::StrCat("the column ", header[i], " is there twice"));
    at = static_cast<int>(i);
  }
  // A column that is misspelled must not be ignored: the answers would be those to other questions.
  std::vector<absl::string_view> absent;
  for (size_t i = 0; i < kLatencyMs; ++i) {
    if (columns.at[i] < 0) absent.push_back(kColumns[i]);
  }
  for (const std::string& name : columns.ignored) {
    const std::string plain = absl::AsciiStrToLower(absl::StripAsciiWhitespace(name));
    const bool is_column = std::find(absent.begin(), absent.end(), plain) != absent.end();
    const std::string meant = is_column ? plain : NearestName(plain, absent);
    if (!meant.empty()) {
      return UsageError(absl::StrCat(Shown(name), ": no such column"),
                        absl::StrCat("did you mean ", meant, "? To have the column ignored, rename it"));
    }
  }
  for (const ListColumn required : {kRow, kModel}) {
    if (columns.at[required] < 0)
      return UsageError(absl::StrCat("the column ", kColumns[required], " is missing"), kFormatHint);
  }
  return columns;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitValues(absl::string_view text) { return ValueSplitter(text).Split(); }

// The text, and the place in it.
class ModelList::Rows {
 public:
  Rows(ListSource source, ModelArguments of_all)
      : path_(std::move(source.name)),
        folder_(std::move(source.folder)),
        text_(std::move(source.text)),
        of_all_(std::move(of_all)) {}

  absl::Status Begin() {
    absl::StatusOr<CsvRows> rows = CsvRows::Open(text_);
    if (!rows.ok()) return WithPlace(1, rows.status());
    absl::StatusOr<Columns> columns = FindColumns(rows->header());
    if (!columns.ok()) return WithPlace(1, columns.status());
    rows_ = *std::move(rows);
    columns_ = *std::move(columns);
    return absl::OkStatus();
  }

  // `line`: of the row that is returned.
  absl::StatusOr<std::optional<ListedModel>> Next(int* line) {
    absl::StatusOr<std::optional<CsvTable::Row>> row = rows_->Next();
    if (!row.ok()) return WithPlace(0, row.status());
    if (!row->has_value()) return std::optional<ListedModel>();
    *line = (*row)->line;
    absl::StatusOr<ListedModel> model = Model(**row);
    if (!model.ok()) return WithPlace((*row)->line, model.status());
    return std::optional<ListedModel>(*std::move(model));
  }

  const Columns& columns() const { return columns_; }

  // "list.csv line 7: ..."; 0: the message begins with the line.
  absl::Status WithPlace(int line, const absl::Status& status) const {
    const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
    return UsageError(
        absl::StrCat(path_, " ", line == 0 || !diagnostic.has_value() ? "" : absl::StrCat("line ", line, ": "),
                     diagnostic.has_value() ? diagnostic->message : std::string(status.message())),
        diagnostic.has_value() ? diagnostic->hint : "");
  }

 private:
  absl::string_view Cell(const CsvTable::Row& row, ListColumn column) const {
    const int at = columns_.at[column];
    return at < 0 ? absl::string_view() : absl::string_view(row.fields[static_cast<size_t>(at)]);
  }

  absl::StatusOr<ListedModel> Model(const CsvTable::Row& row) const {
    for (size_t column = 0; column < std::size(kColumns); ++column) {
      if (!IsUtf8(Cell(row, static_cast<ListColumn>(column))))
        return UsageError(absl::StrCat("the cell of ", kColumns[column], " is not UTF-8"), "save the list as UTF-8");
    }
    ListedModel listed{std::string(Cell(row, kRow)), of_all_, std::string(Cell(row, kLatencyMs))};
    if (listed.row.empty()) return UsageError("the cell of row is empty", "give each row a unique name: 1, 2, ...");
    if (listed.row.size() > kMostRowBytes) return UsageError(LimitMessage("row", kMostRowBytes, "bytes"));
    if (WithoutEscapes(listed.row) != listed.row || absl::StrContains(listed.row, '\n')) {
      return UsageError(absl::StrCat("row ", Shown(listed.row), ": has control characters"),
                        "the answers repeat it, possibly on a terminal");
    }
    const auto error = [&listed](absl::string_view column, absl::string_view why, std::string hint) {
      return UsageError(absl::StrCat("row ", Shown(listed.row), ": ", column, why), std::move(hint));
    };
    if (Cell(row, kModel).empty())
      return error("the cell of model is empty", "",
                   "a file, a folder, SPACE:STRING or a built-in name: torchvision:resnet18");
    absl::StatusOr<NamedModel> named = PlaceModel(std::string(Cell(row, kModel)), &listed.model);
    listed.found = named.status();
    if (!named.ok()) {
      listed.model.path = std::string(Cell(row, kModel));
      named = NamedModel();
    }
    // A model's name stands for its list's row; what this row says counts more.
    const auto cell = [this, &row](ListColumn column, const std::string& of_name) {
      return Cell(row, column).empty() ? of_name : std::string(Cell(row, column));
    };
    listed.model.entry = cell(kEntry, named->entry);
    for (const auto& [column, values, of_name] : {std::tuple(kInputs, &listed.model.inputs, named->inputs),
                                                  std::tuple(kArguments, &listed.model.arguments, std::string())}) {
      absl::StatusOr<std::vector<std::string>> split = SplitValues(cell(column, of_name));
      if (!split.ok()) {
        return error(absl::StrCat(kColumns[column], ": "), split.status().message(),
                     "values are separated by blanks; blanks within brackets or quotes belong to a value");
      }
      *values = *std::move(split);
    }
    const absl::string_view mode = Cell(row, kMode);
    if (!mode.empty() && mode != "eval" && mode != "train")
      return error("mode ", absl::StrCat(Shown(mode), ": is neither eval nor train"), "an empty cell is eval");
    listed.model.training = mode == "train";
    return listed;
  }

  // A file of the list's folder, else one of the current folder, else one of a library, else the
  // name of a model of ours, which is returned, else an architecture.
  absl::StatusOr<NamedModel> PlaceModel(std::string cell, ModelArguments* model) const {
    NamedModel named;
    const std::string beside = folder_.empty() ? cell : (fs::path(folder_) / cell).string();
    const auto of_library = std::find_if(of_all_.libraries.begin(), of_all_.libraries.end(), [&](const auto& library) {
      return FileExists((fs::path(library) / cell).string());
    });
    if (FileExists(beside)) {
      model->path = beside;
    } else if (!FileExists(cell) && of_library != of_all_.libraries.end()) {
      model->path = (fs::path(*of_library) / cell).string();
    } else if (!FileExists(cell) && IsModelName(cell)) {
      COBRA_ASSIGN_OR_RETURN(named, FindNamedModel(cell));
      COBRA_ASSIGN_OR_RETURN(model->path, FileOfNamedModel(named, cell, of_all_.libraries));
    } else if (!FileExists(cell) && LooksLikeArchitecture(cell)) {
      model->architecture = std::move(cell);
    } else {
      model->path = std::move(cell);
    }
    // Of a list, these are where programs are read, and other models have nothing to do with it.
    const bool is_program = !model->path.empty() && (absl::EndsWith(model->path, ".py") || IsDirectory(model->path));
    if (is_program) return named;
    model->libraries.clear();
    model->torch_version.clear();
    return named;
  }

  const std::string path_, folder_, text_;
  const ModelArguments of_all_;
  std::optional<CsvRows> rows_;
  Columns columns_;
};

ModelList::ModelList(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
bool ModelList::has_latencies() const { return rows_->columns().at[kLatencyMs] >= 0; }
ModelList::ModelList(ModelList&&) = default;
ModelList::~ModelList() = default;

absl::StatusOr<ModelList> ModelList::Load(const std::string& given, ModelArguments of_all, absl::string_view flag) {
  COBRA_ASSIGN_OR_RETURN(ListSource source, ReadListSource(given, flag, kMaxListBytes));
  if (source.of_library && of_all.libraries.empty()) {
    return UsageError(absl::StrCat(flag, " ", given, ": its models are in the library"),
                      absl::StrCat("say where ", given, " is installed: --library /usr/lib/python3/dist-packages"));
  }
  const std::string path = source.name;
  ModelList list(std::make_unique<Rows>(std::move(source), std::move(of_all)));
  COBRA_RETURN_IF_ERROR(list.rows_->Begin());
  list.ignored_ = list.rows_->columns().ignored;
  absl::flat_hash_map<std::string, int> lines;
  while (true) {
    int line = 0;
    COBRA_ASSIGN_OR_RETURN(const std::optional<ListedModel> model, list.rows_->Next(&line));
    if (!model.has_value()) break;
    const auto [first, is_new] = lines.emplace(model->row, line);
    if (!is_new) {
      return UsageError(
          absl::StrCat(path, " line ", line, ": row ", Shown(model->row), ": is that of line ", first->second, ", too"),
          "give each row a unique name: it identifies the answer");
    }
  }
  list.size_ = static_cast<int64_t>(lines.size());
  if (list.size_ == 0) return UsageError(absl::StrCat(path, ": has no rows"), kFormatHint);
  COBRA_RETURN_IF_ERROR(list.rows_->Begin());
  return list;
}

std::optional<ListedModel> ModelList::Next() {
  int line = 0;
  absl::StatusOr<std::optional<ListedModel>> model = rows_->Next(&line);
  return model.ok() ? *std::move(model) : std::nullopt;  // Load() has checked it
}

std::string ModelKey(const ModelArguments& model) {
  return absl::StrCat(model.path, "\n", model.architecture, "\n", model.entry, "\n", absl::StrJoin(model.inputs, "\t"),
                      "\n", absl::StrJoin(model.arguments, "\t"), "\n", model.training);
}

}  // namespace cobra::client
