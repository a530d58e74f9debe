// The attribute "kind" of ops that check indices.
#ifndef HPU_PLUGIN_TENSORFLOW_OPS_KINDS_OF_INDICES_H_
#define HPU_PLUGIN_TENSORFLOW_OPS_KINDS_OF_INDICES_H_

namespace hpu {

// The names of IndexedOp::Kind.
inline constexpr char kKindsOfIndices[] =
    "kind: {'index', 'slice', 'box', 'vector', 'label', 'segment', 'length', 'permutation', 'element', 'list_element', "
    "'written_element', 'begin'}";

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_OPS_KINDS_OF_INDICES_H_
