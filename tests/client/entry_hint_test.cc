#include "client/entry_hint.h"

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(EntryHintTest, WhatNeedsNoArgumentComesFirst) {
  EXPECT_THAT(ModelsOf(R"(
import torch.nn as nn

class Config:
    pass

class Block(nn.Module):
    def __init__(self, cin, cout, stride=1, *, norm, act=None):
        super().__init__()

class Wide(Block):
    pass

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()

def helper(x):
    return x + 1

def net(width, depth=3):
    return Net()

def _net():
    return Net()

def small():
    model = _net()
    model.eval()
    return model

def annotated(weights=None, **kwargs) -> Net:
    raise NotImplementedError
)"),
              ElementsAre("small()", "annotated()", "Net()", "net(width)", "Block(cin, cout, norm=...)", "Wide(...)"));
}

TEST(EntryHintTest, NothingOfAFileWithoutModels) {
  EXPECT_THAT(ModelsOf("x = 1\n"), IsEmpty());
  EXPECT_THAT(ModelsOf("class Net(nn.Module\n"), IsEmpty());
  EXPECT_THAT(ModelsOf("def f():\n    return\n"), IsEmpty());
}

TEST(EntryHintTest, TheHintNamesThemOrGivesAnExample) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteFileAtomic(directory.File("net.py"), "import torch.nn as nn\nclass Net(nn.Sequential):\n    pass\n").ok());
  EXPECT_THAT(MissingEntryHint(directory.File("net.py")), HasSubstr("net.py has Net(...): --entry 'Net(...)'"));
  EXPECT_THAT(MissingEntryHint(directory.File("none.py")), HasSubstr("--entry 'resnet50()'"));
}

}  // namespace
}  // namespace cobra
