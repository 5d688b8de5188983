#include "base/device_name.h"

#include <gtest/gtest.h>

namespace cobra {
namespace {

TEST(DeviceNameHas, PartsFromTheBeginningOfAWordWithWholeNumbers) {
  EXPECT_TRUE(DeviceNameHas("NVIDIA L4", "l4"));
  EXPECT_TRUE(DeviceNameHas("NVIDIA L4", "NVIDIA L4"));
  EXPECT_FALSE(DeviceNameHas("NVIDIA L40S", "NVIDIA L4"));
  EXPECT_TRUE(DeviceNameHas("NVIDIA A100-SXM4-80GB", "a100"));
  EXPECT_TRUE(DeviceNameHas("Raspberry Pi 5", "rasp"));
  EXPECT_FALSE(DeviceNameHas("Raspberry Pi 5", "berry"));
  EXPECT_TRUE(DeviceNameHas("RTX 30900, RTX 3090", "3090"));  // not in the first, but in the second
  EXPECT_TRUE(DeviceNameHas("anything", ""));
  EXPECT_FALSE(DeviceNameHas("", "a"));
}

}  // namespace
}  // namespace cobra
