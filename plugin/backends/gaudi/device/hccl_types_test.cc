#include "plugin/backends/gaudi/device/hccl_types.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace hpu::gaudi {
namespace {

using hal::DataType;

constexpr DataType kAllTypes[] = {DataType::kFloat32, DataType::kBFloat16,  DataType::kInt32,     DataType::kInt8,
                                  DataType::kBool,    DataType::kFloat16,   DataType::kFloat64,   DataType::kInt16,
                                  DataType::kInt64,   DataType::kUInt8,     DataType::kUInt16,    DataType::kUInt32,
                                  DataType::kUInt64,  DataType::kComplex64, DataType::kComplex128};

uint64_t BytesOfMoved(hccl::hcclDataType_t type) {
  switch (type) {
    case hccl::hcclUint8:
      return 1;
    case hccl::hcclBfloat16:
      return 2;
    case hccl::hcclFloat32:
      return 4;
    default:
      return 0;
  }
}

TEST(HcclTypesTest, MovedElementsHaveTheSizeOfTheType) {
  for (const DataType dtype : kAllTypes) {
    const MovedType moved = ToMovedType(dtype);
    EXPECT_EQ(BytesOfMoved(moved.type) * moved.multiplier, hal::SizeOf(dtype)) << hal::NameOf(dtype);
  }
}

TEST(HcclTypesTest, FloatsAreReducedAndOtherTypesRefused) {
  for (const synapse::Generation generation : synapse::kGenerations) {
    for (const DataType dtype : kAllTypes) {
      const bool is_float = dtype == DataType::kFloat32 || dtype == DataType::kBFloat16;
      const bool is_half = dtype == DataType::kFloat16 && generation != synapse::Generation::kGaudi;
      const auto type = ToReducedType(dtype, generation, "AllReduce");
      EXPECT_EQ(type.ok(), is_float || is_half) << hal::NameOf(dtype);
      if (type.ok()) continue;
      EXPECT_TRUE(absl::IsUnimplemented(type.status())) << type.status();
      EXPECT_TRUE(absl::StrContains(type.status().message(), hal::NameOf(dtype))) << type.status();
    }
  }
  EXPECT_EQ(*ToReducedType(DataType::kFloat16, synapse::Generation::kGaudi2, ""), hccl::hcclFloat16);
}

}  // namespace
}  // namespace hpu::gaudi
