// Facts about TensorFlow's ops that passes, compilation and kernels need. plugin/op_facts.yaml holds them.
#ifndef HPU_PLUGIN_OP_FACTS_OP_FACTS_H_
#define HPU_PLUGIN_OP_FACTS_OP_FACTS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hpu {

// What determines the size of an op's results.
enum class ResultSize {
  kShapes,   // shapes of operands and values of constants
  kBounded,  // data, up to a bound that the shapes give; a cluster may hold the op if no result of it leaves
  kData,     // data
};

// Whether and how an op draws random numbers.
enum class RandomNumbers {
  kNone,
  kSeeded,  // from state in the kernel, made from seed attributes; compiled code would ignore the seeds
  kOther,   // from state or a key in an operand; compiled code draws other numbers than the CPU kernel
};

// Whether the compiler lowers an op that tf2xla can lower.
enum class CompilePolicy {
  kAlways,
  kJitOnly,  // in jit_compile functions alone, where TensorFlow drops errors and draws XLA's numbers, too
  kNever,
};

// What computes an op that runs outside clusters and has a lowering.
enum class EagerPolicy {
  kCompiled,
  kCpu,  // the CPU kernel, for its errors or random numbers
};

// Checks of operands and attributes that tf2xla's lowerings lack (plugin/compiler/argument_rules.h).
enum class ArgumentCheck {
  kNone,
  kAveragePoolingGradient,
  kBatchNormalization,
  kDilations,
  kFakeQuantization,
  kFakeQuantizationGradient,
  kGatherNd,
  kMaxPoolingGradient,
  kMaxPoolingSecondGradient,
  kPooling,
};

// An op whose CPU kernel fails for indices out of range, where compiled code clamps or drops them.
struct IndexedOp {
  enum class Kind {
    kIndex,        // each is in [0, dimension)
    kSlice,        // like kIndex, unless the slices have no elements
    kBox,          // like kIndex: the indices select the image of each box
    kVector,       // each index is a vector; the leading dimensions bound its components
    kLabel,        // classes; the last dimension bounds them
    kSegment,      // like kIndex, but negative ones are dropped
    kLength,       // each is in [0, dimension]
    kPermutation,  // each is in [0, dimension), and occurs once
  };
  int indices = 0;        // input that holds the indices
  int bound = 0;          // input that bounds them
  bool resource = false;  // `bound` is the handle of a variable
  Kind kind = Kind::kIndex;
  const char* axis = nullptr;  // name of the input or attribute with the bounding dimension; null: dimension 0
  bool sizes = false;          // the value of `bound` is the bounding shape or size; else its shape bounds
  bool needs_check = true;     // else a function in a cluster may hold the op unchecked
};

// A test of an op whose CPU kernel fails for some values, where compiled code returns a number.
struct ValueRule {
  enum class Test {
    kNonzero,      // no element of the input is 0
    kNonNegative,  // no element of the input is negative
    kPositive,     // all elements of the input are positive
    kOrdered,      // the input, a scalar, is not greater than the next input
    kBand,         // the input and the next one are at most the rows and columns of input 0
    kFactored,     // the op's first result has no NaN, unless the input or a later one is not finite
  };
  enum class Types { kAny, kInteger, kFloating };
  Test test = Test::kNonzero;
  int input = 0;
  Types types = Types::kAny;                                   // the rule applies to these types of attribute T
  const char* attribute = nullptr;                             // the rule applies only if this attribute is true
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;  // of the CPU kernel's error
  const char* error = nullptr;                                 // text of the CPU kernel's error
  bool host_safe = true;                                       // else the CPU kernel writes outside its results
};

// Inputs and outputs that are feature maps, whose layout attribute data_format gives.
struct FeatureMaps {
  std::vector<int> arrays;       // inputs that are feature maps
  std::vector<int> shapes;       // inputs with one entry for each dimension of a feature map
  const char* output = nullptr;  // name of the output that is a feature map; null: none
};

// How an op's int64 and float64 tensors become int32 and float32.
struct NarrowingRule {
  enum class Role { kResult, kCarried, kOperand };
  const char* attribute = nullptr;  // names the type
  Role role = Role::kCarried;       // the op computes values of the type, moves them, or reads them
  bool integers_only = false;       // the result depends on values: a device may flush small float32 numbers to zero
};

struct OpFacts {
  bool fusible = false;       // XLA fuses the op with its neighbours, so HPU_CLUSTERING=lite takes it
  bool trivial = false;       // too cheap to justify a launch by itself
  bool product = false;       // products of matrices and convolutions: computed from bfloat16 without full precision
  bool sums_windows = false;  // convolutions, gradients of convolutions and pooling: 0 for an empty operand, where
                              // tf2xla's lowerings divide by sizes or lose shapes and CPU kernels crash or set nothing
  bool keeps_values = false;  // its first result holds only values of its first input
  bool only_reads = false;    // stateful, but without side effects
  bool loses_error = false;   // its CPU kernel may raise an error or print; compiled code would not
  ResultSize result_size = ResultSize::kShapes;
  RandomNumbers random = RandomNumbers::kNone;
  CompilePolicy compile = CompilePolicy::kAlways;
  EagerPolicy eager = EagerPolicy::kCompiled;
  ArgumentCheck argument_check = ArgumentCheck::kNone;
  std::optional<IndexedOp> indices;
  std::optional<ValueRule> values;
  std::optional<FeatureMaps> feature_maps;
  std::optional<NarrowingRule> narrowing;
};

// Facts about an op; all defaults for an op that the table does not list. The reference stays valid. Thread safe.
const OpFacts& FactsOf(std::string_view op);

// The op's rule of indices; null for most ops.
inline const IndexedOp* IndexedOpOf(std::string_view op) {
  const OpFacts& facts = FactsOf(op);
  return facts.indices ? &*facts.indices : nullptr;
}

}  // namespace hpu

#endif  // HPU_PLUGIN_OP_FACTS_OP_FACTS_H_
