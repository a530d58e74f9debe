// Random programs of one instruction (plugin/testing/fuzz/hlo/) against XLA's evaluator. HPU_FUZZ_CASES: number of
// programs (default 500). HPU_FUZZ_SEED: seed of the first program (default 0); seeds are consecutive. A failure prints
// its seed and program.
#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plugin/testing/fuzz/hlo/random_program.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape_util.h"

namespace hpu::gaudi {
namespace opcode_fuzz_test {

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t number = otherwise;
  if (text != nullptr) CHECK(absl::SimpleAtoi(text, &number)) << name << " is not a number: " << text;
  return number;
}

class OpcodeFuzzTest : public ProgramTest {
 protected:
  // Whether the release cannot run the program: it has elements of a type that no node takes. Empty arrays need no
  // nodes.
  static bool IsBeyondTheRelease(const xla::HloModule& module) {
    if (!absl::StrContains(GetParam(), "1.5")) return false;
    for (const xla::HloInstruction* instruction : module.entry_computation()->instructions()) {
      const xla::Shape& shape = instruction->shape();
      if (shape.element_type() == xla::F16 && !xla::ShapeUtil::IsZeroElementArray(shape)) return true;
    }
    return false;
  }

  void Compare(const fuzz::RandomProgram& program, uint64_t seed) {
    const std::unique_ptr<xla::HloModule> module = ParseProgram(program.hlo);
    const std::vector<xla::Literal> arguments = fuzz::MakeArguments(*module, program.arguments, seed);
    const auto got = Run(*module, arguments);
    if (IsBeyondTheRelease(*module)) {
      EXPECT_EQ(absl::StatusCode::kUnimplemented, got.status().code()) << got.status();
      return;
    }
    ASSERT_TRUE(got.ok()) << got.status();
    const std::vector<xla::Literal> want = Evaluate(*module, arguments);
    ASSERT_EQ(got->size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) ExpectNear((*got)[i], want[i], program.tolerance);
  }
};

TEST_P(OpcodeFuzzTest, RandomPrograms) {
  // Each release runs half of the programs.
  const uint64_t first = NumberFromEnvironment("HPU_FUZZ_SEED", 0);
  const uint64_t count = NumberFromEnvironment("HPU_FUZZ_CASES", 500);
  const uint64_t half = first + count / 2;
  const bool is_first_half = absl::StrContains(GetParam(), "1.5");
  std::map<std::string, int> programs;
  for (uint64_t seed = is_first_half ? first : half; seed < (is_first_half ? half : first + count); ++seed) {
    const fuzz::RandomProgram program = fuzz::MakeRandomProgram(seed);
    ++programs[program.name];
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", program.name, ":\n", program.hlo));
    Compare(program, seed);
  }
  // Of 250 programs.
  if (count >= 500) EXPECT_GE(programs.size(), 50);
}

HPU_GAUDI_SUITE(OpcodeFuzzTest);

}  // namespace opcode_fuzz_test
}  // namespace hpu::gaudi
