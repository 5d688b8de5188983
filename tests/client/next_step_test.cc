#include "client/program/next_step.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "base/user_error.h"
#include "client/input/input_errors.h"
#include "client/input/input_proposal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string HintOf(const absl::Status& status) { return DiagnosticFromStatus(status).value_or(Diagnostic()).hint; }

std::string Meant(const std::string& message, const std::vector<std::string>& words) {
  return HintOf(WithNextStep(UserError(Diagnostic::Kind::kUsage, message, "as before"), words));
}

TEST(NextStepTest, TheWholeCommandIsNamed) {
  EXPECT_EQ(Meant("net.py: no such command", {"net.py", "--input", "1x3"}),
            "did you mean: cobra-client predict net.py --input 1x3");
  EXPECT_EQ(Meant("1x3x8x8: unexpected argument", {"predict", "my net.py", "1x3x8x8", "-q"}),
            "did you mean: cobra-client predict 'my net.py' --input 1x3x8x8 -q");
  EXPECT_EQ(Meant("b: unexpected argument", {"predict", "net.py", "--target", "a,", "b"}),
            "did you mean: cobra-client predict net.py --target a,b");
  EXPECT_EQ(Meant("help: no such command", {"help", "sweep"}), "did you mean: cobra-client sweep --help");
  EXPECT_EQ(Meant("b: unexpected argument", {"predict", "net.py", "b"}), "as before");
  EXPECT_EQ(Meant("--bogus: no such flag", {"--bogus"}), "as before");
  EXPECT_THAT(Meant("which command?", {}), HasSubstr("as before; for example: cobra-client predict"));
}

TEST(NextStepTest, WhatOtherProgramsCallAThingIsSaidHere) {
  const auto hint = [](const std::string& flag) {
    return Meant(flag + ": cobra-client predict has no such flag", {"predict", "net.py", flag});
  };
  EXPECT_THAT(hint("--device"), HasSubstr("--target NAME"));
  EXPECT_THAT(hint("--batch=8"), HasSubstr("--input: 8x3x224x224"));
  EXPECT_THAT(hint("--fp16"), HasSubstr("precision"));
  EXPECT_THAT(hint("--model"), HasSubstr("cobra-client predict net.py"));
  EXPECT_THAT(hint("-o"), HasSubstr("--out FILE"));
  EXPECT_EQ(hint("--targt"), "as before");
  EXPECT_EQ(hint("--"), "as before");
  EXPECT_EQ(Meant("--device: is missing", {"predict", "--device"}), "as before");
}

TEST(NextStepTest, OtherErrorsStayAsTheyAre) {
  EXPECT_EQ(WithNextStep(absl::InternalError("x"), {"net.py"}), absl::InternalError("x"));
}

TEST(NextStepTest, AMisspelledFileIsFound) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("next" + std::to_string(::getpid()));
  fs::create_directories(folder / "models");
  std::ofstream(folder / "resnet.py") << "";
  EXPECT_EQ(HintOf(NoSuchModel((folder / "resent.py").string())),
            "did you mean " + (folder / "resnet.py").string() + "?");
  EXPECT_EQ(HintOf(NoSuchModel((folder / "modles").string())), "did you mean " + (folder / "models").string() + "?");
  EXPECT_EQ(HintOf(NoSuchModel((folder / "gone" / "deeper.py").string())), "");
  EXPECT_THAT(HintOf(NoSuchModel("nobody_has_this_one")), HasSubstr("give the file that defines the model"));
  fs::remove_all(folder);
}

TEST(InputProposalTest, TheMessageSaysHowManyAreMissing) {
  EXPECT_EQ(MissingInputs("TypeError: Net.forward() missing 1 required positional argument: 'x'"), 1);
  EXPECT_EQ(MissingInputs("TypeError: Net.forward() missing 2 required positional arguments: 'x' and 'y'"), 2);
  EXPECT_EQ(MissingInputs("RuntimeError: missing keys"), 0);
  EXPECT_EQ(MissingInputs("forward() missing 99999999999999999999 required positional arguments"), 0);
}

TEST(InputProposalTest, TheErrorOfATrialCorrectsIt) {
  EXPECT_EQ(CorrectedInput("RuntimeError: Given groups=1, weight of size [8, 1, 3, 3], expected input[1, 3, 224, 224] "
                           "to have 1 channels, but got 3 channels instead",
                           "1x3x224x224"),
            "1x1x224x224");
  EXPECT_EQ(CorrectedInput("RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x16 and 784x10)", "1x16"),
            "1x784");
  EXPECT_EQ(CorrectedInput("RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x64 and 512x10)", "1x16x64"),
            "1x16x512");
  EXPECT_EQ(CorrectedInput("RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)", "1x3x224x224"), "");
  EXPECT_EQ(CorrectedInput("", "1x16"), "");
}

TEST(InputProposalTest, AModelGetsInputsThatItTakes) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("proposal" + std::to_string(::getpid()));
  fs::create_directories(folder);
  ModelArguments model;
  model.path = (folder / "net.py").string();
  model.entry = "Net()";
  std::ofstream(model.path) << "from torch import nn\nclass Net(nn.Module):\n  def __init__(self):\n"
                               "    super().__init__()\n    self.a = nn.Linear(784, 10)\n"
                               "  def forward(self, x):\n    return self.a(x)\n";
  Diagnostic missing;
  missing.kind = Diagnostic::Kind::kUsage;
  missing.message = "TypeError: Net.forward() missing 1 required positional argument: 'x'";
  const absl::Status proposed = WithProposedInputs(DiagnosticToStatus(missing), model);
  EXPECT_EQ(DiagnosticFromStatus(proposed)->example_inputs, " --input 1x784");
  // What the file itself proposes is better.
  missing.example_inputs = " --input 7x7";
  EXPECT_EQ(DiagnosticFromStatus(WithProposedInputs(DiagnosticToStatus(missing), model))->example_inputs,
            " --input 7x7");
  missing.example_inputs.clear();
  missing.message = "TypeError: Net.forward() missing 9 required positional arguments: ...";
  EXPECT_THAT(HintOf(WithProposedInputs(DiagnosticToStatus(missing), model)),
              HasSubstr("--input 1x128:int64 (tokens)"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace cobra::client
