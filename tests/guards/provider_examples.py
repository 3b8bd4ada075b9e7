"""More of `secret_examples.py`: keys of further providers, and what leads to a key."""

from __future__ import annotations

from .secret_examples import EXAMPLES as COMMON
from .secret_examples import HEX, SHA, UUID, Examples, X, key

LOWER = X.lower()
UPPER = X.upper()

PROVIDERS: dict[str, Examples] = {
    "vendor_key": key(
        *(
            f"{prefix}{X}"
            for prefix in (
                "aio_",
                "alcht_",
                "apify_api_",
                "bb_live_",
                "bkua_",
                "CCIPAT_",
                "cfat_",
                "cfut_",
                "cfk_",
                "CLOJARS_",
                "crsr_",
                "dbtc_",
                "ddp_",
                "dnkey-",
                "duffel_live_",
                "e2b_",
                "esecret_",
                "FLWSECK_TEST-",
                "fw_",
                "flb_live_",
                "k2sk_v1_",
                "hcaik_",
                "jina_",
                "llx-",
                "p8e-",
                "pnu_",
                "prtapi_",
                "pul-",
                "pylf_v1_us_",
                "rdme_",
                "rnd_",
                "s-s4t2ud-",
                "shippo_live_",
                "sk-helicone-",
                "slk_",
                "squ_",
                "tfp_",
                "tk-us-",
                "vcp_",
                "vck_",
                "wandb_v1_",
                "y0_",
            )
        ),
        no=[
            "vcp_xxxxxxxxxxxxxxxxxxxxxxxx",
            "rnd_seed_for_the_whole_experiment_2",
            "fc-your-api-key-goes-here-123",
            f"pul-{UUID}",
            f"favicon-{X}",
            "e2b_short1",
            "fw_update_notifier_v2_settings",
            "fw_update2BooleanOptionalAction",
            "rnd_1ModuleNotFoundError",
        ],
    ),
    "aws_session_token": key(
        f"IQoJb3JpZ2luX2Vj{X}{X}==".replace("_", ""),
        f"FwoGZXIvYXdzE{X}//////////{X}=",
        no=["IQoJb3JpZ2lu", "FwoGZXIvYXdz"],
    ),
    "aws_service_key": key(
        f"da2-{LOWER[:26]}", f"amzn.mws.{UUID}", no=["da2-x", "amzn.mws.", f"data2-{LOWER[:26]}"]
    ),
    "onfido_token": key(
        f"api_live_us.{X[:11]}.{X}",
        f"api_sandbox.{X[:11]}.{X}",
        no=["api_live", "api_live.example.com"],
    ),
    "onepassword_key": key(
        "A3-ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB",
        "A3-ASWWYB-798JRY-LJVD4-23DC2-86TVM-H43EB",
        no=["A3-size paper", "A3-ASWWYB-798JRY", "DIN-A3-297X420-00000000000-11111"],
    ),
    "alibaba_key": key("LTAI5tB3dE7gH9jK1mN2pQ4r", no=["LTAI", "PLTAI5tB3dE7gH9jK1mN2pQ4r"]),
    "artifactory_token": key(
        f"AKCp{X}{X}abcde", f"cmVmdGtu{X}{X[:24]}", no=["AKCp", "cmVmdGtu", f"AKCp{X}"]
    ),
    "asana_token": key(
        f"1/1204567890123456:{HEX * 2}",
        f"2/1204567890123456/1204567890123457:{HEX * 2}",
        no=["1/2:3", "1/1204567890123456", "12/1204:00"],
    ),
    "axiom_token": key(f"xaat-{UUID}", f"xapt-{UUID}", no=["xaat-", f"xait-{UUID}"]),
    "braintree_token": key(
        f"access_token$production${HEX}${HEX * 2}",
        no=["access_token$", "access_token$production$x"],
    ),
    "clickup_token": key(f"pk_4812345_{UPPER}", no=["pk_4812345", "pk_id_constraint"]),
    "cloudflare_origin_key": key(f"v1.0-{HEX}{HEX[:8]}-{HEX * 9}ab", no=["v1.0-beta", "v1.0-0123"]),
    "dropbox_token": key(f"sl.{X * 5}", f"sl.u.{X * 5}", no=["sl.", "sl.wikipedia.org"]),
    "easypost_key": key(f"EZAK{X}{X[:22]}", f"EZTK{X}{X[:22]}", no=["EZAK", f"EZAK{X}"]),
    "facebook_token": key(
        f"EAAG{X}ZC{X}{X}",
        f"123456789012345|{X[:27]}",
        no=["EAAG", "EAAAAAAAAA" * 12, f"EAAQ{'AQIBAAAE' * 20}", "1234|5678"],
    ),
    "firebase_key": key(f"AAAA{X[:7]}:APA91b{X * 4}", no=["AAAA:APA91b", "APA91b"]),
    "harness_token": key(
        f"pat.{X[:22]}.{HEX}{HEX[:8]}.{X[:20]}", no=["pat.smith.example", "sat.1.2"]
    ),
    "intercom_token": key(f"dG9rO{X}{X[:20]}=", no=["dG9rO", "dG9rOmFi"]),
    "nuget_key": key(f"oy2{LOWER}{LOWER[:11]}", no=["oy2", "boy2men"]),
    "octopus_key": key(f"API-{UPPER[:26]}", no=["API-KEY", "API-REFERENCE", "REST-API-2024"]),
    "openshift_token": key(
        f"sha256~{X}{X[:11]}",
        no=["sha256~", f"sha256:{SHA}", "sha256~PUT_YOUR_TOKEN_HERE_XXXXXXXXXXXXXXXXXXXXXXX"],
    ),
    "plaid_token": key(f"access-sandbox-{UUID}", no=["access-sandbox-", f"request-sandbox-{UUID}"]),
    "resend_key": key(f"re_{X[:8]}_{X[:24]}", no=["re_", "re_compile_pattern", "pre_12345678_x"]),
    "salesforce_token": key(
        f"00D5g000004Abcd!AQ{X}{X}", f"5Aep861{X}{X}", no=["00D5g000004AbcdEAA", "5Aep861"]
    ),
    "trello_token": key(f"ATTA{HEX * 4}0123abcd", no=["ATTA", "ATTACHMENT", "ATTACH_0123456789"]),
    "twitter_bearer": key(
        f"{'A' * 21}{X[:12]}%2B{X}%3D{X[:8]}", no=["A" * 120, "AAAA%2B", f"{'A' * 30}{X}{X}"]
    ),
    "yandex_key": key(
        f"AQVN{X}abcd", f"t1.9euelZ{X}.{X}{X}{X[:22]}", no=["AQVN", "t1.micro", "t1.a.b"]
    ),
    "teams_webhook": Examples(
        inside=[
            (
                f"https://a.webhook.office.com/webhookb2/{UUID}@{UUID}"
                f"/IncomingWebhook/{HEX * 2}/{UUID}",
                f"{HEX * 2}/{UUID}",
            )
        ],
        benign=["https://a.webhook.office.com/webhookb2/", "outlook.office.com/IncomingWebhook"],
    ),
    "zapier_webhook": Examples(
        inside=[("https://hooks.zapier.com/hooks/catch/1234567/a1b2c3d/", "1234567/a1b2c3d")],
        benign=["https://hooks.zapier.com/hooks/catch/", "https://zapier.com/apps/1234567/x"],
    ),
    "putty_key": Examples(
        inside=[(f"Private-Lines: 2\n{X}\n{X[:20]}==\nPrivate-MAC: {SHA}\n", X)],
        benign=["Public-Lines: 2\nAAAAB3NzaC1yc2EAAAABJQAAAQEA\n", "Private-Lines: as many"],
    ),
    "npm_login": Examples(
        inside=[
            (f"//registry.npmjs.org/:_authToken={UUID}", UUID),
            ("//npm.corp.test/:_password=aHVudGVyMg==", "aHVudGVyMg=="),
        ],
        benign=["//registry.npmjs.org/:_authToken=${NPM_TOKEN}", "_auth = required", ":_password="],
    ),
    "stored_login": Examples(
        inside=[
            ('{"auths": {"ghcr.io": {"auth": "YW5uOmh1bnRlcjI="}}}', "YW5uOmh1bnRlcjI="),
            (r"{\"auth\": \"YW5uOmh1bnRlcjI=\"}", "YW5uOmh1bnRlcjI="),
        ],
        benign=['{"auth": "required"}', '{"auth": "disabled0"}', '{"auth": "bm9jb2xvbg=="}'],
    ),
    "quoted_secret": Examples(
        inside=[
            (text.replace("V", value), value)
            for value in (r"n8#K2p&Q9(v)X7=mL4?wR8", "t(Y3u)Z6;b|C1d:E5g&H2", "=Qx7{k2}Zp9:r4|Wn6")
            for text in (
                'api_key = "V"',
                '{"clientSecret": "V"}',
                r"{\"client_secret\": \"V\"}",
                "export DB_PASSWORD='V'",
                'const apiKey: string = "V";',
                'let api_key: &\'static str = "V";',
                'secret => "V"',
                'authToken := "V"',
                'os.environ.get("API_KEY") or "V"',
                '<add key="ApiKey" value="V"/>',
            )
        ],
        benign=[
            'api_key = "${config.apiKeys[2].v1}"',
            "password: '<your password here 1>'",
            'secretKey = "https://vault.example.com/v1/secret/data?k=9aB8"',
            'token_url = "https://x.test/oauth2/v1/token?grant=A1b2&x=9Zy8"',
            'cache_key = "n8#K2p&Q9(v)X7=mL4?wR8"',
            'key = "n8#K2p&Q9(v)X7=mL4?wR8"',
            'placeholder="API key: 12 letters, 3 digits"',
        ],
    ),
}

EXAMPLES: dict[str, Examples] = {**COMMON, **PROVIDERS}
