"""Which programs connect to bare hosts, and where in their arguments a host may stand."""

from __future__ import annotations

import re

VALUES = {
    "sftp": "BbcDFiloPRSsX",
    "curl": "odTFKbcDEAuwXmrCYyzHeQtUP",
    "wget": "oOPaiUtTwQABDIlRX",
    "ssh": "iFlpcmbEeIQSoLRDwBO",
    "nc": "pswqIiOPXegG",
    "ping": "ciIsWwmMQpSTl",
    "dig": "ptcykbf",
    "ssh-copy-id": "ip",
    "ssh-keyscan": "fpTtO",
}
"""Options of one letter behind which a value follows that is no host."""
VALUES |= dict.fromkeys(("ncat", "netcat"), VALUES["nc"])
VALUES |= dict.fromkeys(("aria2c", "axel", "xh", "xhs", "http", "https", "httpie"), "o")
_PLAIN = (
    "elinks links2 hping3 nping arping tcping httping rdesktop vncviewer wscat websocat grpcurl "
    "dog snmpwalk snmpget curlie lynx w3m links lftp ftp tftp telnet mosh nslookup "
    "host whois traceroute tracepath mtr "
    "nmap iwr irm invoke-webrequest invoke-restmethod tnc test-netconnection autossh ping6 fping "
    "drill rsh rlogin"
)
_CLIENTS = (
    "mysql mysqldump mysqladmin mariadb psql pg_dump pg_restore redis-cli ldapsearch mongosh mongo "
    "mosquitto_pub mosquitto_sub cqlsh clickhouse-client"
)
CLIENTS = frozenset((*_CLIENTS.split(), "kcat", "kafkacat", "gh", "smbclient"))
"""Programs whose host stands behind an option, and nowhere else."""
CONNECT = {**dict.fromkeys((*_PLAIN.split(), *CLIENTS), ""), **VALUES}
"""Programs that take bare hosts, with their options of one letter that take a value."""
BY_WAY = {
    **dict.fromkeys(("ssh", "autossh", "sftp", "scp"), "JW"),
    **dict.fromkeys(("nc", "ncat", "netcat"), "xbcTV"),
    "curl": "x",
    "ping": "t",
    **dict.fromkeys(_CLIENTS.split(), "hH"),
    **dict.fromkeys(("kcat", "kafkacat"), "b"),
    "gh": "h",
    "smbclient": "L",
}
"""Options of one letter behind which a host may follow: on the way (a jump, a proxy), or because
some of these programs take no value there."""
LONG_BY_WAY = frozenset(
    ("--resolve", "--connect-to", "--dns-servers", "--proxy", "--preproxy", "--host", "--hostname")
)
FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
NO_HOST = re.compile(
    r"--(?:output\S*|append-output|input-file|upload-file|data\S*|form|form-string|config|cookie|"
    r"cookie-jar|cert|key|pass|cacert|capath|crlfile|netrc-file|header|user|user-agent|json|request|"
    r"oauth2-bearer|method|max-time|max-filesize|connect-timeout|retry|retry-delay|retry-max-time|"
    r"write-out|dump-header|trace|trace-ascii|stderr|etag-save|etag-compare|hsts|alt-svc|libcurl|"
    r"post-file|post-data|body-file|body-data|directory-prefix|accept|reject|timeout|limit-rate|"
    r"range|referer|password|tls-max|noproxy|speed-limit|speed-time|expect100-timeout|rate|interval|"
    r"wait|waitretry|tries|dns-timeout|read-timeout)|"
    r"-(?i:outfile|infile|headers|body|method|contenttype|useragent|timeoutsec|o[NXGA])"
)
"""Long options behind which a value follows that is no host."""
OF_CURL = frozenset(("--json", "--form"))
"""Those that take a value only there."""
OF_IMAGES = frozenset(("docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "kubectl"))
"""Programs that pull and push images, whose names may begin with a host."""
FIRST, COPY, GIT_REMOTE, BEFORE, SHELLS, RUNNERS, INTERPRETERS, WORDS_TOO = (
    frozenset(words.split())
    for words in (
        # Only the first argument is a host.
        "ssh sftp mosh autossh telnet nc ncat netcat ping ping6 ftp tftp rsh rlogin ssh-copy-id",
        # A host is what stands before a colon; for git after some of its commands.
        "scp rsync git rclone openssl mount sshfs",
        "clone fetch pull push remote ls-remote submodule archive",
        # What may stand before a program.
        "sudo doas env nohup time timeout exec command xargs nice ionice stdbuf setsid busybox "
        "start export builtin coproc chrt taskset setpriv runuser faketime chronic unbuffer "
        "if then else elif while until do ! {",
        # What reads commands in its turn.
        "sh bash dash zsh ksh ash fish eval powershell pwsh cmd su watch trap alias "
        "crontab vim vi nvim tmux screen expect",
        # What has another program run, wherever its name stands.
        "docker podman nerdctl kubectl oc lxc chroot flatpak wsl ssh autossh strace ltrace "
        "systemd-run unshare nsenter proxychains proxychains4 torsocks firejail flock parallel "
        "script",
        # What reads programs of another language, which run commands from their strings.
        "python python2 python3 perl ruby node nodejs php awk gawk mawk lua osascript deno bun",
        # Names of programs that are words of options, too (`--network host`).
        "host http https links ftp mount script screen expect parallel dog",
    )
)
