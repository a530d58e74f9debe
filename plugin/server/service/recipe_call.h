// MakeRecipe: programs to be compiled, recipes to be loaded.
#ifndef HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_

#include "absl/status/status.h"
#include "plugin/server/compile_workers/program_compiler.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Reads what `header` announced, makes the recipe, puts it into the session and describes it to the client. What the
// client gets is sealed, and what it brings must be.
absl::Status ServeMakeRecipe(ServerCall* call, Session* session, Front* front, ProgramCompiler* compiler,
                             const proto::MakeRecipeHeader& header);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
