#include "xla/service/tuple_simplifier.h"
