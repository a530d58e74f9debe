// Comparisons, where, and logic of predicates. A predicate is an i8 or u8: 0 is false.
#include "plugin/testing/synapse_double/kernels/elementwise.h"
#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

bool IsPredicate(ElementType type) { return type == ElementType::kI8 || type == ElementType::kU8; }

bool RequirePredicate(KernelContext* context, const TensorView& view, const char* name) {
  return context->Require(IsPredicate(view.type), name, ": expected i8 or u8, found ", SuffixOf(view.type));
}

template <typename Op>
void Compare(KernelContext& context, const Op& op) {
  if (!RequirePredicate(&context, context.output(0), "output 0")) return;
  ComputeBinary(context, [&](auto a, auto b) { return int64_t{op(a, b)}; });
}

void Equal(KernelContext& context) {
  Compare(context, [](auto a, auto b) { return a == b; });
}

void Less(KernelContext& context) {
  Compare(context, [](auto a, auto b) { return a < b; });
}

void LessEqual(KernelContext& context) {
  Compare(context, [](auto a, auto b) { return a <= b; });
}

void Greater(KernelContext& context) {
  Compare(context, [](auto a, auto b) { return a > b; });
}

void GreaterEqual(KernelContext& context) {
  Compare(context, [](auto a, auto b) { return a >= b; });
}

void Where(KernelContext& context) {
  if (!RequirePredicate(&context, context.input(0), "input 0")) return;
  Sizes sizes;
  if (!BroadcastSizes(&context, 0, 3, &sizes)) return;
  const DenseArray<int64_t> condition = LoadBroadcast<int64_t>(context, 0, sizes);
  WithComputeType(ComputeTypeOf(context, 1, 3), [&](auto zero) {
    using T = decltype(zero);
    const DenseArray<T> a = LoadBroadcast<T>(context, 1, sizes);
    const DenseArray<T> b = LoadBroadcast<T>(context, 2, sizes);
    DenseArray<T> y(sizes);
    for (int64_t i = 0; i < y.count(); ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
    Store(y, context.output(0));
  });
}

template <typename Op>
void CombineTruth(KernelContext& context, const Op& op) {
  if (!RequirePredicate(&context, context.input(0), "input 0")) return;
  if (!RequirePredicate(&context, context.input(1), "input 1")) return;
  if (!RequirePredicate(&context, context.output(0), "output 0")) return;
  ComputeBinary(context, [&](auto a, auto b) { return int64_t{op(a != 0, b != 0)}; });
}

void And(KernelContext& context) {
  CombineTruth(context, [](bool a, bool b) { return a && b; });
}

void Or(KernelContext& context) {
  CombineTruth(context, [](bool a, bool b) { return a || b; });
}

void Xor(KernelContext& context) {
  CombineTruth(context, [](bool a, bool b) { return a != b; });
}

void Not(KernelContext& context) {
  if (!RequirePredicate(&context, context.input(0), "input 0")) return;
  if (!RequirePredicate(&context, context.output(0), "output 0")) return;
  ComputeUnary(context, [](auto x) { return int64_t{x == 0}; });
}

}  // namespace

void AddComparisons(KernelRegistry* registry) {
  const auto add = [&](const char* stem, size_t inputs, Kernel kernel) {
    registry->Add({stem, Suffix::kType, {inputs, inputs}, {1, 1}, {0}, kernel});
  };
  add("and", 2, And);
  add("equal_fwd", 2, Equal);
  add("greater_equal_fwd", 2, GreaterEqual);
  add("greater_fwd", 2, Greater);
  add("less_equal_fwd", 2, LessEqual);
  add("less_fwd", 2, Less);
  add("not", 1, Not);
  add("not_fwd", 1, Not);
  add("or", 2, Or);
  add("where_fwd", 3, Where);
  add("xor", 2, Xor);
}

}  // namespace hpu::synapse_double
