#include "client/input/model_input.h"

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

using testing::HasSubstr;

class ModelInputTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text = "x = 1\n") {
    std::filesystem::create_directories(std::filesystem::path(directory_.File(name)).parent_path());
    EXPECT_TRUE(WriteFileAtomic(directory_.File(name), text).ok());
    return directory_.File(name);
  }
  v1::SourceModel Source(const ModelArguments& arguments) {
    absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
    EXPECT_TRUE(input.ok()) << input.status();
    v1::PredictRequest request;
    EXPECT_TRUE(input->FillModel(&request).ok());
    return request.source();
  }
  static Diagnostic::Kind ErrorKind(const ModelArguments& arguments, const Limits& limits = {}) {
    absl::StatusOr<ModelInput> input = ModelInput::Load(arguments, limits);
    EXPECT_FALSE(input.ok());
    return DiagnosticFromStatus(input.status()).value_or(Diagnostic()).kind;
  }
  ModelArguments Arguments(const std::string& path, const std::string& entry = "Net()") {
    ModelArguments arguments;
    arguments.path = path;
    arguments.entry = entry;
    return arguments;
  }
  tests::TemporaryDirectory directory_;
};

TEST_F(ModelInputTest, WhatIsNoFileIsNamedAndNotWaitedFor) {
  const std::string pipe = directory_.File("net.py"), device = directory_.File("null.py");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);  // which nobody writes to
  std::filesystem::create_symlink("/dev/null", device);
  const absl::Status of_pipe = ModelInput::Load(Arguments(pipe)).status();
  EXPECT_EQ(DiagnosticFromStatus(of_pipe).value_or(Diagnostic()).message, pipe + ": is a pipe, not a file");
  const absl::Status of_device = ModelInput::Load(Arguments(device)).status();
  EXPECT_EQ(DiagnosticFromStatus(of_device).value_or(Diagnostic()).message, device + ": is a device, not a file");
  // Nor is one that it could import.
  Write("other.py", "import net\n");
  EXPECT_EQ(Source(Arguments(directory_.File("other.py"))).files_size(), 1);
}

// What the program reads beside its code is read here, and goes along to a server: that, and
// nothing more.
TEST_F(ModelInputTest, DataFilesBesideTheCodeGoAlong) {
  const std::string program =
      "import json, os\nfrom torch import nn\nhere = os.path.dirname(__file__)\n"
      "def net(name):\n    with open(os.path.join(here, 'cfg', name + '.json')) as f: width = json.load(f)['width']\n"
      "    return nn.Linear(8, width)\n"
      "def counted():\n    return nn.Linear(8, len(os.listdir(os.path.join(here, 'cfg'))))\n";
  const auto paths = [](const v1::SourceModel& source) {
    std::vector<std::string> all;
    for (const v1::SourceFile& file : source.files()) all.push_back(file.path());
    return all;
  };
  const auto write = [&](const std::string& folder) {
    Write(folder + "cfg/small.json", "{\"width\": 4}");
    Write(folder + "cfg/large.json", "{\"width\": 400}");
    Write(folder + "cfg/.secret", "nobody's");
    return Write(folder + "net.py", program);
  };
  ModelArguments arguments = Arguments(write(""), "net('small')");
  arguments.inputs = {"2x8"};
  const absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  const absl::StatusOr<graph::Graph> graph = input->Read();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph::ShapeText(graph->TypeOf(graph->outputs()[0]).shape), "2x4");
  EXPECT_THAT(paths(Source(arguments)), testing::ElementsAre("cfg/small.json", "net.py"));
  EXPECT_FALSE(input->HasSameText(*input)) << "a data file may have changed";
  arguments.entry = "counted()";
  EXPECT_THAT(paths(Source(arguments)), testing::ElementsAre("cfg/large.json", "cfg/small.json", "net.py"));
  // A package is read where it stands.
  Write("pkg/__init__.py");
  Write("pkg/util.py");
  arguments.path = write("pkg/");
  Write("pkg/net.py", absl::StrCat("from . import util\n", program));
  arguments.entry = "net('large')";
  EXPECT_THAT(paths(Source(arguments)),
              testing::ElementsAre("pkg/__init__.py", "pkg/cfg/large.json", "pkg/net.py", "pkg/util.py"));
  // A folder is.
  arguments.path = directory_.File("repo");
  write("repo/");
  arguments.entry = "net.net('small')";
  EXPECT_THAT(paths(Source(arguments)), testing::ElementsAre("cfg/small.json", "net.py"));
}

