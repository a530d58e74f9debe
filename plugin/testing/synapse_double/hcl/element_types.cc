#include "plugin/testing/synapse_double/hcl/element_types.h"

#include <cmath>

#include "plugin/testing/synapse_double/kernels/element_type.h"

namespace hpu::synapse_double {
namespace {

// The kernels' type; kNone for types that they lack.
ElementType KernelType(hccl::hcclDataType_t type) {
  switch (type) {
    case hccl::hcclInt8:
      return ElementType::kI8;
    case hccl::hcclUint8:
      return ElementType::kU8;
    case hccl::hcclInt32:
      return ElementType::kI32;
    case hccl::hcclUint32:
      return ElementType::kU32;
    case hccl::hcclInt64:
      return ElementType::kI64;
    case hccl::hcclUint64:
      return ElementType::kU64;
    case hccl::hcclFloat16:
      return ElementType::kF16;
    case hccl::hcclFloat32:
      return ElementType::kF32;
    case hccl::hcclBfloat16:
      return ElementType::kBf16;
    case hccl::hcclFloat64:
      break;
  }
  return ElementType::kNone;
}

double Combine(hccl::hcclRedOp_t op, double left, double right) {
  switch (op) {
    case hccl::hcclSum:
    case hccl::hcclAvg:
      return left + right;
    case hccl::hcclProd:
      return left * right;
    case hccl::hcclMin:
      return std::isnan(left) || left < right ? left : right;
    case hccl::hcclMax:
      return std::isnan(left) || left > right ? left : right;
  }
  return left;
}

}  // namespace

uint64_t BytesOf(hccl::hcclDataType_t type) {
  return type == hccl::hcclFloat64 ? sizeof(double) : BytesOf(KernelType(type));
}

const char* NameOf(hccl::hcclDataType_t type) {
  if (type == hccl::hcclFloat64) return "f64";
  const ElementType known = KernelType(type);
  return known == ElementType::kNone ? "?" : SuffixOf(known);
}

bool IsReducible(hccl::hcclDataType_t type, synapse::Generation generation) {
  return type == hccl::hcclFloat32 || type == hccl::hcclBfloat16 ||
         (type == hccl::hcclFloat16 && generation != synapse::Generation::kGaudi);
}

bool IsMovable(hccl::hcclDataType_t type, synapse::Generation generation) {
  return IsReducible(type, generation) || BytesOf(type) == 1;
}

void Reduce(hccl::hcclDataType_t type, hccl::hcclRedOp_t op, const std::vector<const char*>& sources, uint64_t count,
            char* destination) {
  const ElementType element = KernelType(type);
  const uint64_t bytes = BytesOf(type);
  for (uint64_t i = 0; i < count; ++i) {
    double result = LoadElement<double>(element, sources[0] + i * bytes);
    for (size_t rank = 1; rank < sources.size(); ++rank) {
      result = Combine(op, result, LoadElement<double>(element, sources[rank] + i * bytes));
    }
    if (op == hccl::hcclAvg) result /= static_cast<double>(sources.size());
    StoreElement<double>(element, result, destination + i * bytes);
  }
}

}  // namespace hpu::synapse_double
