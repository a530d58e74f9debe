// Mark of draws by the card's own random number generator (HPU_GAUDI_RANDOM=card).
#ifndef HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_
#define HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_

namespace hpu {

// A boolean attribute of nodes StatelessRandomUniformV2 and StatelessRandomNormalV2 that the random pass makes of
// stateful draws. Their lowering is a marked call (plugin/program/marked_call.h) whose computation draws the numbers of
// the stateful op.
inline constexpr char kCardDrawAttribute[] = "_hpu_card_draw";

}  // namespace hpu

#endif  // HPU_PLUGIN_OP_FACTS_CARD_DRAW_H_
