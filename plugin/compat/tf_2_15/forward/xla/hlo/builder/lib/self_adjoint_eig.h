#include "xla/client/lib/self_adjoint_eig.h"
