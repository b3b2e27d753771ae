# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the image mariadb does when it starts: initialise an empty data directory and no other, then serve.
# The variables are the image's; BED_ADDRESS is the address of the pod.

set -eu
data=/var/lib/mysql
sql=/usr/share/mariadb
user=()
# What is written outlives the server all the same; only this machine must not end.
careless=(--debug-no-sync --innodb-flush-method=nosync)
flags=("${careless[@]}" --datadir="$data" --bind-address="$BED_ADDRESS" --port=3306 --skip-name-resolve --host-cache-size=0)
if [[ $EUID == 0 ]]; then
    chown mysql:mysql "$data"
    user=(--user=mysql)
fi

quoted() {
    local text=${1//\\/\\\\}
    printf "'%s'" "${text//\'/\\\'}"
}

if [[ ! -d $data/mysql ]]; then
    password=${MARIADB_ROOT_PASSWORD:-${MYSQL_ROOT_PASSWORD:-}}
    if [[ -z $password && -z ${MARIADB_ALLOW_EMPTY_ROOT_PASSWORD:-${MYSQL_ALLOW_EMPTY_PASSWORD:-}} ]]; then
        echo "Database is uninitialized and password option is not specified" >&2
        echo "    You need to specify one of MARIADB_ROOT_PASSWORD and MARIADB_ALLOW_EMPTY_ROOT_PASSWORD" >&2
        exit 1
    fi
    echo "Initializing database files"
    {
        printf '%s\n' "CREATE DATABASE mysql;" "USE mysql;" "SET @auth_root_socket=NULL;"
        cat "$sql"/mariadb_{system_tables,performance_tables,system_tables_data}.sql "$sql"/fill_help_tables.sql
        cat "$sql"/mariadb_sys_schema.sql
    } | mariadbd --no-defaults --bootstrap "${careless[@]}" --log-warnings=0 --datadir="$data" "${user[@]}"
    host=$(quoted "${MARIADB_ROOT_HOST:-%}")
    password=$(quoted "$password")
    # The tables come with accounts without a password, of which root@127.0.0.1 would win over root@'%'.
    (
        umask 077
        printf '%s\n' \
            "DELETE FROM mysql.global_priv WHERE User='' OR (User='root' AND Host<>'localhost');" \
            "FLUSH PRIVILEGES;" \
            "ALTER USER root@localhost IDENTIFIED BY $password;" \
            "CREATE USER root@$host IDENTIFIED BY $password;" \
            "GRANT ALL ON *.* TO root@$host WITH GRANT OPTION;" >/tmp/init.sql
    )
    if [[ $EUID == 0 ]]; then
        chown mysql /tmp/init.sql
    fi
    flags+=(--init-file=/tmp/init.sql)
fi
exec mariadbd "${flags[@]}" "${user[@]}" "$@"
