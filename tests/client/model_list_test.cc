#include "client/input/model_list.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kCell[] = "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|";

class ModelListTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteMaybeGzip(directory_.File(name), text).ok());
    return directory_.File(name);
  }
  std::vector<ListedModel> Read(const std::string& text, const ModelArguments& of_all = {}) {
    absl::StatusOr<ModelList> list = ModelList::Load(Write("list.csv", text), of_all);
    EXPECT_TRUE(list.ok()) << list.status();
    std::vector<ListedModel> models;
    if (!list.ok()) return models;
    while (std::optional<ListedModel> model = list->Next()) models.push_back(*std::move(model));
    EXPECT_EQ(list->size(), static_cast<int64_t>(models.size()));
    return models;
  }
  // Message and hint, without the folder.
  std::string Fault(const std::string& text) {
    const std::string path = Write("list.csv", text);
    const absl::StatusOr<ModelList> list = ModelList::Load(path, {});
    if (list.ok()) return "";
    const Diagnostic diagnostic = DiagnosticFromStatus(list.status()).value_or(Diagnostic());
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage);
    EXPECT_EQ(diagnostic.message.rfind(path, 0), 0u) << diagnostic.message;
    return diagnostic.message.substr(path.size()) + "; " + diagnostic.hint;
  }
  tests::TemporaryDirectory directory_;
};

TEST_F(ModelListTest, EachRowIsAModelAsOnTheCommandLine) {
  Write("net.py", "");
  ModelArguments of_all;
  of_all.libraries = {"/lib"};
  of_all.torch_version = "1.13";
  const std::vector<ListedModel> models = Read(
      "row,model,entry,inputs,arguments,mode\n"
      "7,net.py,\"Net(1, 2)\",1x3x8x8 mask=1x8:int64,\"n=[1, 2] s='a b'\",train\n"
      "b,net.py,Net(),,,\n",
      of_all);
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].row, "7");
  EXPECT_EQ(models[0].model.path, directory_.File("net.py"));
  EXPECT_EQ(models[0].model.entry, "Net(1, 2)");
  EXPECT_THAT(models[0].model.inputs, ElementsAre("1x3x8x8", "mask=1x8:int64"));
  EXPECT_THAT(models[0].model.arguments, ElementsAre("n=[1, 2]", "s='a b'"));
  EXPECT_TRUE(models[0].model.training);
  EXPECT_THAT(models[0].model.libraries, ElementsAre("/lib"));
  EXPECT_EQ(models[0].model.torch_version, "1.13");
  EXPECT_FALSE(models[1].model.training);
}

TEST_F(ModelListTest, SpreadsheetsAndCompressedFilesAreRead) {
  const std::string text = "\xEF\xBB\xBFrow,model,inputs\r\n\"1\",\"a,\"\"b\"\".onnx\",1x3\r\n\r\n2,c.onnx,\r\n";
  EXPECT_EQ(Read(text)[0].model.path, "a,\"b\".onnx");
  const absl::StatusOr<ModelList> packed = ModelList::Load(Write("list.csv.gz", text), {});
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_EQ(packed->size(), 2);
}

TEST_F(ModelListTest, AModelIsBesideTheListOrInTheCurrentFolderOrAnArchitecture) {
  Write("here.onnx", "");
  Write("odd:name.onnx", "");
  const std::vector<ListedModel> models =
      Read("row,model\n1,here.onnx\n2,elsewhere.onnx\n3," + std::string(kCell) + "\n4,odd:name.onnx\n5,/\n6,a/b:c\n");
  EXPECT_EQ(models[0].model.path, directory_.File("here.onnx"));
  EXPECT_EQ(models[1].model.path, "elsewhere.onnx");
  EXPECT_EQ(models[2].model.architecture, kCell);
  EXPECT_EQ(models[2].model.path, "");
  EXPECT_EQ(models[3].model.path, directory_.File("odd:name.onnx"));
  EXPECT_EQ(models[4].model.path, "/");
  EXPECT_EQ(models[5].model.path, "a/b:c");
}