// The data's folder has ncnn's networks; torchvision's programs are in a library.
TEST_F(ModelInputTest, AModelOfOursIsGivenByItsName) {
  ModelArguments named;
  named.path = "ncnn:mobilenet";
  named.libraries = {directory_.path()};
  const absl::StatusOr<ModelInput> of_ncnn = ModelInput::Load(named);
  EXPECT_TRUE(of_ncnn.ok()) << of_ncnn.status();
  named.path = "torchvision:resnet18";
  const absl::Status nowhere = ModelInput::Load(named).status();
  EXPECT_THAT(DiagnosticFromStatus(nowhere).value_or(Diagnostic()).message,
              HasSubstr("torchvision:resnet18: no --library has"));
  Write("torchvision/__init__.py");
  Write("torchvision/models/resnet.py");
  const v1::SourceModel source = Source(named);
  EXPECT_EQ(source.entry(), "resnet18()");
  ASSERT_EQ(source.inputs_size(), 1);
  EXPECT_EQ(source.inputs(0), "1x3x224x224");
  named.inputs = {"8x3x96x96"};
  EXPECT_EQ(Source(named).inputs(0), "8x3x96x96");
  named.path = "ncnn:nosuch";
  EXPECT_EQ(ErrorKind(named), Diagnostic::Kind::kUsage);
}

TEST_F(ModelInputTest, FileIsABundleOfOne) {
  ModelArguments arguments = Arguments(Write("net.py", "text"));
  arguments.inputs = {"1x3", "mask=1x1"};
  arguments.arguments = {"flag=a == b"};
  const v1::SourceModel source = Source(arguments);
  EXPECT_EQ(source.file(), "net.py");
  ASSERT_EQ(source.files_size(), 1);
  EXPECT_EQ(source.files(0).text(), "text");
  EXPECT_EQ(source.inputs(1), "mask=1x1");
  EXPECT_EQ(source.arguments(0).name(), "flag");
  EXPECT_EQ(source.arguments(0).expression(), "a == b");
}

TEST_F(ModelInputTest, FileInsideALibraryIsSentAsItsPathThere) {
  ModelArguments arguments = Arguments(Write("lib/pkg/net.py"));
  arguments.libraries = {directory_.File("other"), directory_.File("lib") + "/"};
  std::filesystem::create_directory(directory_.File("other"));
  const v1::SourceModel source = Source(arguments);
  EXPECT_EQ(source.file(), "pkg/net.py");
  EXPECT_EQ(source.files_size(), 0);
}

TEST_F(ModelInputTest, DirectoryIsABundleOfItsPythonFiles) {
  Write("net/__init__.py");
  Write("net/blocks/conv.py");
  Write("net/readme.txt");
  Write("net/.git/hook.py");
  const v1::SourceModel source = Source(Arguments(directory_.File("net")));
  ASSERT_EQ(source.files_size(), 2);
  EXPECT_EQ(source.files(0).path(), "__init__.py");
  EXPECT_EQ(source.files(1).path(), "blocks/conv.py");
  EXPECT_EQ(source.file(), "__init__.py");
  EXPECT_EQ(source.entry(), "Net()");
}

TEST_F(ModelInputTest, DottedEntryNamesTheModuleOfADirectory) {
  Write("net/a.py");
  Write("net/blocks/__init__.py");
  Write("net/blocks/conv.py");
  const v1::SourceModel deep = Source(Arguments(directory_.File("net"), "blocks.conv.Net(x.y)"));
  EXPECT_EQ(deep.file(), "blocks/conv.py");
  EXPECT_EQ(deep.entry(), "Net(x.y)");
  const v1::SourceModel package = Source(Arguments(directory_.File("net"), "blocks.Net()"));
  EXPECT_EQ(package.file(), "blocks/__init__.py");
  EXPECT_EQ(ErrorKind(Arguments(directory_.File("net"), "Net()")), Diagnostic::Kind::kUsage);  // which file?
}

TEST_F(ModelInputTest, MistakesAreUsageErrors) {
  const std::string net = Write("net.py");
  EXPECT_EQ(ErrorKind(Arguments(directory_.File("missing.py"))), Diagnostic::Kind::kUsage);
  EXPECT_EQ(ErrorKind(Arguments(net, "")), Diagnostic::Kind::kUsage);
  ModelArguments bad_argument = Arguments(net);
  bad_argument.arguments = {"=1"};
  EXPECT_EQ(ErrorKind(bad_argument), Diagnostic::Kind::kUsage);
  ModelArguments bad_library = Arguments(net);
  bad_library.libraries = {directory_.File("missing")};
  EXPECT_EQ(ErrorKind(bad_library), Diagnostic::Kind::kUsage);
  EXPECT_EQ(ErrorKind(Arguments(Write("net.onnx"), "Net()")), Diagnostic::Kind::kUsage);
}

