// TensorFlow's shape inference over graphs.
#ifndef HPU_PLUGIN_COMPAT_GRAPH_SHAPES_H_
#define HPU_PLUGIN_COMPAT_GRAPH_SHAPES_H_

// InferShapes returns a GraphShapeInfo: for each node name, an InferredShape (shape, handle_shape, handle_type) of each
// output. Nodes of loops may have unknown shapes.
#include "tensorflow/compiler/jit/shape_inference.h"
// The plugin uses these members of ShapeRefiner: AddNode in topological order, GetContext (null for a node that was not
// added), SetShape, set_require_shape_inference_fns.
#include "tensorflow/core/common_runtime/shape_refiner.h"

#endif  // HPU_PLUGIN_COMPAT_GRAPH_SHAPES_H_