TEST_F(ModelListTest, WhereProgramsAreReadConcernsProgramsAlone) {
  Write("net.onnx", "");
  ModelArguments of_all;
  of_all.libraries = {"/lib"};
  of_all.torch_version = "1.13";
  of_all.method = "encode";  // which is a question that an ONNX file refuses
  const std::vector<ListedModel> models = Read("row,model\n1,net.onnx\n2," + std::string(kCell) + "\n", of_all);
  for (const ListedModel& listed : models) {
    EXPECT_THAT(listed.model.libraries, IsEmpty());
    EXPECT_EQ(listed.model.torch_version, "");
    EXPECT_EQ(listed.model.method, "encode");
  }
}

TEST_F(ModelListTest, ADamagedListIsRefusedByLineBeforeAnythingIsAsked) {
  EXPECT_EQ(Fault("row,model\n1,a.py\n2\n"), " line 3: has 1 fields, the header 2; ");
  EXPECT_EQ(Fault("row,model\n1,\"a.py\n"), " line 2: a quoted field does not end; ");
  EXPECT_EQ(Fault("row,model\n1,\"a\"b\n"), " line 2: text after a quoted field; ");
  EXPECT_EQ(Fault(""), " line 1: no header; ");
  EXPECT_THAT(Fault("row,model\n"), HasSubstr(": has no rows; the first line names the columns: row,model,"));
  EXPECT_EQ(Fault("row,model\n1,a.py\n\n\"1\",b.py\n"),
            " line 4: row 1: is that of line 2, too; give each row a unique name: it identifies the answer");
  EXPECT_THAT(Fault("row,model\n,a.py\n"), HasSubstr(" line 2: the cell of row is empty"));
  EXPECT_THAT(Fault("row,model\n\x1b[31m,a.py\n"), HasSubstr(" line 2: row \x1b[31m: has control characters"));
  EXPECT_THAT(Fault("row,model\n\"1\n2\",a.py\n"), HasSubstr(" line 2: row 1\n2: has control characters"));
  EXPECT_THAT(Fault("row,model\n" + std::string(5000, '1') + ",a.py\n"),
              HasSubstr(" line 2: row: more than the limit of 4 KiB"));
  // In a column that nobody reads, it does no harm.
  EXPECT_EQ(Fault("row,model,note\n1,a.py,caf\xe9\n2,caf\xe9.py,\n"),
            " line 3: the cell of model is not UTF-8; save the list as UTF-8");
  EXPECT_THAT(Fault("row,model\n5,\n"), HasSubstr(" line 2: row 5: the cell of model is empty"));
  EXPECT_THAT(Fault("row,model,mode\n5,a.py,Train\n"),
              HasSubstr(" line 2: row 5: mode Train: is neither eval nor train"));
  EXPECT_THAT(Fault("row,model,arguments\n5,a.py,n=[1\n"),
              HasSubstr(" line 2: row 5: arguments: n=[1: a \"]\" is missing"));
  EXPECT_THAT(Fault("row,model,inputs\n5,a.py,'1x3\n"),
              HasSubstr(" line 2: row 5: inputs: '1x3: the quote does not end"));
}

TEST_F(ModelListTest, ColumnsThatAreMissingOrMisspelledAreRefused) {
  EXPECT_THAT(Fault("row,entry\n1,a\n"), HasSubstr(" line 1: the column model is missing"));
  EXPECT_THAT(Fault("model\na.py\n"), HasSubstr(" line 1: the column row is missing"));
  EXPECT_THAT(Fault("row,model,input\n1,a.py,1x3\n"),
              HasSubstr(" line 1: input: no such column; did you mean inputs?"));
  EXPECT_THAT(Fault("Row,model\n1,a.py\n"), HasSubstr(" line 1: Row: no such column; did you mean row?"));
  EXPECT_THAT(Fault("row,model,row\n1,a.py,2\n"), HasSubstr(" line 1: the column row is there twice"));
  EXPECT_THAT(Fault(std::string("\0\xFF\x01\x02", 4)), HasSubstr(" line 1: the column row is missing"));
}