TEST_F(ModelInputTest, AFileOfAnotherKindIsAUsageError) {
  const std::string path = Write("net.txt");
  const absl::Status status = ModelInput::Load(Arguments(path)).status();
  const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage);
  EXPECT_EQ(diagnostic.message, path + ": is not a .py, .onnx, .tflite, .param or .json file");
}

// What is ignored would give the answer to another question.
TEST_F(ModelInputTest, AnOptionThatTheFormDoesNotTakeIsAUsageError) {
  struct Form {
    ModelArguments arguments;
    absl::string_view taken;  // options
  };
  ModelArguments architecture;
  architecture.architecture = "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|";
  const Form forms[] = {{ModelArguments{Write("net.json", "{}")}, ""},
                        {ModelArguments{Write("net.onnx")}, "--input --arg"},
                        {ModelArguments{Write("net.tflite")}, "--input"},
                        {ModelArguments{Write("net.param")}, "--input"},
                        {architecture, "--input"}};
  struct Option {
    absl::string_view name;
    std::function<void(ModelArguments*)> give;
  };
  const std::string library = directory_.File("");
  const Option options[] = {{"--input", [](ModelArguments* a) { a->inputs = {"1x3x8x8"}; }},
                            {"--arg", [](ModelArguments* a) { a->arguments = {"k=1"}; }},
                            {"--entry", [](ModelArguments* a) { a->entry = "Net()"; }},
                            {"--method", [](ModelArguments* a) { a->method = "encode"; }},
                            {"--library", [&](ModelArguments* a) { a->libraries = {library}; }},
                            {"--torch-version", [](ModelArguments* a) { a->torch_version = "1.13"; }},
                            {"--cached-tokens", [](ModelArguments* a) { a->cached_tokens = 3; }},
                            {"--mode", [](ModelArguments* a) { a->training = true; }}};
  for (const Form& form : forms) {
    EXPECT_TRUE(ModelInput::Load(form.arguments).ok()) << form.arguments.path;
    for (const Option& option : options) {
      ModelArguments arguments = form.arguments;
      option.give(&arguments);
      const absl::Status status = ModelInput::Load(arguments).status();
      const bool taken = absl::StrContains(form.taken, option.name);
      EXPECT_EQ(status.ok(), taken) << arguments.path << " " << option.name << ": " << status;
      if (taken) continue;
      const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
      EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage);
      EXPECT_TRUE(absl::StartsWith(diagnostic.message, absl::StrCat(option.name, " "))) << diagnostic.message;
      EXPECT_TRUE(absl::StartsWith(diagnostic.hint, absl::StrCat("leave ", option.name, " out"))) << diagnostic.hint;
    }
  }
}

TEST_F(ModelInputTest, FilesThatPeopleHaveOfAModelGetAHintOfTheirOwn) {
  struct Case {
    const char *name, *hint;
  };
  for (const auto& [name, hint] : {Case{"net.pth", "give the .py file that defines the model"},
                                   {"net.pt", "give the .py file"},
                                   {"net.bin", "give the .py file"},
                                   {"NET.SAFETENSORS", "give the .py file"},
                                   {"net.pt2", "give the .py file"},
                                   {"net.ipynb", "save it as a .py file"},
                                   {"net.pb", "convert it to ONNX"},
                                   {"net.keras", "convert it to ONNX"},
                                   {"net.txt", "rename it"}}) {
    const absl::Status status = ModelInput::Load(Arguments(Write(name))).status();
    const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage);
    EXPECT_TRUE(absl::StartsWith(diagnostic.hint, hint)) << name << ": " << diagnostic.hint;
  }
}

TEST_F(ModelInputTest, OnnxFileIsSentAsItIs) {
  ModelArguments arguments = Arguments(Write("net.onnx", "garbage"), "");
  arguments.inputs = {"x=1x3"};
  arguments.arguments = {"k=[1, 2]"};
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  v1::PredictRequest request;
  ASSERT_TRUE(input->FillModel(&request).ok());
  EXPECT_EQ(request.onnx().file(), "garbage");
  EXPECT_EQ(request.onnx().name(), "net.onnx");
  EXPECT_EQ(request.onnx().inputs(0), "x=1x3");
  EXPECT_EQ(request.onnx().arguments(0).expression(), "[1, 2]");
  // Reading it here names the file as the user typed it.
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(input->Read().status());
  ASSERT_TRUE(diagnostic.has_value());
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kModelError);
  EXPECT_EQ(diagnostic->position.file, arguments.path);
}

