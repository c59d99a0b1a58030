#!/bin/sh
# The program under test, at the near end of the router: it must fetch 1 MB in three seconds.
set -eu
exec curl --silent --show-error --fail --retry 20 --retry-connrefused --retry-delay 1 \
    --retry-max-time 2 --max-time 3 --output /dev/null "http://$SOJOURN_FAR:8000/big"
