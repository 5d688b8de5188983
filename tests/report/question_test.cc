#include "report/question.h"

#include <string>

#include "gtest/gtest.h"
#include "report/answers.h"
#include "tests/report/networks.h"

namespace cobra::report {
namespace {

TEST(QuestionTest, TheCommandAsksAgain) {
  Question question;
  question.path = "my net.py";
  question.entry = "Net('a')";
  question.inputs = {"1x3x8x8", "1x4:int64"};
  question.arguments = {"deep=[1, 2]"};
  question.training = true;
  question.targets = {"cpu", "gpu"};
  const auto command = [&] { return QuestionJson(question, "2026-01-01-abc")["command"].get<std::string>(); };
  const std::string model =
      "cobra-client report 'my net.py' --entry 'Net('\\''a'\\'')' --input 1x3x8x8 --input 1x4:int64 --arg 'deep=[1, "
      "2]' "
      "--mode train --target cpu,gpu";
  EXPECT_EQ(command(), model + " --model-version 2026-01-01-abc");
  question.batches = "1,2";
  EXPECT_EQ(command(), model + " --batch 1,2 --model-version 2026-01-01-abc");
  question.no_sweep = true;
  EXPECT_EQ(command(), model + " --no-sweep --model-version 2026-01-01-abc");
  question = Question();
  question.architecture = "nasbench201:|a~0|";
  EXPECT_EQ(command(), "cobra-client report --arch 'nasbench201:|a~0|' --model-version 2026-01-01-abc");
}

TEST(QuestionTest, TheTitleIsForPeople) {
  Question question;
  question.path = "net.py";
  EXPECT_EQ(TitleOf(question), "net.py");
  question.entry = "Net()";
  question.training = true;
  question.cached_tokens = 7;
  EXPECT_EQ(TitleOf(question), "Net() from net.py, in training, forward only, after 7 cached tokens");
  question.architecture = "ofa:x";
  EXPECT_EQ(TitleOf(question), "ofa:x");
}

TEST(AnswersTest, OneNetworkIsThereOnce) {
  Answers answers;
  answers.Add(Residual(2), Response(Residual(2)));
  answers.Add(Residual(3), Response(Residual(3)));
  answers.Add(Residual(2), Response(Residual(2)));
  const std::vector<Answer> all = answers.Take();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].response.predictions_size(), 2);
  EXPECT_EQ(all[1].response.predictions_size(), 1);
  EXPECT_GT(all[1].graph->nodes().size(), all[0].graph->nodes().size());
}

}  // namespace
}  // namespace cobra::report
