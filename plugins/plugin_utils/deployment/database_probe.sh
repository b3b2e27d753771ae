# shellcheck shell=bash
# Copyright: (c) 2026, AICR Runtime contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Log in to a database as slurmdbd will, read what slurmdbd needs of it, and leave both as JSON for whoever judges it
# (spec/slurm-accounting.md 4.1). It writes nothing there. Runs in an image of MariaDB with bash, coreutils and the
# client alone; the password comes by MYSQL_PWD, and goes nowhere else.

set -u
export LC_ALL=C
readonly answer="${ANSWER:-/dev/termination-log}" scratch="${SCRATCH:-/tmp}"

# Every name is one that SQL takes unquoted, which the caller has checked.
readonly privileges="'SELECT','INSERT','UPDATE','DELETE','CREATE','DROP','INDEX','ALTER','CREATE ROUTINE','ALTER ROUTINE','EXECUTE'"
readonly variables="'version','read_only','super_read_only','innodb_read_only','tx_read_only','transaction_read_only',\
'require_secure_transport','innodb_snapshot_isolation','innodb_buffer_pool_size','innodb_log_file_size','innodb_redo_log_capacity',\
'innodb_lock_wait_timeout','max_allowed_packet','max_user_connections'"
# What a user has is listed by its account, beside that of everybody else if it may see them; a database is granted by
# a pattern, which the server itself holds against the name.
readonly facts="
SET SESSION sql_mode='';
SET @name='$DB_NAME', @host=SUBSTRING_INDEX(CURRENT_USER(),'@',-1);
SET @grantee=CONCAT('''',LEFT(CURRENT_USER(),CHAR_LENGTH(CURRENT_USER())-CHAR_LENGTH(@host)-1),'''@''',@host,'''');
SHOW SESSION STATUS LIKE 'Ssl_cipher';
SHOW VARIABLES WHERE Variable_name IN ($variables);
SELECT 'engine',SUPPORT FROM information_schema.ENGINES WHERE ENGINE='InnoDB';
SELECT 'database',SCHEMA_NAME,DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME=@name;
SELECT 'granted','*.*',GROUP_CONCAT(DISTINCT PRIVILEGE_TYPE) FROM information_schema.USER_PRIVILEGES
 WHERE GRANTEE=@grantee AND PRIVILEGE_TYPE IN ($privileges) HAVING COUNT(*)>0;
SELECT 'granted',TABLE_SCHEMA,GROUP_CONCAT(DISTINCT PRIVILEGE_TYPE) FROM information_schema.SCHEMA_PRIVILEGES
 WHERE GRANTEE=@grantee AND PRIVILEGE_TYPE IN ($privileges)
 AND (@name LIKE BINARY TABLE_SCHEMA OR @@lower_case_table_names AND @name LIKE TABLE_SCHEMA)
 GROUP BY TABLE_SCHEMA LIMIT 5;
SELECT 'role',CURRENT_ROLE();
SHOW PROCEDURE STATUS WHERE Db=@name AND Name='';
"

clear=(--skip-ssl)
unverified=(--ssl --disable-ssl-verify-server-cert)
verified=(--ssl --ssl-ca="${TLS_CA:-}" --ssl-verify-server-cert)
case "$TLS_MODE" in
    required) flags=("${verified[@]}") ;;
    preferred) flags=("${unverified[@]}") ;;
    *) flags=("${clear[@]}") ;;
esac

# One login; what it said on stdout and stderr is in $said and $complaint.
login() {
    said=$(timeout --kill-after=2 "$SECONDS_EACH" mariadb --no-defaults --protocol=tcp --connect-timeout=5 \
        --host="$DB_HOST" --port="$DB_PORT" --user="$DB_USER" --batch --skip-column-names "$@" \
        2>"$scratch/complaint" </dev/null)
    local code=$?
    complaint=$(<"$scratch/complaint")
    if ((code == 124 || code == 137)); then
        complaint+=" no answer within $SECONDS_EACH s"
    elif ((code != 0)) && [[ -z $complaint ]]; then
        complaint="the client ended with exit code $code"
    fi
    return "$code"
}

# A member of the answer: the end of a text, in ASCII, as JSON has it. Should a client ever repeat the password, this
# does not.
member() {
    local text=$2
    if [[ -n ${MYSQL_PWD:-} ]]; then text=${text//"$MYSQL_PWD"/***}; fi
    if ((${#text} > $3)); then text=${text: -$3}; fi
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\t'/\\t}
    text=${text//$'\n'/\\n}
    members+="${members:+,}\"$1\":\"${text//[^ -~]/?}\""
}

members=""
finish() { printf '{%s}\n' "$members" >"$answer"; }
trap finish EXIT

if login "${flags[@]}" --database="$DB_NAME" --execute="SELECT 1"; then
    member login "" 1
else
    member login "$complaint" 400
    case "$complaint" in
        *"ERROR 1044 "* | *"ERROR 1049 "*) ;; # the account is good, so the rest can be read
        *"ERROR 1045 "* | *"ERROR 3159 "*)
            # Both may mean that the server wants TLS of this account: only a login with TLS tells them apart.
            if [[ $TLS_MODE == disabled ]]; then
                login "${unverified[@]}" --execute="SELECT 1"
                member encrypted "$complaint" 400
            fi
            exit 0
            ;;
        *"ERROR 2002 "* | *"ERROR 2003 "*)
            # The client gives a number; the shell has the system's words. A timeout here looks like a firewall.
            refused=$(timeout 5 bash -c 'exec 3<>"/dev/tcp/$DB_HOST/$DB_PORT"' 2>&1) || [[ -n $refused ]] || refused="timed out"
            member tcp "${refused##*: }" 100
            exit 0
            ;;
        *) exit 0 ;;
    esac
fi

login "${flags[@]}" --force --execute="$facts"
member facts "$said" 2000
member unread "$complaint" 400

if [[ $TLS_MODE == required ]]; then
    login "${clear[@]}" --execute="SELECT 1"
    member clear "$complaint" 400
fi
