#include "client/input/library_hint.h"

#include <filesystem>

#include "base/file/file.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::client {
namespace {

class LibraryHintTest : public testing::Test {
 protected:
  std::string Write(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(directory_.File(name)).parent_path());
    EXPECT_TRUE(WriteFileAtomic(directory_.File(name), "x = 1\n").ok());
    return directory_.File(name);
  }
  tests::TemporaryDirectory directory_;
};

TEST_F(LibraryHintTest, AFileOfAPackageNeedsTheFolderOfThePackage) {
  Write("lib/pkg/__init__.py");
  Write("lib/pkg/models/__init__.py");
  const std::string net = Write("lib/pkg/models/net.py");
  const std::string root = directory_.File("lib");
  EXPECT_EQ(LibraryHint(".", net, {}), net + " is part of the package pkg: add --library " + root);
  EXPECT_EQ(LibraryHint("pkg.ops", net, {}), net + " is part of the package pkg: add --library " + root);
}

TEST_F(LibraryHintTest, NeighboursAndFoldersAboveAreFound) {
  const std::string net = Write("repo/models/net.py");
  Write("repo/models/blocks.py");
  Write("repo/utils/__init__.py");
  const std::string models = directory_.File("repo/models"), repo = directory_.File("repo");
  EXPECT_EQ(LibraryHint("blocks", net, {}), "blocks is in " + models + ": add --library " + models);
  EXPECT_EQ(LibraryHint("utils.drop", net, {}), "utils is in " + repo + ": add --library " + repo);
}

TEST_F(LibraryHintTest, InstalledPackagesAreFound) {
  const std::string net = Write("net.py");
  Write("site/timm/__init__.py");
  const std::string site = directory_.File("site");
  EXPECT_EQ(LibraryHint("timm.layers", net, {"/nowhere", site}), "timm is in " + site + ": add --library " + site);
}

TEST_F(LibraryHintTest, APackageGivenAsALibraryIsNamed) {
  Write("site/timm/__init__.py");
  Write("site/data/table.py");
  const std::string site = directory_.File("site");
  EXPECT_EQ(PackageAsLibraryHint("timm.layers", {site, site + "/timm"}),
            site + "/timm is the package itself: give the folder that contains it, --library " + site);
  EXPECT_EQ(PackageAsLibraryHint("torchvision", {site + "/timm"}), "");
  EXPECT_EQ(PackageAsLibraryHint("data", {site + "/data"}), "");  // no package
}

TEST_F(LibraryHintTest, ANameThatIsNearlyANeighboursIsNamed) {
  const std::string net = Write("net.py");
  Write("utils.py");
  Write("blocks/__init__.py");
  Write("nets/data.txt");  // neither a module nor a package
  EXPECT_EQ(LibraryHint("utilz.helper", net, {}), "there is no utilz.py beside " + net +
                                                      ", but utils: did you mean that? Otherwise pass the folder "
                                                      "of utilz with --library DIR");
  EXPECT_NE(LibraryHint("block", net, {}).find("but blocks:"), std::string::npos);
  EXPECT_EQ(LibraryHint("netz", net, {}), "");
}

TEST_F(LibraryHintTest, NoHintWithoutAMatch) {
  const std::string net = Write("net.py");
  EXPECT_EQ(LibraryHint("no_such_package_anywhere", net, {directory_.File(".")}), "");
  EXPECT_EQ(LibraryHint(".", net, {directory_.File(".")}), "");
  EXPECT_EQ(LibraryHint("", net, {}), "");
}

}  // namespace
}  // namespace cobra::client
