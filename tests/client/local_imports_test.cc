#include "client/input/local_imports.h"

#include <filesystem>

#include "base/diagnostic.h"
#include "base/file/file.h"
#include "client/input/model_input.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LocalImportsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text = "") {
    std::filesystem::create_directories(std::filesystem::path(directory_.File(name)).parent_path());
    EXPECT_TRUE(WriteFileAtomic(directory_.File(name), text).ok());
    return directory_.File(name);
  }
  // What goes along with the file.
  std::vector<std::string> Files(const std::string& path) {
    const std::string text = *ReadFile(path);
    const ModelLocation place = LocateModel(path, text);
    absl::StatusOr<std::map<std::string, std::string>> files = CollectImports(place, text, Limits());
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> names;
    for (const auto& [name, contents] : *files) names.push_back(name);
    return names;
  }
  ModelLocation LocateFile(const std::string& path) { return LocateModel(path, *ReadFile(path)); }
  tests::TemporaryDirectory directory_;
};

TEST_F(LocalImportsTest, AScriptFindsTheModulesOfItsFolderAndThoseThatTheyImport) {
  Write("repo/utils.py", "import layers.conv as c\n");
  Write("repo/layers/__init__.py");
  Write("repo/layers/conv.py", "from .base import Base\n");
  Write("repo/layers/base.py");
  Write("repo/layers/unused.py");
  Write("repo/late.py");
  Write("repo/spaces/in_a_folder.py");
  Write("repo/train.py");
  const std::string net = Write("repo/net.py",
                                "import torch, utils\nfrom spaces import in_a_folder\ndef f():\n  try:\n    from late "
                                "import x\n  except ImportError: pass\n");
  EXPECT_THAT(Files(net), ElementsAre("late.py", "layers/__init__.py", "layers/base.py", "layers/conv.py", "net.py",
                                      "spaces/in_a_folder.py", "utils.py"));
  EXPECT_EQ(LocateFile(net).package, "");
}

TEST_F(LocalImportsTest, WhatCobraHasItselfIsNotTakenFromTheFolder) {
  Write("repo/torch/__init__.py");
  Write("repo/math.py");
  EXPECT_THAT(Files(Write("repo/net.py", "import torch, math\n")), ElementsAre("net.py"));
}

TEST_F(LocalImportsTest, AFileThatImportsRelativelyIsAModuleOfItsPackage) {
  Write("repo/pkg/__init__.py", "from .sub import net\n");
  Write("repo/pkg/sub/__init__.py");
  Write("repo/pkg/base.py", "import helpers\n");
  Write("repo/helpers.py");
  const std::string net = Write("repo/pkg/sub/net.py", "from ..base import Base\n");
  const ModelLocation place = LocateFile(net);
  EXPECT_EQ(place.package, "pkg");
  EXPECT_EQ(place.file, "sub/net.py");
  EXPECT_TRUE(place.has_init);
  // Not helpers.
  EXPECT_THAT(Files(net), ElementsAre("pkg/__init__.py", "pkg/base.py", "pkg/sub/__init__.py", "pkg/sub/net.py"));
  // By the package's name it means the same; without either, Python would run it as a script.
  EXPECT_EQ(LocateFile(Write("repo/pkg/sub/named.py", "import pkg.base\n")).package, "pkg");
  EXPECT_EQ(LocateFile(Write("repo/pkg/sub/alone.py", "import torch\n")).package, "");
}

TEST_F(LocalImportsTest, AFolderWithoutInitIsAPackageForItsRelativeImports) {
  Write("my-net v1.0/layers.py");
  Write("my-net v1.0/more/deep.py");
  Write("outside.py");
  const std::string net =
      Write("my-net v1.0/net.py", "from . import layers\nfrom .more.deep import x\nfrom ..outside import y\n");
  EXPECT_THAT(Files(net), ElementsAre("my_net_v1_0/__init__.py", "my_net_v1_0/layers.py", "my_net_v1_0/more/deep.py",
                                      "my_net_v1_0/net.py"));
}

TEST_F(LocalImportsTest, AFolderAboveIsAPackageIfTheFileImportsByItsName) {
  Write("models/blocks.py");
  const std::string net = Write("models/vision/net.py", "from models.blocks import Block\n");
  EXPECT_THAT(Files(net), ElementsAre("models/__init__.py", "models/blocks.py", "models/vision/__init__.py",
                                      "models/vision/net.py"));
  // Not when the name means something else: what is imported is not there.
  EXPECT_EQ(LocateFile(Write("timm/net.py", "from timm.layers import DropPath\n")).package, "");
}