TEST_F(ModelInputTest, AnNcnnFileIsReadHereOrSentAsItIs) {
  const std::string text = "7767517\n2 2\nInput data 0 1 data\nReLU r 1 1 data out\n";
  ModelArguments arguments;
  arguments.path = Write("net.param", text);
  arguments.inputs = {"data=1x3x8x8"};
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->Read()->nodes().size(), 1u);
  v1::PredictRequest request;
  ASSERT_TRUE(input->FillModel(&request).ok());
  EXPECT_EQ(request.ncnn().param(), text);
  EXPECT_EQ(request.ncnn().name(), "net.param");
  EXPECT_EQ(request.ncnn().inputs(0), "data=1x3x8x8");
  ModelArguments binary;  // the reader says what to give instead
  binary.path = Write("net.param.bin", std::string("\xDD\x85\x76\x00", 4));
  EXPECT_EQ(DiagnosticFromStatus(ModelInput::Load(binary)->Read().status())->kind, Diagnostic::Kind::kUsage);
  arguments.entry = "Net()";
  EXPECT_EQ(ErrorKind(arguments), Diagnostic::Kind::kUsage);
}

TEST_F(ModelInputTest, ATfliteFileIsReadHereOrSentAsItIs) {
  ModelArguments arguments;
  arguments.path = Write("net.tflite", "garbage");
  arguments.inputs = {"1x8x8x3"};
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  v1::PredictRequest request;
  ASSERT_TRUE(input->FillModel(&request).ok());
  EXPECT_EQ(request.tflite().file(), "garbage");
  EXPECT_EQ(request.tflite().name(), "net.tflite");
  EXPECT_EQ(request.tflite().inputs(0), "1x8x8x3");
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(input->Read().status());
  ASSERT_TRUE(diagnostic.has_value());
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kModelError);
  EXPECT_EQ(diagnostic->position.file, arguments.path);
  arguments.entry = "Net()";
  EXPECT_EQ(ErrorKind(arguments), Diagnostic::Kind::kUsage);
}

TEST_F(ModelInputTest, AnArchitectureIsReadHereOrSentAsItIs) {
  ModelArguments arguments;
  arguments.architecture = "nasbench201:|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|";
  arguments.inputs = {"4x3x32x32"};
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  const absl::StatusOr<graph::Graph> graph = input->Read();
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs()[0].type.shape[0], 4);
  v1::PredictRequest request;
  ASSERT_TRUE(input->FillModel(&request).ok());
  EXPECT_EQ(request.architecture().text(), arguments.architecture);
  EXPECT_EQ(request.architecture().inputs(0), "4x3x32x32");

  arguments.entry = "Net()";
  EXPECT_EQ(ErrorKind(arguments), Diagnostic::Kind::kUsage);
  EXPECT_EQ(ErrorKind(ModelArguments{}), Diagnostic::Kind::kUsage);
}

TEST_F(ModelInputTest, SizesAreLimited) {
  Limits limits;
  limits.file_bytes = 10;
  EXPECT_TRUE(ModelInput::Load(Arguments(Write("big.py", std::string(10, '#'))), limits).ok());
  EXPECT_EQ(ErrorKind(Arguments(Write("big.py", std::string(11, '#'))), limits), Diagnostic::Kind::kLimit);
  limits = {};
  limits.model_file_bytes = 10;
  EXPECT_TRUE(ModelInput::Load(ModelArguments{Write("big.onnx", std::string(10, '#'))}, limits).ok());
  EXPECT_EQ(ErrorKind(ModelArguments{Write("big.onnx", std::string(11, '#'))}, limits), Diagnostic::Kind::kLimit);
  EXPECT_EQ(ErrorKind(ModelArguments{Write("big.tflite", std::string(11, '#'))}, limits), Diagnostic::Kind::kLimit);
  Write("net/a.py", "########");
  Write("net/b.py", "########");
  limits = {};
  limits.bundle_bytes = 16;
  EXPECT_TRUE(ModelInput::Load(Arguments(directory_.File("net"), "a.Net()"), limits).ok());
  limits.bundle_bytes = 15;
  EXPECT_EQ(ErrorKind(Arguments(directory_.File("net"), "a.Net()"), limits), Diagnostic::Kind::kLimit);
  limits = {};
  limits.bundle_files = 2;
  EXPECT_TRUE(ModelInput::Load(Arguments(directory_.File("net"), "a.Net()"), limits).ok());
  limits.bundle_files = 1;
  EXPECT_EQ(ErrorKind(Arguments(directory_.File("net"), "a.Net()"), limits), Diagnostic::Kind::kLimit);
}

