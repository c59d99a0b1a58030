#!/bin/sh
# The queue discs for ns-3, built and tested where that fits in: some two minutes.
# Usage: sh .ci/ns3.sh SECONDS-THAT-HAVE-PASSED
set -eu
left_out() {
    echo "ns3: the module was not tested: $1"
    exit 0
}

# All of continuous integration is to take less than 25 minutes, and the page comes after this.
[ "$1" -lt 960 ] || left_out "16 minutes have passed"
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || left_out "its wheel is for Linux on x86-64"
for tool in cmake g++; do
    command -v "$tool" >/dev/null || apt-get install -y -qq "$tool" || left_out "apt has no $tool"
done
make ns3
