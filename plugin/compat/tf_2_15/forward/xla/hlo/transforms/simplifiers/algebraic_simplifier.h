#include "xla/service/algebraic_simplifier.h"
