// MakeRecipe call: compilation of programs and loading of recipes for a client.
#ifndef HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_

#include "absl/status/status.h"
#include "plugin/server/compile_workers/program_compiler.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Reads the data that `header` announces, compiles or loads the recipe, adds the recipe to the session and sends its
// table to the client. Recipes for the client are signed; recipes from the client must have a valid signature.
absl::Status ServeMakeRecipe(ServerCall* call, Session* session, Front* front, ProgramCompiler* compiler,
                             const proto::MakeRecipeHeader& header);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_RECIPE_CALL_H_
