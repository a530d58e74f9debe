// Facts about TensorFlow ops for graph passes, compiler and kernels. The table is generated from plugin/op_facts.yaml.
#ifndef HPU_PLUGIN_OP_FACTS_OP_FACTS_H_
#define HPU_PLUGIN_OP_FACTS_OP_FACTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hpu {

// Origin of the sizes of an op's results.
enum class ResultSize {
  kShapes,   // operand shapes and constants
  kBounded,  // values, up to a bound known from shapes; such a result must not leave its cluster
  kData,     // values
};

// Source of an op's random numbers.
enum class RandomNumbers {
  kNone,
  kSeeded,  // from generator state in the kernel, initialised from seed attributes; compiled code would ignore the
            // seeds
  kOther,   // an operand holds the state or key; compiled code draws different numbers than the CPU kernel
};

// Condition for the use of an op's lowering in compilations.
enum class CompilePolicy {
  kAlways,
  kJitOnly,  // only in jit_compile functions, where stock TensorFlow also loses errors and uses XLA's random numbers
  kNever,
};

// Execution, outside clusters, of an op with a lowering.
enum class EagerPolicy {
  kCompiled,
  kCpu,       // by the CPU kernel, because compiled code lacks the kernel's errors or random numbers
  kCpuInt32,  // on the CPU if the operands are int32: int32 is in host memory, and the result stays there
};

// Dynamic dimensions with which an op's lowering computes right. A lowering of tf2xla may take the bound for the size.
// tests/ops/sweep/dynamic_sweep.py compares the classes with the lowerings.
enum class DynamicSizes {
  kRefused,    // none is known: the op fails for operands of dynamic size
  kAll,        // every dimension
  kBroadcast,  // every dimension, but a dynamic dimension must not meet a static dimension other than 1
  kBatch,      // dimension 0 of each operand
  kLikeInput,  // every dimension of input 0, if the lowering runs over the bounds: result 0 has the shape of input 0,
               // and elements past a size do not influence the others
  kZerosPast,  // like kLikeInput, if the elements past a size are zeros
  kOnesPast,   // like kLikeInput, if the elements past a size are ones
  kWindows,    // every dimension except features and filters (compiler/dynamic_shapes/dynamic_windows.h)
  kDraw,       // random numbers by linear index; input 0, the result's shape, may depend on sizes
  kCapacity,   // inputs 0 and 1, an element shape and a maximum number of elements; the latter may be its bound
  kFirstPast,  // dimension 0 of a vector, if the elements past the size are copies of the first element; result 0 has
               // at most as many elements as the input, result 1 as many
  kLabelled,   // dimensions with a label (`labels`), if the lowering runs over the bounds
};

// Checks of operands and attributes that tf2xla's lowerings lack (plugin/compiler/argument_rules.h).
enum class ArgumentCheck {
  kNone,
  kAtLeastVector,  // input 0 has a dimension
  kAveragePoolingGradient,
  kBatchNormalization,
  kConvolution,
  kDilations,
  kFakeQuantization,
  kFakeQuantizationGradient,
  kGatherNd,
  kListItem,
  kMaxPoolingGradient,
  kMaxPoolingSecondGradient,
  kPooling,
  kVector,  // input 1 is a vector
};

// An op whose CPU kernel fails for out-of-range indices. Compiled code would return a result.
struct IndexedOp {
  enum class Kind {
    kIndex,           // 0 <= index < dimension
    kSlice,           // like kIndex, but not checked if the slices have no elements
    kBox,             // like kIndex; index i selects the image of box i
    kVector,          // each index is a vector; the leading dimensions bound its components
    kLabel,           // class labels: 0 <= label < last dimension
    kSegment,         // segment ids: id < dimension; negative ids are dropped
    kLength,          // 0 <= length <= dimension
    kPermutation,     // like kIndex, without duplicates
    kElement,         // -dimension <= index < dimension
    kListElement,     // like kIndex; an element of a TensorList that is read
    kWrittenElement,  // like kIndex; an element of a TensorList that is written
    kBegin,           // begin of a slice. Bounded by the tensor's sizes, followed by the slice's sizes
  };
  int indices = 0;        // input that holds the indices
  int bound = 0;          // input that bounds the indices
  bool resource = false;  // `bound` is the handle of a variable
  Kind kind = Kind::kIndex;
  const char* axis = nullptr;  // input or attribute that selects the bounding dimension; null: 0, for kLabel the last
  bool sizes = false;          // true: the value of `bound` is the bound; false: the shape of `bound`
  bool needs_check = true;     // false: functions inside clusters may contain the op without a check
};