TEST_F(ModelListTest, OtherColumnsAreIgnoredAndNamed) {
  const absl::StatusOr<ModelList> list =
      ModelList::Load(Write("list.csv", "row,model,latency_ms,family\n1,a.py,3,resnet\n"), {});
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_THAT(list->ignored(), ElementsAre("family"));
}

TEST_F(ModelListTest, AFileThatIsNotThereIsNamedByItsFlag) {
  const absl::Status status = ModelList::Load(directory_.File("no.csv"), {}).status();
  EXPECT_THAT(DiagnosticFromStatus(status).value_or(Diagnostic()).message,
              HasSubstr("--list " + directory_.File("no.csv")));
}

TEST(SplitValuesTest, BlanksSeparateUnlessTheyAreInBracketsOrQuotes) {
  EXPECT_THAT(*SplitValues("  1x3x224x224\t1x8:int64 "), ElementsAre("1x3x224x224", "1x8:int64"));
  EXPECT_THAT(*SplitValues("[1x3, 1x4] d={'a b': (1, 2)} s=\"x y\""),
              ElementsAre("[1x3, 1x4]", "d={'a b': (1, 2)}", "s=\"x y\""));
  EXPECT_THAT(*SplitValues("'n=[1, 2]' \"s='a'\" s='it\\'s'"), ElementsAre("n=[1, 2]", "s='a'", "s='it\\'s'"));
  EXPECT_THAT(*SplitValues(""), IsEmpty());
  EXPECT_FALSE(SplitValues("n=(1, 2").ok());
  EXPECT_FALSE(SplitValues("s=\"a").ok());
}

TEST_F(ModelListTest, AModelOfOursIsNamed) {
  ModelArguments of_all;
  of_all.libraries = {directory_.File("lib")};
  ASSERT_TRUE(MakeDirectories(directory_.File("lib/torchvision/models")).ok());
  Write("lib/torchvision/models/resnet.py", "");
  const std::vector<ListedModel> models = Read(
      "row,model,entry,inputs\n"
      "1,torchvision:resnet18,,\n"
      "2,resnet34,resnet34(num_classes=7),8x3x64x64\n"
      "3,ncnn:alexnet,,\n",
      of_all);
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[0].model.path, directory_.File("lib/torchvision/models/resnet.py"));
  EXPECT_EQ(models[0].model.entry, "resnet18()");
  EXPECT_THAT(models[0].model.inputs, ElementsAre("1x3x224x224"));
  // What the row says itself counts more.
  EXPECT_EQ(models[1].model.entry, "resnet34(num_classes=7)");
  EXPECT_THAT(models[1].model.inputs, ElementsAre("8x3x64x64"));
  EXPECT_TRUE(FileExists(models[2].model.path)) << models[2].model.path;
  EXPECT_THAT(models[2].model.inputs, ElementsAre("1x3x227x227"));
  EXPECT_THAT(models[2].model.libraries, IsEmpty());
}

// Of its row alone: the others are asked.
TEST_F(ModelListTest, ANameThatIsNoneIsAnErrorOfItsRow) {
  const auto why = [](const ListedModel& listed) {
    const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(listed.found);
    return diagnostic.has_value() ? absl::StrCat(diagnostic->message, "; ", diagnostic->hint) : "";
  };
  const std::string list = "row,model\n1,torchvision:resnet81\n2,alexnet\n3,resnet34\n4,ncnn:alexnet\n";
  const std::vector<ListedModel> models = Read(list);
  ASSERT_EQ(models.size(), 4u);
  EXPECT_EQ(
      why(models[0]),
      "torchvision:resnet81: torchvision has no such model in the built-in list; did you mean torchvision:resnet18?");
  EXPECT_EQ(why(models[1]),
            "alexnet: is a model of ncnn and of torchvision; say which: ncnn:alexnet or torchvision:alexnet");
  EXPECT_THAT(why(models[2]), HasSubstr("no --library has torchvision/models/resnet.py"));
  EXPECT_TRUE(models[3].found.ok());
  // A file of that name comes first.
  Write("alexnet", "");
  EXPECT_TRUE(Read(list)[1].found.ok());
}

}  // namespace
}  // namespace cobra::client
