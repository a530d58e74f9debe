// Marked calls: HLO calls that a backend may replace with its own kernel.
#ifndef HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
#define HPU_PLUGIN_PROGRAM_MARKED_CALL_H_

namespace hpu {

// A frontend attribute of HLO call instructions. Its value is the name of an operation in the table below, followed by
// attributes of the operation, separated by spaces: "linear_algebra Qr full_matrices". The called computation defines
// the result with plain HLO instructions. A backend with a better implementation may replace the call; other backends
// ignore the attribute. No operand or result is empty.
//
// | operation                     | operands                                           | result                      |
// |-------------------------------|----------------------------------------------------|-----------------------------|
// | linear_algebra <op> <flags>   | the op's                                           | the op's                    |
// | unary <function>              | x                                                  | like x                      |
// | softmax                       | x                                                  | like x                      |
// | log_softmax                   | x                                                  | like x                      |
// | softmax_gradient              | dy, y of softmax                                   | dx                          |
// | log_softmax_gradient          | dy, y of log_softmax                               | dx                          |
// | sparse_cross_entropy          | logits [rows, classes], labels s32 [rows]          | loss [rows], gradient like  |
// |                               |                                                    | the logits                  |
// | gelu <form>                   | x                                                  | like x                      |
// | gelu_gradient <form>          | dy, x                                              | dx                          |
// | layer_norm <epsilon>          | x [..., size], beta f32 [size], gamma f32 [size]   | y, mean and inverse         |
// |                               |                                                    | deviation f32 [...]         |
// | layer_norm_gradient <epsilon> | x, dy, mean, inverse deviation, gamma              | dx, dbeta, dgamma f32 [size]|
// | attention                     | the two factors of the scores, arrays that scale   | the context                 |
// |                               | and mask the scores, values                        |                             |
// | random <distribution>         | key u64 [1], counter u64 [2]                       | floats                      |
//
// Attention: see plugin/compiler/attention_marks.h. The computation tells which dimensions its products contract.
//
// Functions: erf, erfc, erf_inv, lgamma, sinh. Softmax, cross entropy and layer_norm operations act along the last
// dimension. If a label is not a class, the row's loss and gradient are NaN. Forms of gelu: exact, tanh. Distributions:
// uniform in [0, 1), normal. A backend's random numbers may differ from the numbers of the computation.
inline constexpr char kOperationAttribute[] = "hpu_operation";

// A linear algebra op: the name of the TensorFlow op, followed by the names of its boolean attributes that are true.
// Results that the op does not compute (compute_uv=false) are omitted.
inline constexpr char kLinearAlgebra[] = "linear_algebra";

inline constexpr char kUnary[] = "unary";
inline constexpr char kSoftmax[] = "softmax";
inline constexpr char kLogSoftmax[] = "log_softmax";
inline constexpr char kSoftmaxGradient[] = "softmax_gradient";
inline constexpr char kLogSoftmaxGradient[] = "log_softmax_gradient";
inline constexpr char kSparseCrossEntropy[] = "sparse_cross_entropy";
inline constexpr char kGelu[] = "gelu";
inline constexpr char kGeluGradient[] = "gelu_gradient";
inline constexpr char kLayerNorm[] = "layer_norm";
inline constexpr char kLayerNormGradient[] = "layer_norm_gradient";
inline constexpr char kAttention[] = "attention";
inline constexpr char kRandom[] = "random";

}  // namespace hpu

#endif  // HPU_PLUGIN_PROGRAM_MARKED_CALL_H_
