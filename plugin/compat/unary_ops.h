// XLA's elementwise functions as functions of one operand, for function pointers. Newer releases of XLA add default
// arguments to most of them.
#ifndef HPU_PLUGIN_COMPAT_UNARY_OPS_H_
#define HPU_PLUGIN_COMPAT_UNARY_OPS_H_

#include "xla/hlo/builder/lib/math.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::compat::unary {

#define HPU_UNARY_OP(name) \
  inline xla::XlaOp name(xla::XlaOp x) { return xla::name(x); }
HPU_UNARY_OP(Acos)
HPU_UNARY_OP(Acosh)
HPU_UNARY_OP(Asin)
HPU_UNARY_OP(Asinh)
HPU_UNARY_OP(Atan)
HPU_UNARY_OP(Atanh)
HPU_UNARY_OP(Erf)
HPU_UNARY_OP(Erfc)
HPU_UNARY_OP(ErfInv)
HPU_UNARY_OP(Exp)
HPU_UNARY_OP(Expm1)
HPU_UNARY_OP(Floor)
HPU_UNARY_OP(IsFinite)
HPU_UNARY_OP(Lgamma)
HPU_UNARY_OP(Log1p)
HPU_UNARY_OP(Logistic)
HPU_UNARY_OP(Rsqrt)
HPU_UNARY_OP(Sign)
HPU_UNARY_OP(Sinh)
HPU_UNARY_OP(Sqrt)
HPU_UNARY_OP(Tanh)
#undef HPU_UNARY_OP

}  // namespace hpu::compat::unary

#endif  // HPU_PLUGIN_COMPAT_UNARY_OPS_H_
