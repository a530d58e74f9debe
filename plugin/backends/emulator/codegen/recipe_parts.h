// RecipeParts: serialised parts of an emulator recipe (tables, kernels, machine code, profile).
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/codegen/row_loop.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/base/round_up.h"
#include "plugin/hal/recipe.h"
#include "plugin/program/program_table.h"

namespace hpu::emulator {

// Name of the function in each object.
inline constexpr char kRecipeEntry[] = "hpu_recipe_entry";
// Alignment in bytes of the workspace's buffers. Buffer sizes are rounded up to a multiple of kWorkspaceAlignment.
inline constexpr uint64_t kWorkspaceAlignment = 64;
constexpr uint64_t AlignUp(uint64_t bytes) { return RoundUp(bytes, kWorkspaceAlignment); }

// Origin of one pointer in the compiled function's buffer table.
struct BufferSlot {
  enum class Source : uint8_t {
    kNone = 0,         // constants and buffers on the stack: the code does not read the pointer
    kArgument = 1,     // `value` is the argument's index
    kResult = 2,       // `value` is the result's index
    kWorkspace = 3,    // `value` is the offset in the workspace
    kResultTable = 4,  // the function writes the results' addresses there
  };
  Source source = Source::kNone;
  uint64_t value = 0;
  uint64_t bytes = 0;
};

// Machine code and the buffers that it uses.
struct CodeParts {
  std::vector<BufferSlot> slots;  // exactly one kResultTable
  uint64_t workspace_bytes = 0;
  std::string object;  // ELF relocatable object with the function kRecipeEntry, or serialised thunks
};

// An outlined function: code that the recipe's own code calls as a kernel; see object/outlining.h. Thunks have none.
struct FunctionParts : CodeParts {
  ProgramTable table;
};

struct RecipeParts : CodeParts {
  ProgramTable table;
  std::vector<KernelSpec> kernels;         // kernels that the object calls by number
  std::vector<FunctionParts> functions;    // numbered after the kernels
  std::vector<RowLoop> row_loops;          // numbered after the functions
  RecipeProfile profile;                   // instructions that the object times
  std::vector<hal::LaunchBuffer> buffers;  // see LaunchBuffersOf
};

// Bytes of the recipe's workspace: the workspace of its own code, then one workspace that all functions share.
uint64_t WorkspaceBytes(const RecipeParts& parts);
// Fails with InvalidArgument if a row loop is invalid, or if RowFunction cannot run the loop's function.
absl::Status ValidateRowLoops(const RecipeParts& parts);
// Offset of the functions' workspace.
uint64_t FunctionWorkspaceOffset(const RecipeParts& parts);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_