TEST_F(ModelInputTest, DiagnosticsNameTheFileAsTheUserTypedIt) {
  const std::string path = Write("net.py");
  absl::StatusOr<ModelInput> input = ModelInput::Load(Arguments(path));
  ASSERT_TRUE(input.ok());
  Diagnostic d;
  d.position = {"net.py", 3, 1};
  d.frames = {{{"/lib/torchvision/ops.py", 9, 1}, "f", ""}};
  std::optional<Diagnostic> shown = DiagnosticFromStatus(input->WithUserPaths(DiagnosticToStatus(d)));
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->position.file, path);
  EXPECT_EQ(shown->frames[0].position.file, "/lib/torchvision/ops.py");
}

TEST_F(ModelInputTest, ADiagnosticKeepsItsStatusCode) {
  absl::StatusOr<ModelInput> input = ModelInput::Load(Arguments(Write("net.py")));
  ASSERT_TRUE(input.ok());
  Diagnostic d;
  d.kind = Diagnostic::Kind::kUsage;
  d.message = "abacus: no such target";
  const absl::Status usage = DiagnosticToStatus(d);
  absl::Status unknown(absl::StatusCode::kNotFound, usage.message());
  usage.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { unknown.SetPayload(url, payload); });
  const absl::Status shown = input->WithUserPaths(unknown);
  EXPECT_EQ(shown.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(DiagnosticFromStatus(shown).value_or(Diagnostic()).message, d.message);
}

TEST_F(ModelInputTest, AFolderSaysWhichModelsItHas) {
  const std::string net = "import torch.nn as nn\nclass Block(nn.Module): pass\nclass Net(Block):\n  pass\n";
  Write("pkg/__init__.py", "");
  Write("pkg/model.py", net);
  Write("pkg/it's.py", net);  // such a file cannot be imported
  const auto hint = [this](const std::string& entry) {
    absl::StatusOr<ModelInput> input = ModelInput::Load(Arguments(directory_.File("pkg"), entry));
    const absl::Status status = input.ok() ? input->Read().status() : input.status();
    const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage) << status;
    return diagnostic.hint;
  };
  EXPECT_THAT(hint(""), HasSubstr("has model.Net, model.Block; fill in its arguments: --entry 'model.Net(...)'"));
  EXPECT_THAT(hint("Net()"), HasSubstr("models in the folder: model.Net, model.Block: --entry 'model.Net(...)'"));
  EXPECT_THAT(hint("model.Nt()"), HasSubstr("models there: Net"));
}

TEST_F(ModelInputTest, AFileWithoutAModelSaysWhatItMisses) {
  const auto hint = [this](const std::string& text) {
    absl::StatusOr<ModelInput> input = ModelInput::Load(Arguments(Write("net.py", text), ""));
    return DiagnosticFromStatus(input.status()).value_or(Diagnostic()).hint;
  };
  EXPECT_THAT(hint(""), HasSubstr("net.py defines none"));
  EXPECT_THAT(hint("import light as pl\nclass Net(pl.LightningModule): pass\n"),
              HasSubstr("imports light, which was not found"));
  EXPECT_THAT(hint("import torch.nn as nn\nclass Net(nn.Module):\n  def __init__(self, w): pass\ndef "
                   "get_init_inputs(): return [3]\n"),
              HasSubstr("--entry 'Net(*get_init_inputs())'"));
  std::filesystem::create_directory(directory_.File("empty"));
  EXPECT_THAT(std::string(ModelInput::Load(Arguments(directory_.File("empty"), "")).status().message()),
              HasSubstr("has no Python file"));
}

TEST_F(ModelInputTest, AFolderThatIsNoPackageNamesItsFile) {
  Write("net/model.py", "from .layers import Net\n");
  Write("net/layers.py", "import torch.nn as nn\nclass Net(nn.Module): pass\n");
  absl::StatusOr<ModelInput> input = ModelInput::Load(Arguments(directory_.File("net"), "Net()"));
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(DiagnosticFromStatus(input->Read().status()).value_or(Diagnostic()).hint,
            "give the model's own file: " + directory_.File("net/model.py"));
}

}  // namespace
}  // namespace cobra::client
