#include "plugin/backends/gaudi/device/hccl_types.h"

#include "absl/strings/str_cat.h"

namespace hpu::gaudi {

MovedType ToMovedType(hal::DataType dtype) {
  const uint64_t bytes = hal::SizeOf(dtype);
  if (bytes == 1) return {hccl::hcclUint8, 1};
  if (bytes == 2) return {hccl::hcclBfloat16, 1};
  return {hccl::hcclFloat32, bytes / sizeof(float)};
}

absl::StatusOr<hccl::hcclDataType_t> ToReducedType(hal::DataType dtype, synapse::Generation generation,
                                                   const char* operation) {
  switch (dtype) {
    case hal::DataType::kFloat32:
      return hccl::hcclFloat32;
    case hal::DataType::kBFloat16:
      return hccl::hcclBfloat16;
    case hal::DataType::kFloat16:
      if (generation != synapse::Generation::kGaudi) return hccl::hcclFloat16;
      break;
    default:
      break;
  }
  return absl::UnimplementedError(
      absl::StrCat(operation, " does not support elements of ", hal::NameOf(dtype), " on ",
                   synapse::GenerationName(generation), ": the card's collectives reduce float32 and bfloat16",
                   generation == synapse::Generation::kGaudi ? "" : " and float16", "; cast the elements"));
}

hccl::hcclRedOp_t ToReduction(hal::ReduceOp op) {
  switch (op) {
    case hal::ReduceOp::kSum:
      return hccl::hcclSum;
    case hal::ReduceOp::kProduct:
      return hccl::hcclProd;
    case hal::ReduceOp::kMin:
      return hccl::hcclMin;
    case hal::ReduceOp::kMax:
      return hccl::hcclMax;
    case hal::ReduceOp::kAverage:
      return hccl::hcclAvg;
  }
  return hccl::hcclSum;
}

}  // namespace hpu::gaudi
