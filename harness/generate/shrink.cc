#include "harness/generate/shrink.h"
