// Graph dumps after passes.
#ifndef HPU_PLUGIN_PASSES_DUMP_H_
#define HPU_PLUGIN_PASSES_DUMP_H_

#include <string_view>

#include "plugin/passes/pass_context.h"

namespace hpu::passes {

// Writes the graph to <directory>/hpu_<graph>_<number>_<pass>.pbtxt if the dump level asks for it: `level` is 1 for the
// result of all passes, 2 for one pass. The number is the pass's place. A dump that fails is logged, nothing more. The
// name is the same in every run; TensorFlow appends _1, _2, … to names that this process has used before.
void DumpAfter(const PassContext& context, int level, int number, std::string_view pass);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_DUMP_H_
