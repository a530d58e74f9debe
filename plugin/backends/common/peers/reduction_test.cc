// Tests of Reduce: types of the sums, order and rounding.
#include "plugin/backends/common/peers/reduction.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "Eigen/Core"

namespace hpu::peers {
namespace {

using hal::DataType;
using hal::ReduceOp;

// Result of a reduction of one element per source.
template <typename T>
T ReduceOne(DataType dtype, ReduceOp op, const std::vector<T>& values) {
  std::vector<const char*> sources;
  for (const T& value : values) sources.push_back(reinterpret_cast<const char*>(&value));
  T result{}, other{};
  Reduce(dtype, op, sources, 1, {reinterpret_cast<char*>(&result), reinterpret_cast<char*>(&other)});
  EXPECT_EQ(result, other);
  return result;
}

TEST(ReductionTest, AllOperations) {
  const std::vector<float> values = {3, -2, 5};
  EXPECT_EQ(6, ReduceOne(DataType::kFloat32, ReduceOp::kSum, values));
  EXPECT_EQ(-30, ReduceOne(DataType::kFloat32, ReduceOp::kProduct, values));
  EXPECT_EQ(-2, ReduceOne(DataType::kFloat32, ReduceOp::kMin, values));
  EXPECT_EQ(5, ReduceOne(DataType::kFloat32, ReduceOp::kMax, values));
  EXPECT_EQ(2, ReduceOne(DataType::kFloat32, ReduceOp::kAverage, values));
}

TEST(ReductionTest, HalfPrecisionIsSummedInFloat) {
  const std::vector<Eigen::half> halves = {Eigen::half(2048), Eigen::half(1), Eigen::half(1)};
  EXPECT_EQ(Eigen::half(2050), ReduceOne(DataType::kFloat16, ReduceOp::kSum, halves));
  const std::vector<Eigen::bfloat16> brains = {Eigen::bfloat16(256), Eigen::bfloat16(1), Eigen::bfloat16(1)};
  EXPECT_EQ(Eigen::bfloat16(258), ReduceOne(DataType::kBFloat16, ReduceOp::kSum, brains));
}

TEST(ReductionTest, FloatsAreSummedInTheOrderOfTheSources) {
  EXPECT_EQ(0, ReduceOne<float>(DataType::kFloat32, ReduceOp::kSum, {1, 1e8f, -1e8f}));
  EXPECT_EQ(1, ReduceOne<float>(DataType::kFloat32, ReduceOp::kSum, {1e8f, -1e8f, 1}));
}

TEST(ReductionTest, WholeNumbersWrapAround) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(std::numeric_limits<int32_t>::min(), ReduceOne<int32_t>(DataType::kInt32, ReduceOp::kSum, {kMax, 1}));
  EXPECT_EQ(1, ReduceOne<uint64_t>(DataType::kUInt64, ReduceOp::kProduct, {UINT64_MAX, UINT64_MAX}));
  EXPECT_EQ(-64, ReduceOne<int8_t>(DataType::kInt8, ReduceOp::kAverage, {127, 1}));
}

TEST(ReductionTest, AverageOfMoreSourcesThanAnElementCanCount) {
  EXPECT_EQ(0, ReduceOne<int8_t>(DataType::kInt8, ReduceOp::kAverage, std::vector<int8_t>(256, 1)));
  EXPECT_EQ(0, ReduceOne<uint8_t>(DataType::kUInt8, ReduceOp::kAverage, std::vector<uint8_t>(256, 1)));
}

TEST(ReductionTest, TypesWithoutAnOrderAreNotReducible) {
  EXPECT_FALSE(IsReducible(DataType::kBool));
  EXPECT_FALSE(IsReducible(DataType::kComplex64));
  EXPECT_TRUE(IsReducible(DataType::kBFloat16));
}

}  // namespace
}  // namespace hpu::peers