// A condition on an op's values. If the values violate the condition, the CPU kernel fails, but compiled code returns a
// result.
struct ValueRule {
  enum class Test {
    kNonzero,      // no element of the input is 0
    kNonNegative,  // no element of the input is negative
    kPositive,     // all elements of the input are positive
    kFinite,       // no element of the input is infinite or NaN
    kOrdered,      // the input, a scalar, is not greater than the next input
    kBand,         // the input is at most the number of rows of input 0, the next input at most the number of columns
    kFactored,     // result 0 contains no NaN, or `input` or a later input is not finite
  };
  enum class Types { kAny, kInteger, kFloating };
  Test test = Test::kNonzero;
  int input = 0;
  int other = -1;  // the CPU kernel tests no values if this input is empty, because the result is empty; -1: it does
  Types types = Types::kAny;                                   // values of attribute T that the rule applies to
  const char* attribute = nullptr;                             // the rule applies only if this attribute is true
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;  // status code of the CPU kernel's error
  const char* error = nullptr;                                 // text of the CPU kernel's error
  bool host_safe = true;                                       // false: the CPU kernel would write out of bounds
};

// Inputs and outputs that are feature maps. The op's attribute data_format holds the layout of all feature maps.
struct FeatureMaps {
  std::vector<int> arrays;       // inputs that are feature maps
  std::vector<int> shapes;       // inputs with one entry for each dimension of a feature map
  const char* output = nullptr;  // name of the output that is a feature map; null: none
};

// Conversion of an op's int64 and float64 tensors to int32 and float32.
struct NarrowingRule {
  enum class Role { kResult, kCarried, kOperand };
  const char* attribute = nullptr;  // name of the type attribute
  Role role = Role::kCarried;       // the op computes values of this type, only moves them, or only reads them
  bool integers_only = false;       // excludes float64, because a device may flush small float32 values to zero
};

struct OpFacts {
  bool fusible = false;       // XLA fuses the op with its neighbours; HPU_CLUSTERING=lite clusters only such ops
  bool trivial = false;       // too cheap to justify a launch by itself
  bool product = false;       // matrix products and convolutions; HPU_FP32_MATH=bfloat16 rounds the operands
  bool sums_windows = false;  // convolutions, and gradients of convolutions and pooling: the result is 0 if an operand
                              // is empty. tf2xla's lowerings and the CPU kernels mishandle empty operands
  bool keeps_values = false;  // result 0 contains only values of input 0
  bool only_reads = false;    // stateful, but without side effects
  bool loses_error = false;   // the CPU kernel may fail or print, which compiled code cannot
  bool unevaluated =
      false;               // XLA's evaluator (ValueInference) cannot compute the result of known operands while tf2xla
                           // compiles: scatters, loops, matrix products, windows. So it is no compile-time constant
  bool unwritten = false;  // the CPU kernel may leave elements of its result unwritten although no operand is empty
  ResultSize result_size = ResultSize::kShapes;
  RandomNumbers random = RandomNumbers::kNone;
  CompilePolicy compile = CompilePolicy::kAlways;
  EagerPolicy eager = EagerPolicy::kCompiled;
  ArgumentCheck argument_check = ArgumentCheck::kNone;
  DynamicSizes dynamic = DynamicSizes::kRefused;
  const char* labels = nullptr;  // for kLabelled; plugin/compiler/dynamic_shapes/labelled_dimensions.h explains them
  std::optional<IndexedOp> indices;
  std::optional<ValueRule> values;
  std::optional<FeatureMaps> feature_maps;
  std::optional<NarrowingRule> narrowing;
};

// Facts about an op; the defaults if the table does not list the op. The reference stays valid. Thread safe.
const OpFacts& FactsOf(std::string_view op);

// The ops with a fact, in no order. The names stay valid. Thread safe.
std::vector<std::string_view> OpsWith(bool OpFacts::*fact);

// The ops that the table lists, in alphabetical order. The names stay valid. Thread safe.
std::vector<std::string_view> ListedOps();

// The op's index rule; null for most ops.
inline const IndexedOp* IndexedOpOf(std::string_view op) {
  const OpFacts& facts = FactsOf(op);
  return facts.indices ? &*facts.indices : nullptr;
}

}  // namespace hpu

#endif  // HPU_PLUGIN_OP_FACTS_OP_FACTS_H_