TEST_F(LocalImportsTest, WhatIsImportedByAComputedNameIsBesideWhoImportsIt) {
  Write("models/__init__.py", "import importlib\ndef make(name): return importlib.import_module('models.' + name)\n");
  Write("models/resnet.py");
  Write("models/vit/net.py");
  EXPECT_THAT(Files(Write("net.py", "import models\n")),
              ElementsAre("models/__init__.py", "models/resnet.py", "models/vit/net.py", "net.py"));
}

TEST_F(LocalImportsTest, NothingOutsideIsReadThroughLinks) {
  Write("secret.py", "password = 1\n");
  Write("far/away.py");
  const std::string net = Write("repo/net.py", "import link, far.away, near\n");
  Write("repo/real.py");
  std::filesystem::create_symlink(directory_.File("secret.py"), directory_.File("repo/link.py"));
  std::filesystem::create_symlink(directory_.File("far"), directory_.File("repo/far"));
  std::filesystem::create_symlink("real.py", directory_.File("repo/near.py"));
  EXPECT_THAT(Files(net), ElementsAre("near.py", "net.py"));
  // The same of a package, which is read where it stands.
  Write("pkg/__init__.py");
  std::filesystem::create_symlink(directory_.File("secret.py"), directory_.File("pkg/link.py"));
  ModelArguments arguments;
  arguments.path = Write("pkg/net.py", "from .link import password\nnet = password\n");
  arguments.entry = "net";
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_THAT(std::string(input->Read().status().message()), testing::HasSubstr("pkg.link"));
}

TEST_F(LocalImportsTest, ALinkedFileStandsWhereItReallyIs) {
  Write("repo/utils.py");
  Write("repo/net.py", "import utils\n");
  std::filesystem::create_symlink(directory_.File("repo/net.py"), directory_.File("model.py"));
  EXPECT_THAT(Files(directory_.File("model.py")), ElementsAre("net.py", "utils.py"));
  EXPECT_EQ(LocateModel("/dev/null", "import utils\n").folder, "");
}

TEST_F(LocalImportsTest, TheAmountIsLimited) {
  Write("a.py", "import b\n");
  Write("b.py", "########");
  const std::string net = Write("net.py", "import a\n");
  const ModelLocation place = LocateFile(net);
  Limits limits;
  limits.bundle_files = 3;
  EXPECT_TRUE(CollectImports(place, "import a\n", limits).ok());
  limits.bundle_files = 2;
  EXPECT_EQ(DiagnosticFromStatus(CollectImports(place, "import a\n", limits).status())->kind, Diagnostic::Kind::kLimit);
  limits = {};
  limits.bundle_bytes = 26;
  EXPECT_TRUE(CollectImports(place, "import a\n", limits).ok());
  limits.bundle_bytes = 25;
  EXPECT_EQ(DiagnosticFromStatus(CollectImports(place, "import a\n", limits).status())->kind, Diagnostic::Kind::kLimit);
}

TEST_F(LocalImportsTest, APackageIsSentWithWhatTheFileNeedsOfIt) {
  Write("pkg/__init__.py");
  Write("pkg/base.py");
  Write("pkg/other.py");
  ModelArguments arguments;
  arguments.path = Write("pkg/net.py", "from .base import Base\n");
  arguments.entry = "Base()";
  absl::StatusOr<ModelInput> input = ModelInput::Load(arguments);
  ASSERT_TRUE(input.ok()) << input.status();
  v1::PredictRequest request;
  ASSERT_TRUE(input->FillModel(&request).ok());
  EXPECT_EQ(request.source().file(), "pkg/net.py");
  ASSERT_EQ(request.source().files_size(), 3);
  EXPECT_EQ(request.source().files(1).path(), "pkg/base.py");
  // Whoever read it, people see the paths that they typed.
  EXPECT_EQ(input->UserPath("pkg/base.py"), directory_.File("pkg/base.py"));
  EXPECT_EQ(input->UserPath(LocateFile(arguments.path).folder + "/net.py"), arguments.path);
}

}  // namespace
}  // namespace cobra::client
