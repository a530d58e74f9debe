// What a recipe of the emulator consists of: tables, kernels and machine code. All of it is serialised.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/backends/emulator/codegen/recipe_profile.h"
#include "plugin/backends/emulator/kernels/kernel.h"
#include "plugin/base/round_up.h"
#include "plugin/program/program_table.h"

namespace hpu::emulator {

// The function of each object.
inline constexpr char kRecipeEntry[] = "hpu_recipe_entry";
// Buffers of the workspace start at multiples of this, each in a multiple of it of its own.
inline constexpr uint64_t kWorkspaceAlignment = 64;
constexpr uint64_t AlignUp(uint64_t bytes) { return hal::RoundUp(bytes, kWorkspaceAlignment); }

// Where one pointer of the compiled function's buffer table comes from.
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

// Machine code, and the buffers that it works on.
struct CodeParts {
  std::vector<BufferSlot> slots;  // exactly one kResultTable
  uint64_t workspace_bytes = 0;
  std::string object;  // ELF relocatable object with the function kRecipeEntry
};

// Code that the recipe's own calls as a kernel, from as many places as compute the same: see outlining.h.
struct FunctionParts : CodeParts {
  ProgramTable table;
};

struct RecipeParts : CodeParts {
  ProgramTable table;
  std::vector<KernelSpec> kernels;       // what the object calls by number
  std::vector<FunctionParts> functions;  // their numbers follow those of the kernels
  RecipeProfile profile;                 // what the object times
};

// Of the recipe's own code and, after it, of its functions, which share one.
uint64_t WorkspaceBytes(const RecipeParts& parts);
// Where that of the functions begins.
uint64_t FunctionWorkspaceOffset(const RecipeParts& parts);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_CODEGEN_RECIPE_PARTS_H_
