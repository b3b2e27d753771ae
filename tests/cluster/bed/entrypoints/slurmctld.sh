# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the image slurmctld does. Beds share one network, so it listens at the address of its own host name alone.
# With BED_NO_TRES it ends as older versions do without slurmdbd (Slinky's pull request 38); this one waits for it.

set -eu
umask 077
mkdir /tmp/slurm
cp -L /etc/slurm/* /tmp/slurm
printf '\n%s\n' CommunicationParameters=NoCtldInAddrAny >>/tmp/slurm/slurm.conf
export SLURM_CONF=/tmp/slurm/slurm.conf

if [[ -n ${BED_NO_TRES:-} && $(</tmp/slurm/slurm.conf) =~ AccountingStorageHost=([^[:space:]]+) ]]; then
    if ! (: >"/dev/tcp/${BASH_REMATCH[1]}/6819") 2>/dev/null; then
        echo "fatal: You are running with a database but for some reason we have no TRES from it.  This should only" \
            "happen if the database is down and you don't have any state files." >&2
        exit 1
    fi
fi

# Ended between the first file of its state and the last, slurmctld never starts again from half of it ("No Assoc usage
# file to recover"), and told to end before it is ready, it hangs until it is killed. Its operator replaces the pod at
# once, when no real one would have pulled its image yet; so what has begun to write may become ready first.
has_begun_to_write() {
    compgen -G '/var/spool/slurmctld/*/clustername' >/dev/null || [[ -e /var/spool/slurmctld/clustername ]]
}
is_ready() {
    local status=
    exec {answer}<>"/dev/tcp/${BED_ADDRESS}/6817" || return 1
    printf 'GET /readyz HTTP/1.1\r\nHost: slurmctld\r\nConnection: close\r\n\r\n' >&"${answer}"
    read -r -t 1 _ status _ <&"${answer}" || true
    exec {answer}>&-
    [[ ${status} == 2?? ]]
}
end() {
    for ((tries = 0; tries < 250; tries++)); do
        kill -0 "${slurmctld}" 2>/dev/null || return 0
        if ! has_begun_to_write; then
            kill -KILL "${slurmctld}"
            return 0
        fi
        ! is_ready 2>/dev/null || break
        sleep 0.1
    done
    kill "${slurmctld}" 2>/dev/null || true
}
slurmctld -D "$@" &
slurmctld=$!
trap end TERM
wait "${slurmctld}" || wait "${slurmctld}"
