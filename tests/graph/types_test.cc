#include "graph/types.h"

#include "base/diagnostic.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

TEST(TypesTest, ParsesWhatItPrints) {
  for (absl::string_view text : {"1x3x224x224:float32", "2x128:int64", "scalar:bool", "0x4:bfloat16"}) {
    EXPECT_EQ(TypeText(ParseTensorType(text).value()), text);
  }
  EXPECT_EQ(ParseTensorType("1x3").value().dtype, DType::float32);
}

TEST(TypesTest, WrongTextIsAUsageError) {
  for (absl::string_view text : {"1xx3", "1x-3", "", "1x3:floaty", "axb"}) {
    const absl::Status status = ParseTensorType(text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kUsage) << text;
  }
}

TEST(TypesTest, PromotionIsPyTorchs) {
  EXPECT_EQ(PromoteDTypes(DType::int64, DType::float16), DType::float16);
  EXPECT_EQ(PromoteDTypes(DType::float16, DType::bfloat16), DType::float32);
  EXPECT_EQ(PromoteDTypes(DType::uint8, DType::int8), DType::int16);
  EXPECT_EQ(PromoteDTypes(DType::bool_, DType::int32), DType::int32);
  EXPECT_EQ(PromoteDTypes(DType::complex64, DType::float64), DType::complex128);
}

TEST(TypesTest, ElementCountsSaturate) {
  const TensorType huge{{int64_t{1} << 40, int64_t{1} << 40}, DType::float32};
  EXPECT_GT(huge.num_bytes(), int64_t{1} << 60);
}

}  // namespace
}  // namespace cobra::graph
