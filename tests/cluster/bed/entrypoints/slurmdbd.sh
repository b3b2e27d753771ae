# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the image slurmdbd does. Beds share one network, so it listens at the address of its own host name alone.

set -eu
umask 077
mkdir /tmp/slurm
cp -L /etc/slurm/* /tmp/slurm
printf '\n%s\n' CommunicationParameters=NoInAddrAny >>/tmp/slurm/slurmdbd.conf
export SLURM_CONF=/tmp/slurm/slurm.conf

# The image has an init, too: the first process of a container is not ended by a signal that it does not handle yet.
slurmdbd -D "$@" &
trap "kill $!" TERM
wait $! || wait $!
