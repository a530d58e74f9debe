// Random HLO programs of one instruction each, for comparisons of a backend with XLA's evaluator.
#ifndef HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_PROGRAM_H_
#define HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/testing/fuzz/hlo/random_choice.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace hpu::fuzz {

// Maximum rank of arrays.
inline constexpr int64_t kMaxRank = 6;

// Values of an argument.
enum class Values {
  kSmall,     // floats from -2 to 2, integers from -9 to 9 (unsigned: 0 to 18)
  kPositive,  // floats from 0.1 to 2
  kIndices,   // integers from -2 to 5 (unsigned: 0 to 5), of which some are out of range
  kEdges,     // a third are limits: zeros of both signs, infinities, NaN, halves, the largest and smallest integers
};

struct RandomProgram {
  std::string name;  // family and opcode
  std::string hlo;
  std::vector<Values> arguments;
  double tolerance = 0;  // of the results, relative to the largest one
};

// The instruction's family, opcode, types, ranks and attributes depend on the seed alone. XLA's evaluator
// supports the program.
RandomProgram MakeRandomProgram(uint64_t seed);

// Arguments of a program's entry.
std::vector<xla::Literal> MakeArguments(const xla::HloModule& module, const std::vector<Values>& values, uint64_t seed);

// Collects the text of a program.
class ProgramText {
 public:
  // Both return the name of an instruction of the entry.
  std::string Argument(const std::string& shape, Values values);
  std::string Add(const std::string& shape, const std::string& instruction);
  // Adds a computation of two scalars, and returns its name.
  std::string Combiner(const ElementType& type, const std::string& opcode);
  void AddComputation(const std::string& text) { computations_ += text; }
  // The last instruction is the root.
  RandomProgram Finish(const std::string& name, double tolerance) const;

 private:
  std::string computations_;
  std::vector<std::string> lines_;
  std::vector<Values> values_;
  int combiners_ = 0;
};

// Families of opcodes.
RandomProgram UnaryProgram(RandomChoice& random);
RandomProgram BinaryProgram(RandomChoice& random);
RandomProgram CompareProgram(RandomChoice& random);
RandomProgram TernaryProgram(RandomChoice& random);
RandomProgram ConvertProgram(RandomChoice& random);
RandomProgram BitcastProgram(RandomChoice& random);
RandomProgram ReducePrecisionProgram(RandomChoice& random);
RandomProgram MovementProgram(RandomChoice& random);
RandomProgram DynamicSliceProgram(RandomChoice& random);
RandomProgram DotProgram(RandomChoice& random);
RandomProgram ConvolutionProgram(RandomChoice& random);
RandomProgram ReduceProgram(RandomChoice& random);
RandomProgram ReduceWindowProgram(RandomChoice& random);
RandomProgram SelectAndScatterProgram(RandomChoice& random);
RandomProgram GatherProgram(RandomChoice& random);
RandomProgram ScatterProgram(RandomChoice& random);
RandomProgram SortProgram(RandomChoice& random);
RandomProgram BatchNormProgram(RandomChoice& random);
RandomProgram GeneratorProgram(RandomChoice& random);

}  // namespace hpu::fuzz

#endif  // HPU_PLUGIN_TESTING_FUZZ_HLO_RANDOM_PROGRAM_H_
