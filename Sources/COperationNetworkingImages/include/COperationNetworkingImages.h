#ifndef COPERATIONNETWORKINGIMAGES_H
#define COPERATIONNETWORKINGIMAGES_H

#include "decoder.h"
#include "pressure.h"
#include "process.h"

#endif
