#include "client/check/suite.h"

#include <optional>

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<SuiteModel> Parsed(absl::string_view text) {
  absl::StatusOr<std::vector<SuiteModel>> suite = ParseSuite(text, "cobra.toml");
  EXPECT_TRUE(suite.ok()) << suite.status();
  return suite.ok() ? *std::move(suite) : std::vector<SuiteModel>(1);
}

// "LINE: message (hint)"
std::string ErrorOf(absl::string_view text) {
  const absl::StatusOr<std::vector<SuiteModel>> suite = ParseSuite(text, "cobra.toml");
  EXPECT_FALSE(suite.ok());
  const std::optional<Diagnostic> d = DiagnosticFromStatus(suite.status());
  if (!d.has_value()) return std::string(suite.status().message());
  EXPECT_EQ(d->position.file, "cobra.toml");
  return absl::StrCat(d->position.line, ": ", d->message, " (", d->hint, ")");
}

TEST(SuiteTest, KeysOfAModelCountBeforeThoseOfAll) {
  const std::vector<SuiteModel> suite = Parsed(R"toml(
[defaults]
targets = ["cpu", "gpu"]
max-increase = "2.5%"
inputs = ["1x3x64x64"]
budget-ms = 50

[models.zebra]
model = "zebra.py"
entry = "Net()"

[models."a b"]
model = "b.onnx"
inputs = ["1x3x32x32", "mask=1x32:int64"]
targets = "cpu"
budget-ms = { cpu = 2.5 }
max-increase = "10 %"
min-confidence = 0.5
noise = "3%"
)toml");
  ASSERT_EQ(suite.size(), 2u);
  EXPECT_EQ(suite[0].name, "zebra");  // in the order of the file
  EXPECT_EQ(suite[0].line, 8);
  EXPECT_EQ(suite[0].model.path, "zebra.py");
  EXPECT_EQ(suite[0].model.entry, "Net()");
  EXPECT_THAT(suite[0].model.inputs, ElementsAre("1x3x64x64"));
  EXPECT_THAT(suite[0].targets, ElementsAre("cpu", "gpu"));
  EXPECT_THAT(suite[0].budgets_ms, ElementsAre(Pair("", 50)));
  EXPECT_DOUBLE_EQ(suite[0].thresholds.max_increase, 0.025);
  EXPECT_EQ(suite[0].thresholds.min_confidence, -1);
  EXPECT_EQ(suite[1].name, "a b");
  EXPECT_THAT(suite[1].model.inputs, ElementsAre("1x3x32x32", "mask=1x32:int64"));
  EXPECT_THAT(suite[1].targets, ElementsAre("cpu"));
  EXPECT_THAT(suite[1].budgets_ms, ElementsAre(Pair("cpu", 2.5)));
  EXPECT_DOUBLE_EQ(suite[1].thresholds.max_increase, 0.1);
  EXPECT_DOUBLE_EQ(suite[1].thresholds.noise, 0.03);
  EXPECT_EQ(suite[1].thresholds.min_confidence, 0.5);
}

TEST(SuiteTest, AllThatACommandLineCanAsk) {
  const SuiteModel model = Parsed(R"toml([models.m]
model = "net.py"
method = "encode"
arguments = ["deep=True"]
libraries = ["third_party"]
mode = "train"
torch-version = "2.5.0"
cached-tokens = 128
)toml")[0];
  EXPECT_EQ(model.model.method, "encode");
  EXPECT_THAT(model.model.arguments, ElementsAre("deep=True"));
  EXPECT_THAT(model.model.libraries, ElementsAre("third_party"));
  EXPECT_TRUE(model.model.training);
  EXPECT_EQ(model.model.torch_version, "2.5.0");
  EXPECT_EQ(model.model.cached_tokens, 128);
  EXPECT_EQ(Parsed("[models.m]\narch = \"nasbench201:x\"\n")[0].model.architecture, "nasbench201:x");
}

TEST(SuiteTest, UnknownKeysNameTheNearest) {
  EXPECT_EQ(ErrorOf("[models.m]\nmodel = \"a.py\"\nbudget_ms = 5\n"),
            "3: budget_ms: is not a key of the model m (did you mean budget-ms?)");
  EXPECT_EQ(ErrorOf("[model.m]\nmodel = \"a.py\"\n"),
            "1: model: is not a key at the top of the file (did you mean models?)");
  EXPECT_THAT(ErrorOf("[defaults]\nqwertyuiop = 1\n"), HasSubstr("keys there: model, arch, entry"));
}

TEST(SuiteTest, ErrorsNameTheLine) {
  const struct {
    const char* text;
    const char* error;
  } kCases[] = {
      {"[models.m\n", "1: is not TOML: "},
      {"[models.m]\nmodel = \"a.py\"\n[models.m]\n", "3: is not TOML: "},
      {"", "has no models"},
      {"[models]\n", "has no models"},
      {"[models]\nm = \"a.py\"\n", "2: models.m: is not a table"},
      {"models = 5\n", "1: models: is not a table"},
      {"[models.m]\nentry = \"Net()\"\n", "1: m: has no model"},
      {"[models.m]\nmodel = \"a.py\"\narch = \"b\"\n", "1: m: has both model and arch"},
      {"[models.m]\nmodel = 5\n", "2: model: is not a text"},
      {"[models.m]\nmodel = \"\"\n", "2: model: is not a text"},
      {"[models.m]\nmodel = \"a\\u0000.py\"\n", "2: model: is not a text"},
      {"[models.m]\nmodel = \"a.py\"\ninputs = [\"1x3\", 5]\n", "3: inputs: is not a text"},
      {"[models.m]\nmodel = \"a.py\"\nmax-increase = 0.05\n", "3: max-increase: is not a percentage"},
      {"[models.m]\nmodel = \"a.py\"\nmax-increase = \"5\"\n", "3: max-increase: is not a percentage"},
      {"[models.m]\nmodel = \"a.py\"\nbudget-ms = 0\n", "3: budget-ms: is not a number above 0"},
      {"[models.m]\nmodel = \"a.py\"\nbudget-ms = inf\n", "3: budget-ms: is not a number above 0"},
      {"[models.m]\nmodel = \"a.py\"\nbudget-ms = { cpu = \"x\" }\n", "3: budget-ms.cpu: is not a number above 0"},
      {"[models.m]\nmodel = \"a.py\"\nmode = \"fast\"\n", "3: mode: fast is not a mode"},
      {"[models.m]\nmodel = \"a.py\"\nmin-confidence = 1.5\n", "3: min-confidence: is not a number from 0 to 1"},
      {"[models.m]\nmodel = \"a.py\"\ncached-tokens = 0\n", "3: cached-tokens: is not a number of tokens"},
      {"[defaults]\nmodel = \"a.py\"\n", "2: model: is not allowed in [defaults]"},
      {"[models.m]\nmodel = \"a.py\"\ntargets = [\"cpu\"]\nbudget-ms = { gpu = 5 }\n",
       "1: m: has a budget for gpu, which is not one of its targets (its targets: cpu)"},
  };
  for (const auto& c : kCases) EXPECT_THAT(ErrorOf(c.text), HasSubstr(c.error)) << c.text;
}

TEST(SuiteTest, DeepOrLargeFilesAreRefused) {
  EXPECT_THAT(ErrorOf(absl::StrCat("a = ", std::string(100000, '['))), HasSubstr("is not TOML"));
  EXPECT_THAT(ErrorOf(std::string((1 << 20) + 1, '#')), HasSubstr("more than the limit of"));
}

}  // namespace
}  // namespace cobra::client
