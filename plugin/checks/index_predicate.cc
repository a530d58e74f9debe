#include "plugin/checks/index_predicate.h"

#include <cstdint>
#include <vector>

#include "plugin/base/status_macros.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/comparators.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/primitive_util.h"

namespace hpu::checks {
namespace {

using xla::XlaOp;

XlaOp AllTrue(XlaOp predicates) { return xla::Not(xla::Any(xla::Not(predicates))); }

// Makes the nodes of one predicate. Numbers have the type of the indices, or int32 if that is narrower, because a size
// need not fit into it.
class IndexPredicate {
 public:
  // `shape`: that of the indices.
  IndexPredicate(const IndexRule& rule, XlaOp indices, const xla::Shape& shape, XlaOp sizes, int64_t rank)
      : rule_(rule), builder_(indices.builder()), shape_(shape), rank_(rank) {
    const bool is_narrow = xla::primitive_util::BitWidth(shape.element_type()) < 32;
    type_ = is_narrow ? xla::S32 : shape.element_type();
    indices_ = xla::ConvertElementType(indices, type_);
    sizes_ = xla::ConvertElementType(xla::Reshape(sizes, {rank}), type_);
  }

  XlaOp Make() const {
    switch (rule_.kind) {
      case IndexKind::kVector:
        return AllTrue(xla::And(NotNegative(indices_), xla::Lt(indices_, ForComponents(SizesFrom(0, LastSize())))));
      case IndexKind::kBegin:
        return BeginsInRange();
      case IndexKind::kPermutation:
        return IsPermutation();
      default:
        return EachInRange();
    }
  }

 private:
  int64_t LastSize() const { return shape_.dimensions(static_cast<int>(shape_.dimensions().size()) - 1); }
  static XlaOp NotNegative(XlaOp values) { return xla::Ge(values, xla::ZerosLike(values)); }
  XlaOp SizesFrom(int64_t first, int64_t count) const { return xla::SliceInDim(sizes_, first, first + count, 1, 0); }
  XlaOp SizeAt(int64_t axis) const { return xla::Reshape(SizesFrom(axis, 1), {}); }

  XlaOp ForComponents(XlaOp limits) const {
    return xla::BroadcastInDim(limits, shape_.dimensions(), {static_cast<int64_t>(shape_.dimensions().size()) - 1});
  }

  XlaOp BeginsInRange() const {
    const XlaOp slice = SizesFrom(LastSize(), LastSize()), last = xla::Sub(SizesFrom(0, LastSize()), slice);
    return AllTrue(xla::And(xla::And(NotNegative(indices_), NotNegative(slice)), xla::Le(indices_, last)));
  }

  // Whether the indices hold each number from 0 once.
  XlaOp IsPermutation() const {
    const XlaOp sorted = xla::Sort({indices_}, xla::CreateScalarLtComputation({type_}, builder_), 0, false);
    return AllTrue(xla::Eq(sorted, xla::Iota(builder_, type_, shape_.dimensions(0))));
  }

  XlaOp EachInRange() const {
    const int64_t axis = rule_.axis < 0 ? rule_.axis + rank_ : rule_.axis;
    const XlaOp limit = SizeAt(axis);
    XlaOp valid = rule_.kind == IndexKind::kLength ? xla::Le(indices_, limit) : xla::Lt(indices_, limit);
    const XlaOp lowest = rule_.kind == IndexKind::kElement ? xla::Neg(limit) : xla::ZerosLike(limit);
    if (rule_.kind != IndexKind::kSegment) valid = xla::And(valid, xla::Ge(indices_, lowest));
    XlaOp passes = AllTrue(valid);
    if (rule_.kind != IndexKind::kSlice && rule_.kind != IndexKind::kSegment) return passes;
    for (int64_t i = 0; i < rank_; ++i) {  // slices and rows without elements need no valid index
      if (i != axis) passes = xla::Or(passes, xla::Eq(SizeAt(i), xla::Zero(builder_, type_)));
    }
    return passes;
  }

  const IndexRule& rule_;
  xla::XlaBuilder* const builder_;
  const xla::Shape& shape_;
  const int64_t rank_;
  xla::PrimitiveType type_;
  XlaOp indices_;
  XlaOp sizes_;
};

}  // namespace

XlaOp IndicesInRange(const IndexRule& rule, XlaOp indices, XlaOp sizes) {
  xla::XlaBuilder* const builder = indices.builder();
  return builder->ReportErrorOrReturn([&]() -> absl::StatusOr<XlaOp> {
    HPU_ASSIGN_OR_RETURN(const xla::Shape shape, builder->GetShape(indices));
    HPU_ASSIGN_OR_RETURN(const xla::Shape sizes_shape, builder->GetShape(sizes));
    const int64_t rank = xla::ShapeUtil::ElementsIn(sizes_shape);
    const int dimensions = static_cast<int>(shape.dimensions().size());
    const int64_t last_size = dimensions == 0 ? 0 : shape.dimensions(dimensions - 1);
    if (xla::ShapeUtil::IsZeroElementArray(shape) || IsReportedByOp(rule, dimensions, last_size, rank)) {
      return xla::ConstantR0<bool>(builder, true);
    }
    return IndexPredicate(rule, indices, shape, sizes, rank).Make();
  });
}

}  // namespace hpu::checks
