#include "plugin/testing/fuzz/hlo/random_program.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla/index_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hpu::fuzz {
namespace {

using Family = RandomProgram (*)(RandomChoice&);

// Frequent families are listed more than once.
constexpr Family kFamilies[] = {
    UnaryProgram,    BinaryProgram,    BinaryProgram,       CompareProgram,
    TernaryProgram,  ConvertProgram,   ConvertProgram,      BitcastProgram,
    MovementProgram, MovementProgram,  MovementProgram,     DynamicSliceProgram,
    DotProgram,      DotProgram,       ConvolutionProgram,  ConvolutionProgram,
    ReduceProgram,   ReduceProgram,    ReduceWindowProgram, SelectAndScatterProgram,
    GatherProgram,   GatherProgram,    ScatterProgram,      ScatterProgram,
    SortProgram,     BatchNormProgram, GeneratorProgram,    ReducePrecisionProgram,
};

double RandomFloat(Values values, RandomChoice& random) {
  static const auto* const edges = new std::vector<double>{0,
                                                           -0.0,
                                                           1,
                                                           -1,
                                                           0.5,
                                                           -0.5,
                                                           1.5,
                                                           2.5,
                                                           -2.5,
                                                           127.5,
                                                           -300,
                                                           70000,
                                                           3e9,
                                                           -1e10,
                                                           1e20,
                                                           std::numeric_limits<double>::infinity(),
                                                           -std::numeric_limits<double>::infinity(),
                                                           std::numeric_limits<double>::quiet_NaN()};
  if (values == Values::kEdges && random.OneIn(3)) return random.Of(*edges);
  constexpr int64_t kSteps = 1 << 20;
  const double number = static_cast<double>(random.Between(-kSteps, kSteps)) / (kSteps / 2);
  return values == Values::kPositive ? 0.1 + std::abs(number) * 0.95 : number;
}

int64_t RandomInteger(Values values, xla::PrimitiveType type, RandomChoice& random) {
  const bool is_unsigned = xla::primitive_util::IsUnsignedIntegralType(type);
  if (values == Values::kIndices) return random.Between(is_unsigned ? 0 : -2, 5);
  if (values == Values::kEdges && random.OneIn(3)) {
    const int bits = xla::primitive_util::BitWidth(type);
    const int64_t max_signed = bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
    // -1 has the bits of the largest unsigned 64-bit integer.
    const int64_t max = !is_unsigned ? max_signed : bits == 64 ? -1 : 2 * max_signed + 1;
    return random.Of(std::vector<int64_t>{max, max - 1, is_unsigned ? 0 : -max_signed - 1, max_signed});
  }
  return random.Between(-9, 9) + (is_unsigned ? 9 : 0);
}

void SetElement(Values values, xla::Literal* literal, absl::Span<const int64_t> index, RandomChoice& random) {
  const xla::PrimitiveType type = literal->shape().element_type();
  if (type == xla::PRED) {
    literal->Set<bool>(index, random.OneIn(2));
  } else if (xla::primitive_util::IsFloatingPointType(type)) {
    CHECK(literal->SetFromDouble(index, RandomFloat(values, random)).ok());
  } else if (type == xla::U64) {
    literal->Set<uint64_t>(index, static_cast<uint64_t>(RandomInteger(values, type, random)));
  } else {
    CHECK(literal->SetIntegralAsS64(index, RandomInteger(values, type, random)).ok());
  }
}

}  // namespace

RandomProgram MakeRandomProgram(uint64_t seed) {
  RandomChoice random(seed);
  // The seed selects the family, so that consecutive seeds cover all families.
  return kFamilies[seed % std::size(kFamilies)](random);
}

std::vector<xla::Literal> MakeArguments(const xla::HloModule& module, const std::vector<Values>& values,
                                        uint64_t seed) {
  RandomChoice random(~seed);
  std::vector<xla::Literal> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    const xla::Shape& shape = module.entry_computation()->parameter_instruction(static_cast<int64_t>(i))->shape();
    xla::Literal literal(shape);
    for (int64_t j = 0; j < xla::ShapeUtil::ElementsIn(shape); ++j) {
      SetElement(values[i], &literal, xla::IndexUtil::LinearIndexToMultidimensionalIndex(shape, j), random);
    }
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

std::string ProgramText::Argument(const std::string& shape, Values values) {
  values_.push_back(values);
  return Add(shape, absl::StrCat("parameter(", values_.size() - 1, ")"));
}

std::string ProgramText::Add(const std::string& shape, const std::string& instruction) {
  const std::string name = absl::StrCat("i", lines_.size());
  lines_.push_back(absl::StrCat(name, " = ", shape, " ", instruction));
  return name;
}

std::string ProgramText::Combiner(const ElementType& type, const std::string& opcode) {
  const std::string name = absl::StrCat("f", combiners_++);
  absl::StrAppend(&computations_, name, " { a = ", type.name, "[] parameter(0)\n b = ", type.name,
                  "[] parameter(1)\n ROOT r = ", type.name, "[] ", opcode, "(a, b) }\n");
  return name;
}

RandomProgram ProgramText::Finish(const std::string& name, double tolerance) const {
  std::vector<std::string> lines = lines_;
  lines.back() = absl::StrCat("ROOT ", lines.back());
  return {name, absl::StrCat("HloModule m\n", computations_, "ENTRY e {\n", absl::StrJoin(lines, "\n"), "\n}\n"),
          values_, tolerance};
}

}  // namespace hpu::fuzz
