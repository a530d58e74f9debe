#include "plugin/compat/function_bodies.h"

namespace hpu {

const tensorflow::OpDef& SignatureOf(const tensorflow::FunctionBody& body) { return body.fdef.signature(); }

}  // namespace hpu
