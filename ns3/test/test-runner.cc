/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * ns-3's own runner needs ns-3's source tree; this one runs the suites that are linked to it.
 */

#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
