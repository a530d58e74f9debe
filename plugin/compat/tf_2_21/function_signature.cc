#include "plugin/compat/function_bodies.h"

namespace hpu {

const tensorflow::OpDef& SignatureOf(const tensorflow::FunctionBody& body) { return body.record->fdef().signature(); }

}  // namespace hpu
