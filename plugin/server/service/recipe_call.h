// The MakeRecipe call: compiles programs and loads recipes.
#ifndef HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_

#include "absl/status/status.h"
#include "plugin/server/compile_workers/program_compiler.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Reads the data that `header` announces, makes the recipe, adds it to the session and describes it to the client.
// Recipes for the client are sealed; recipes from the client must carry a valid seal.
absl::Status ServeMakeRecipe(ServerCall* call, Session* session, Front* front, ProgramCompiler* compiler,
                             const proto::MakeRecipeHeader& header);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
