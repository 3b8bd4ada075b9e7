"""For every shipped pattern: made-up secrets that it must mask whole, and text that it must not.

`whole` are texts that are the secret; `inside` are texts and the part of them that is the secret;
`benign` are texts that resemble it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

X = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
"""Filler for made-up keys, 32 characters."""

HEX = "0123456789abcdef"
SHA = "a4b60cc188a37c137cfceb619b77c596faec5d9c"
UUID = "123e4567-e89b-12d3-a456-426614174000"


@dataclass(frozen=True)
class Examples:
    """What one pattern finds, and what it leaves alone."""

    whole: list[str] = field(default_factory=list)
    inside: list[tuple[str, str]] = field(default_factory=list)
    benign: list[str] = field(default_factory=list)


def key(*whole: str, no: list[str]) -> Examples:
    """A format that is recognised by itself."""
    return Examples(whole=list(whole), benign=no)


EXAMPLES: dict[str, Examples] = {
    "private_key": key(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc+/=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBg\\n-----END PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcd\n-----END RSA PRIVATE KEY-----",
        no=[
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "BEGIN PRIVATE KEY",
            '("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")',
            "-----BEGIN RSA PRIVATE KEY-----\n<your key>\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nXXXX\n...\n-----END PRIVATE KEY-----",
            'if text.startswith("-----BEGIN OPENSSH PRIVATE KEY-----"):',
            "a file with -----BEGIN EC PRIVATE KEY----- is private",
        ],
    ),
    "anthropic_key": key(
        f"sk-ant-api03-{X}-{X}_A-",
        f"sk-ant-oat01-{X}",
        f"sk-ant-admin01-{X}AA",
        no=["sk-ant-api03", "desk-ant-api03-colony-of-the-anthill"],
    ),
    "openrouter_key": key(
        f"sk-or-v1-{X.lower()}", no=["sk-or-v1 is the prefix", "risk-or-v1-reward-analysis"]
    ),
    "openai_key": key(
        f"sk-{X}",
        "sk-abcdefghijklmnopqrstuvwxyz",
        "sk-aaaaaaaaaaaaaaaaaaaaaaaa",
        f"sk-proj-{X[:12]}-{X}_x-",
        f"sk-svcacct-{X}",
        f"sk-admin-{X}",
        f"sk-None-{X}",
        "sk-abc123456789012345678",
        "sk-proj-abcdEFGH1234ijklMNOP5678",
        no=[
            "task-force-and-risk-assessment-document-for-the-board",
            "sk-SK is Slovak",
            "sk-circle-fade-dot-animation-in-css",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-proj-XXXXXXXXXXXXXXXXXXXXXXXX",
            "a desk-proj-management tool for teams",
        ],
    ),
    "google_api_key": key("AIza" + X + "-_9", no=["AIza is a prefix", "xAIza" + X + "-_9"]),
    "google_oauth_token": key(f"ya29.{X}", no=["ya29.", "maya29.com"]),
    "google_client_secret": key(f"GOCSPX-{X[:28]}", no=["GOCSPX-short"]),
    "google_refresh_token": key(f"1//0{X}_-", no=["1//0", "see 1//2"]),
    "google_express_key": key(
        f"AQ.Ab8R{X}{X[:12]}", no=["AQ.Ab", "FAQ.About-this-page-and-what-it-is-for-today-now"]
    ),
    "aws_access_key": key(
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "ABIAIOSFODNN7EXAMPLE",
        no=[
            "the AKIA-01 part",
            "AKIA",
            "AKIAXXXXXXXXXXXXXXXX",
            "AKIAiosfodnn7example",
            "TODAYINASIAASACKOFRICEFELLOVER",
            "ACCATCTCTACCGGTTCGCTTTCACTGGAT",
            "AEwEfyABIAZGBSAAQVBBACAFQQJHG2oo",
        ],
    ),
    "aws_bedrock_key": key(
        f"ABSK{X * 4}=", f"bedrock-api-key-{X}{X}", no=["ABSK", "bedrock-api-key-policy"]
    ),
    "aws_secret_key": Examples(
        inside=[
            (f"aws_secret_access_key={X}abcdefgh", f"{X}abcdefgh"),
            (f'"SecretAccessKey": "{X}/+cdefgh"', f"{X}/+cdefgh"),
            (f"AWS_SECRET_ACCESS_KEY: '{X}/+cdefgh'", f"{X}/+cdefgh"),
        ],
        benign=["secret key: ask Ann", f"aws key: {X}", f"aws_image_key={HEX * 4}"],
    ),
    "azure_storage_key": Examples(
        whole=[f"{X}{X}{X[:12]}+ASt{X[:6]}=="],
        inside=[
            (f"AccountKey={X}{X}{X[:22]}==;", f"{X}{X}{X[:22]}=="),
            (f"Endpoint=sb://a.test/;SharedAccessKey={X}abcdefghij+=", f"{X}abcdefghij+="),
        ],
        benign=["AccountKey=", "AccountKey=${STORAGE_KEY}", "AccountKey=<key>"],
    ),
    "azure_openai_key": key(f"{X}{X[:20]}JQQJ99{X[:26]}", no=["JQQJ99", f"{X}JQQJ99"]),
    "azure_devops_token": key(f"{X}{X}{X[:12]}AZDO{X[:4]}", no=["AZDO", "AZDO1234"]),
    "azure_sas_signature": Examples(
        inside=[(f"https://a.test/?sv=1&sig={X}{X[:11]}%3D", f"{X}{X[:11]}%3D")],
        benign=["?sig=short", "&sig=none"],
    ),
    "azure_client_secret": key(f"abc8Q~{X}", no=["8Q~", "a8Q~b"]),
    "github_token": key(
        f"ghp_{X}wxyz",
        f"gho_{X}wxyz",
        f"ghu_{X}wxyz",
        f"ghs_{X}wxyz",
        f"ghr_{X}wxyz",
        f"github_pat_{X}_{X}",
        no=["ghp_short", "github_pat_", "ghs_is_a_prefix"],
    ),
    "gitlab_token": key(
        f"glpat-{X[:20]}",
        f"gldt-{X}",
        f"glrt-t1_{X}.01.1a2b3c4d5",
        f"glffct-{X}",
        f"gloas-{X}{X}",
        f"GR1348941{X[:20]}",
        no=["glpat- is GitLab's prefix", "glpat-short"],
    ),
    "slack_token": key(
        f"xoxb-123456789012-{X}",
        f"xoxp-1-2-3-{X}",
        f"xapp-1-A01-{X}",
        f"xoxe.xoxp-1-{X}",
        f"xwfp-123456-{X}",
        f"xoxc-123456789012-{X}",
        f"xoxd-{X}%2F{X}%3D",
        no=["xoxo", "xoxb-", "xapp-1", "xoxo-love-to-you-all", "xoxb-your-bot-token-here"],
    ),
    "slack_webhook": Examples(
        inside=[
            (f"https://hooks.slack.com/{kind}/T000/B000/{X}", f"T000/B000/{X}")
            for kind in ("services", "workflows", "triggers")
        ],
        benign=["https://hooks.slack.com/services", "https://slack.com/services/T000"],
    ),
    "stripe_key": key(
        f"sk_live_{X}",
        f"rk_test_{X}",
        f"sk_prod_{X}",
        f"whsec_{X}",
        no=[f"pk_live_{X}", "sk_live_", "whsec_", "sk_test_mode", "task_test_me60ta5olph28dt8xg"],
    ),
    "huggingface_token": key(
        f"hf_{X}ab",
        f"api_org_{X}ab",
        no=["hf_transformers_model", "shelf_hf_model", "hf_requiredTypesForDisplayMetadata"],
    ),
    "groq_key": key(f"gsk_{X}{X[:20]}", no=["import groq as gsk_", "gsk_client"]),
    "xai_key": key(f"xai-{X}{X}", no=["xai-org", "explainable xai-methods-for-clinical-decisions"]),
    "perplexity_key": key(f"pplx-{X}{X[:16]}", no=["pplx-api", "pplx-70b-online"]),
    "nvidia_key": key(f"nvapi-{X}{X}", no=["nvapi-", "nvapi-sys crate"]),
    "tavily_key": key(f"tvly-dev-{X}", f"tvly-{X}", no=["tvly-", "tvly-python"]),
    "langsmith_key": key(f"lsv2_pt_{HEX * 2}_{HEX[:10]}", no=["lsv2_pt_", "lsv2_sk"]),
    "npm_token": key(f"npm_{X}wxyz", no=["npm_config_registry", "npm_lifecycle_event"]),
    "pypi_token": key(f"pypi-AgEIcHlwaS5vcmc{X}{X}", no=["pypi-AgE", "pypi-publish"]),
    "sendgrid_key": key(f"SG.{X[:22]}.{X}{X[:11]}", no=["SG.short.x", "SG.2024.11"]),
    "twilio_key": key(f"SK{HEX * 2}", no=["SK" + "0123", f"TASK{HEX * 2}", "SKU0123456789"]),
    "discord_token": key(
        f"M{X[:25]}.G{X[:5]}.{X}abcdef",
        no=["Module.Method.Name", "N.B.", "Mon.Tuesd.Wed"],
    ),
    "discord_webhook": Examples(
        inside=[(f"https://discord.com/api/webhooks/123456789012345678/{X}{X}", f"{X}{X}")],
        benign=[
            "https://discord.com/api/webhooks",
            "https://discord.com/channels/123456789012345678",
        ],
    ),
    "mailgun_key": key(f"key-{HEX * 2}", no=["key-value", f"monkey-{HEX * 2}"]),
    "mailchimp_key": key(f"{HEX * 2}-us21", no=[f"{HEX * 2}", "run-us21"]),
    "digitalocean_token": key(f"dop_v1_{HEX * 4}", f"doo_v1_{HEX * 4}", no=["dop_v1_", "do_v1"]),
    "shopify_token": key(f"shpat_{HEX * 2}", f"shpss_{HEX * 2}", no=["shpat_", "shp_file"]),
    "databricks_token": key(f"dapi{HEX * 2}", f"dapi{HEX * 2}-2", no=["dapi", "dapi0123"]),
    "docker_token": key(f"dckr_pat_{X[:27]}", no=["dckr_pat_"]),
    "vault_token": key(f"hvs.{X}", f"hvb.{X}{X}", no=["hvs.", "hvs.short"]),
    "terraform_token": key(f"{X[:14]}.atlasv1.{X}{X}", no=["x.atlasv1.y"]),
    "grafana_token": key(f"glsa_{X}_{HEX[:8]}", f"glc_{X}", no=["glsa_", "glc_short"]),
    "sentry_token": key(f"sntrys_{X}{X}", f"sntryu_{HEX * 4}", no=["sntrys_", "sntryu_0123"]),
    "atlassian_token": key(f"ATATT3{X}{X}", no=["ATATT3"]),
    "linear_key": key(f"lin_api_{X}{X[:8]}", no=["lin_api_", "lin_oauth_flow"]),
    "notion_token": key(
        f"ntn_12345678901{X}abc", f"secret_{X}{X[:11]}", no=["ntn_123", "secret_santa"]
    ),
    "postman_key": key(f"PMAK-{HEX}{HEX[:8]}-{HEX * 2}ab", no=["PMAK-", "PMAK-0123"]),
    "doppler_token": key(f"dp.pt.{X}{X[:11]}", f"dp.st.prd.{X}{X[:8]}", no=["dp.pt.", "dp.table"]),
    "replicate_token": key(f"r8_{X}abcde", no=["r8_", "r8_register"]),
    "supabase_key": key(f"sbp_{HEX * 2}{HEX[:8]}", f"sb_secret_{X}", no=["sbp_", "sb_secret_x"]),
    "pinecone_key": key(f"pcsk_{X}_{X}", no=["pcsk_", "pcsk_short"]),
    "langfuse_key": key(f"sk-lf-{UUID}", no=["sk-lf-", f"pk-lf-{UUID}"]),
    "elevenlabs_key": key(f"sk_{HEX * 3}", no=["sk_", "task_" + HEX * 3]),
    "heroku_key": key(f"HRKU-AA{X}{X}", no=["HRKU-", "HRKU-AA"]),
    "newrelic_key": key("NRAK-" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ1", no=["NRAK-", "NRAK-01"]),
    "planetscale_token": key(f"pscale_tkn_{X}", f"pscale_pw_{X}", no=["pscale_tkn_", "pscale_pw"]),
    "fly_token": key(f"fm2_{X}{X}", f"fo1_{X}{X[:11]}", no=["fm2_", "fo1_short"]),
    "onepassword_token": key(f"ops_eyJ{X * 4}", no=["ops_eyJ", "ops_team"]),
    "age_key": key(
        "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
        no=["AGE-SECRET-KEY-1", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zm"],
    ),
    "rubygems_key": key(f"rubygems_{HEX * 3}", no=["rubygems_", "rubygems_org"]),
    "figma_token": key(f"figd_{X}{X[:8]}", no=["figd_", "figd_short"]),
    "square_token": key(f"sq0atp-{X[:22]}", f"sq0csp-{X}{X[:11]}", no=["sq0atp-", "sq0csp-short"]),
    "tailscale_key": key(f"tskey-auth-{X[:16]}-{X}", no=["tskey-auth-", "tskey-api"]),
    "brevo_key": key(f"xkeysib-{HEX * 4}-{X[:16]}", no=["xkeysib-", f"xkeysib-{HEX}"]),
    "cerebras_key": key(f"csk-{X.lower()}{X[:16].lower()}", no=["csk-", "csk-chip-design"]),
    "together_key": key(f"tgp_v1_{X}_{X[:10]}", no=["tgp_v1_", "tgp_v1"]),
    "posthog_key": key(f"phx_{X}{X[:11]}", no=["phx_", f"phc_{X}{X[:11]}"]),
    "sourcegraph_token": key(
        f"sgp_{SHA}", f"sgp_local_{SHA}", f"sgp_{HEX}_{SHA}", no=["sgp_", "sgp_local_"]
    ),
    "dynatrace_token": key(
        f"dt0c01.{X[:24].upper()}.{X.upper()}{X.upper()}", no=["dt0c01.", "dt0c01.SAMPLE"]
    ),
    "contentful_token": key(f"CFPAT-{X}{X[:11]}", no=["CFPAT-", "CFPAT-short"]),
    "airtable_token": key(f"pat{X[:14]}.{HEX * 4}", no=["pattern.matching", f"pat{X[:14]}"]),
    "hubspot_token": key(f"pat-na1-{UUID}", no=["pat-na1-", f"path-na1-{UUID}"]),
    "mapbox_token": key(f"sk.eyJ{X}{X}.{X}", no=["sk.eyJ", f"pk.eyJ{X}{X}.{X}"]),
    "netlify_token": key(f"nfp_{X}abcd", no=["nfp_", "nfp_short"]),
    "telegram_token": key("123456789:AA" + X + "x", no=["12:30:AA", "1234567890:AAB"]),
    "jwt": key(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + X,
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.",
        no=["eyJust a word.eyJ", "eyJhbGciOiJIUzI1NiJ9"],
    ),
    "authorization_header": Examples(
        inside=[
            ("Authorization: Bearer abcdefghij", "abcdefghij"),
            ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
            ("-H 'Authorization: token abcdefghij'", "abcdefghij"),
            ("Authorization: Bearer your_abcdefghij", "your_abcdefghij"),
            ("Authorization: Bearer my_key_4f9a2c71", "my_key_4f9a2c71"),
        ],
        benign=[
            "Authorization: Bearer YOUR_ACCESS_TOKEN",
            "Authorization: Bearer your_api_key_here",
            "Authorization: Token your-token-goes-here",
            "Authorization: none",
            "Authorization: Bearer <token>",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer XXXXXXXXXXXX",
            "Authorization: Bearer fake_access_token",
            "Authorization: Bearer my-secret-token",
        ],
    ),
    "bearer_token": Examples(
        inside=[(f"with bearer {X}", X), ("Bearer abcdefghijklmnopqrstuvwxyz", "abcdefghij")],
        benign=["Bearer of good news", "bearer authentication is required", "Bearer ${TOKEN}"],
    ),
    "database_password": Examples(
        inside=[
            ("postgres://app:hunter2@db.internal/x", "hunter2"),
            ("mongodb+srv://a:p%40ss@c.mongodb.net", "p%40ss"),
            ("redis://:hunter2@cache:6379/0", "hunter2"),
            ("postgresql+asyncpg://u:p-w.1@h/d", "p-w.1"),
            ("postgres://admin:letmein@db.internal:5432/app", "letmein"),
            ("postgresql+psycopg2://scott:tiger@localhost/test", "tiger"),
            ("mysql://app:mySecret123@db/x", "mySecret123"),
            ("mysql://app:yourself-99@db/x", "yourself-99"),
        ],
        benign=[
            "mysql://%s:%s@%s/x",
            "postgres://localhost/db",
            "postgres://user@localhost/db",
            "postgres://user:$PASSWORD@db/x",
            "mysql://user:your_password@host/db",
            "'redis://cache:6379' # ask ann@corp.test",
            "postgres://user:<password>@db/x",
        ],
    ),
    "url_password": Examples(
        inside=[
            ("https://ann:hunter22@example.com/x", "hunter22"),
            ("https://ann:changeme@example.com/x", "changeme"),
        ],
        benign=[
            "https://user:<password>@host/",
            "https://example.com:8080/a@b",
            "https://user:••••••••@example.com/x",
            '"https://url:8000";@something',
            "https://REDACTED:REDACTED@www.example.com/",
        ],
    ),
    "connection_string_password": Examples(
        inside=[
            (
                "Server=tcp:a.test,1433;Database=b;User ID=c;Password=hunter2;Encrypt=true",
                "hunter2",
            ),
            ("Host=db;Username=app;Password=hunter2", "hunter2"),
        ],
        benign=[
            "Server=a;Database=b;Trusted_Connection=true",
            "Server=a;Password={password};",
            "set password = hunter2",
        ],
    ),
    "otp_seed": Examples(
        inside=[("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&issuer=x", "JBSWY3DPEHPK3PXP")],
        benign=["otpauth://totp/x?issuer=x", "secret=JBSWY3DP"],
    ),
    "netrc_password": Examples(
        inside=[("machine h.test login ann password abc-def", "abc-def")],
        benign=["a machine with a login and a password", "machine learning login"],
    ),
    "kubernetes_key": Examples(
        inside=[(f"client-key-data: {X}{X}=", f"{X}{X}")],
        benign=[f"client-certificate-data: {X}{X}", "client-key-data: <base64>"],
    ),
    "password_hash": Examples(
        inside=[
            (f"root:$6$abcdefgh${X}{X}:19000:0:::", f"{X}{X}"),
            (f"'$2b$12${X}abcdefgh.abcdefgh/123'", f"{X}abcdefgh.abcdefgh/123"),
            (f"$argon2id$v=19$m=65536,t=3,p=4${X}", X),
        ],
        benign=["it costs $5$ or $6", "$1$ and $2", "$6$rounds=5000$", "echo $1$2$3"],
    ),
    "authorization_value": Examples(
        inside=[
            (f"Authorization: {X}", X),
            (f'{{"authorization": "{X[:20]}"}}', X[:20]),
            (f"authorization={X}.{X}", X),
        ],
        benign=[
            "Authorization: required",
            "authorization: ${AUTHORIZATION_HEADER_V2}",
            "authorization: see_the_documentation",
            f"authorization: {UUID}",
        ],
    ),
    "cookie_header": Examples(
        inside=[
            ("Set-Cookie: sessionid=38afes7a8; HttpOnly", "38afes7a8"),
            ("Cookie: lang=en; SID=31d4d96e407aad42", "31d4d96e407aad42"),
            ('"Cookie": "session=eyJhbGciOiJI.abcdef123456"', "eyJhbGciOiJI.abcdef123456"),
            ("curl -H 'Cookie: auth=abc123def456ghi' x", "abc123def456ghi"),
            ("document.cookie = 'remember_me=abc123def456ghi789'", "abc123def456ghi789"),
            (r"{\"set-cookie\": \"_app_session=q1w2e3r4t5; Path=/\"}", "q1w2e3r4t5"),
        ],
        benign=[
            "Set-Cookie: theme=dark; Path=/",
            "Cookie: lang=en-US; consent=true; _ga=GA1.2.123456789.1700000000",
            "Cookie: csrftoken=u32t4o3tb3gg43",
            "Cookie: sessionid=<your-session>; authors=ann1234567",
            "Cookie: sessionid=${SESSION_ID_2}",
            "cookie: session=deleted123",
            "Cookies: session = 24 pieces",
            "the Set-Cookie header, the cookie policy",
        ],
    ),
    "session_cookie": Examples(
        inside=[
            ("sessionid=x7d9f8a2b3c4d5e6f7", "x7d9f8a2b3c4d5e6f7"),
            ("JSESSIONID=0A1B2C3D4E5F60718293", "0A1B2C3D4E5F60718293"),
            ("connect.sid=s%3AaBcDeFgHiJk.q1w2e3r4t5y6", "aBcDeFgHiJk.q1w2e3r4t5y6"),
            ("curl -b 'PHPSESSID=298zf09hf012fh2' x", "298zf09hf012fh2"),
            ("ASP.NET_SessionId=abc123def456ghi789jkl012", "abc123def456ghi789jkl012"),
            ("__Host-session=abc123def456ghi789;", "abc123def456ghi789"),
        ],
        benign=[
            "sessionid=None",
            "sessionid=session_id",
            "session_id is required",
            "sid=1",
            "session=requests.Session()",
            "sessions=12345678",
            "sessionid=your-session-1",
        ],
    ),
    "password": Examples(
        inside=[
            (text.replace("V", value), value)
            for value in ("hunter2", "Tr0ub4dor!", "S3cret-99", "h2" * 60)
            for text in (
                *(
                    "password: V",
                    "DB_PASSWORD=V",
                    "passwd: V.",
                    '{"password": "V"}',
                    "--password V",
                ),
                *("the password is V.", "Passwort: V", "mot de passe : V", "contraseña: V"),
                *(
                    "пароль: V",
                    "密码: V",
                    "<password>V</password>",
                    "**Password:** V",
                    "SMTP_PASS=V",
                ),
                *(
                    "CREATE USER ann IDENTIFIED BY 'V'",
                    "ALTER ROLE ann PASSWORD 'V'",
                    '<add key="Password" value="V" />',
                    '{"name": "DB_PASSWORD", "value": "V"}',
                    "curl -u ann:V https://x.test",
                    "curl --user 'ann:V' https://x.test",
                    "sshpass -p V ssh h.test",
                ),
                *(r"{\"pwd\": \"V\"}", "user bob, password: V, host db", "--db-password=V"),
            )
        ],
        benign=[
            *('password = "abc123"', "password='hunter2'", "password: ********", "password=$PW1"),
            *("password: <your-password1>", "password={{ vault.pw1 }}", "password: null"),
            *("password=os.environ['PW1']", "password: Optional[str1]", "password=form.password1"),
            *(
                "password: /run/secrets/db1",
                "pwd=/srv/app2",
                "PWD=C:\\Users\\x1",
                "password: test123",
            ),
            *(
                "password must be 8 characters",
                "password is base64-encoded",
                "password: 8-64 letters",
            ),
            *(
                "The password is incorrect!",
                "password: db_password_2",
                "password: https://x.test/1",
            ),
            *("docker run -u 1000:1000 x", "--user node:node", "curl -u $USER:$PASS1 x"),
            *("password_hash: abc123", "password reset: 2 links", "password: !vault |", "pwd"),
            *(
                "PASSWORD_FILE=/run/db1",
                "password: changeme1",
                "password123",
                "password: process.env.P1",
            ),
        ],
    ),
    "generic_secret": Examples(
        inside=[
            (text.replace("V", X[:24]), X[:24])
            for text in (
                '{"apiKey": "V"}',
                '{"client_secret":"V"}',
                r"{\"api_key\": \"V\"}",
                "API_KEY=V",
                "export MY_TOKEN='V'",
                "api_key: V",
                "X-Api-Key: V",
                "?x=1&api_key=V&b=2",
                'api_key="V"',
                "client.secretKey = 'V';",
                "--api-key V",
                "--token=V",
                "<apiKey>V</apiKey>",
                'os.environ["X_API_KEY"] = "V"',
                "'clientSecret' => 'V'",
                "password: V",
                'setenv("DB_PASSWORD", "V")',
                'os.environ.get("API_KEY", "V")',
                'process.env.API_KEY || "V"',
                "${API_KEY:-V}",
                "API_KEY ?= V",
                "API_KEY_2=V",
                "SECRET_KEY_PROD=V",
                'const apiKey: string = "V";',
                'let api_key: &str = "V";',
                'var apiKey string = "V"',
                "<apiKey>\n      V\n    </apiKey>",
                '<add key="ApiKey" value="V" />',
                '{"name": "API_KEY", "value": "V"}',
                "- name: API_KEY\n  value: V",
                'variable "api_key" {\n  default = "V"',
                "api_key: |\n  V",
                "| API key | V |",
                "Your API key is V",
                "API-Schlüssel: V",
                "API 密钥: V",
                "clave de API: V",
                "The API key: V",
                "meraki_token: V",
                "datadogKey = V",
                "refresh_token=V",
                "Ocp-Apim-Subscription-Key: V",
            )
        ]
        + [
            ("TWILIO_AUTH_TOKEN=3f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", "3f9a8b7c6d5e4f3a2b1c"),
            (f"HEROKU_API_KEY={UUID}", UUID),
            (f"ENV API_KEY {X[:24]}", X[:24]),
            (f"percy token = 'PERCY_TOKEN={X}'", X),
            (f"API_KEY={X[:16]}=={X[16:30]}", X[16:30]),
        ],
        benign=[
            "api_key: <your-key>",
            "decoded_secret = base64.b64decode(secret[6:])",
            "API_KEY=${API_KEY}",
            "api_key = your-api-key-goes-here-123",
            "api_key=os.environ['API_KEY_V2']",
            "api_key=process.env.API_KEY_2",
            f"api_key: {UUID}",
            f"sha256: {SHA}",
            f"password_hash: {SHA}",
            f"secret: sha256:{SHA}",
            "nextPageToken: CAEQAA3b5c7d9e1f3g5h7",
            f"cache_key={SHA}",
            f"commit {SHA}",
            f"key: {SHA}",
            f"PRIMARY_KEY={SHA}",
            f"idempotency_key: {SHA}",
            "private_key: /etc/ssl/private/server1.pem",
            "public_key: MIIBIjANBgkqhkiG9w0BAQEFAAOC",
            "secret: kubernetes-cluster-2024-backup",
            "the token abcdefghij1234567890klmnop",
            "access_token: get_access_token_from_v2_session",
            f"monkey={X}",
            "private_key: Ed25519PrivateKey",
            "private_key: PKCS7PrivateKeyTypes | ed448.Ed448PrivateKey",
            f"The key: {X}",
            f"the primary key is {X}",
            f'{{"name": "order", "value": "{X}"}}',
            f"stripe_idempotency_key={X}",
            f"TOKEN_ID={X}",
            "auth_url = 'https://x.test/token?x=aB3dE5gH7jK9'",
            "secret: xxxxxxxxxxxxxxx1",
            "password: ****************",
            "max_tokens: 12345678901234567890",
            "password: hunter2",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA",
            f"token: {X}",
            f"sort_key=2024-11-29T10:30:00Z#{SHA}",
        ],
    ),
}

ORDINARY = [
    UUID,
    SHA,
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "key = value",
    "monkey_token=abc",
    "[REDACTED:openai_key]",
    "created_at 1769011237418",
    "v1.2.3-beta.4+build.5",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4" * 40,
    "3.14159265358979",
    "https://example.com/a/b?c=d#e",
    "-----BEGIN CERTIFICATE-----",
    '{"id": "msg_01AbCdEfGhIjKlMnOpQrStUv", "signature": "EqQBCkYIAhgCKkBx"}',
]
"""Texts that no pattern may touch."""
