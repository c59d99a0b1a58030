#!/bin/sh
# Errors of a user end with one sentence and never with a segmentation fault.
#
#   sh bad-input.sh <sojourn-dumbbell>
set -eu
program=$1
failed=0

# refuses SENTENCE OPTION...: the program ends with that sentence.
refuses() {
    sentence=$1
    shift
    code=0
    said=$({ "$program" --seconds=0.1 "$@"; } 2>&1) || code=$?
    if [ "$code" = 0 ] || [ "$code" = 139 ] || ! echo "$said" | grep -qF -- "$sentence"; then
        echo "bad-input: $* ended with $code and not with: $sentence" >&2
        echo "$said" >&2
        failed=1
    fi
}

refuses 'did you mean `pi2`' --aqm=pie2
refuses 'did you mean `target`' --aqm=pi2:targt=15ms
refuses 'a time needs a unit: `15ms` or `15s`' --aqm=pi2:target=15
refuses 'did you mean `rfc8033`' --aqm=pie@rfc8O33
refuses '`limit` is set twice' --aqm=pi2:limit=100p
refuses '`200` is not a size of a queue, because it has no unit; write `200p` for packets' \
    --maxSize=200
refuses '`200 packets` is not a size of a queue; write `200p` for packets, or `200B`' \
    --disc=ns3::SojournPi2QueueDisc '--ns3::SojournPi2QueueDisc::MaxSize=200 packets'
refuses 'There is no queue disc `ns3::SojournPi3QueueDisc`' --disc=ns3::SojournPi3QueueDisc
refuses '`0ns` must be positive (target' \
    --disc=ns3::SojournPi2QueueDisc --ns3::SojournPi2QueueDisc::Target=0ms
refuses 'dialect' --disc=ns3::SojournPieQueueDisc --ns3::SojournPieQueueDisc::Dialect=rfc
refuses 'leave Time::SetResolution at NS or finer' --coarse
"$program" --seconds=0.1 --fine > /dev/null 2>&1 ||
    { echo "bad-input: picoseconds are refused" >&2; failed=1; }
[ "$failed" = 0 ] && echo "bad-input: every mistake is answered with its sentence"
exit "$failed"
