#include "xla/service/conditional_canonicalizer.h"
