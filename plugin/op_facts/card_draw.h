// Mark of draws by the card's own random number generator (HPU_GAUDI_RANDOM=card).
#ifndef HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_
#define HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_

namespace hpu {

// Boolean attribute of the StatelessRandomUniformV2 and StatelessRandomNormalV2 nodes with which the random pass
// replaces stateful ops. The lowering of such a node is a marked call (plugin/program/marked_call.h). The call's
// computation draws the numbers of the stateful op.
inline constexpr char kCardDrawAttribute[] = "_hpu_card_draw";

}  // namespace hpu

#endif  // HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_
