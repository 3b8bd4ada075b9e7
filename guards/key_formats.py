"""How the keys of providers look: prefixes and signs that nothing else has.

Formats are those that providers document or that public scanners list; each has a prefix or a
context of its own, because a rule that hits ordinary text would be switched off.
"""

from __future__ import annotations

ESCAPED = r"\\[bfnrtv]|(?:%|\\x|\\u[0-9A-Fa-f]{2})[0-9A-Fa-f]{2}|[0-9;\[]m"
"""What stands for another sign and ends in a letter or digit: the end of a line in JSON, a blank in
an address, the end of a colour on a terminal."""
_NO_WORD = rf"(?:^|[^A-Za-z0-9]|{ESCAPED})"
BEGIN = rf"(?:\b|_|{ESCAPED})"
"""Where a word begins, or what joins it to the one before."""
_B64 = "[A-Za-z0-9+/]"
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

VENDORS = (
    "aio_|alcht_|apify_api_|bb_live_|bkua_|CCIP(?:AT|RJ)_|cf(?:[au]t|k)_|CLOJARS_|crsr_|dbt[cu]_|dd[pw]_"
    "|dnkey-|duffel_(?:live|test)_|e2b_|esecret_|fc-|fio-u-|fw_|FLWSECK(?:_TEST)?-|hc[abx][il]k_"
    "|flb_(?:live|test)_|jina_|k2sk_v1_|llx-|p8e-|pn[bu]_|prtapi_|pul-|pylf_v[0-9]_[a-z]{2}_|rdme_|rnd_|s-s4t2[a-z]{2}-"
    "|shippo_(?:live|test)_|sk-helicone-|slk_|sq[apu]_|tfp_|tk-[a-z]{2}-|vc[aikpr]_|wandb_v[0-9]_|y0_"
)
"""How keys of further providers begin, behind which everything is drawn at random."""


def _key(format: str) -> str:
    """A format that begins a word, also behind what only stands for a sign."""
    return f"{BEGIN}(?P<secret>{format})"


_OF_PEM = r"(?:[A-Z0-9 +]|%20){0,40}PRIVATE(?:[ +]|%20)KEY(?:(?:[ +]|%20)BLOCK)?-----"
PRIVATE_KEY = rf"-----BEGIN{_OF_PEM}(?:[\s\S]*?-----END{_OF_PEM}|[A-Za-z0-9+/=\s:,\\%-]*)"
"""From the line that begins it to the one that ends it, or as far as it goes."""
FORMATS: tuple[tuple[str, str], ...] = (
    ("anthropic_key", _NO_WORD + r"(?P<secret>sk-ant-[A-Za-z0-9_-]{16,})"),
    ("openrouter_key", _NO_WORD + r"(?P<secret>sk-or-v\d-[A-Za-z0-9_-]{16,})"),
    (
        "openai_key",
        _NO_WORD
        + r"(?P<secret>sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{20,}))",
    ),
    ("google_api_key", _NO_WORD + r"(?P<secret>AIza[0-9A-Za-z_-]{35})"),
    ("google_oauth_token", _key(r"ya29\.[0-9A-Za-z_-]{20,}")),
    ("google_client_secret", r"GOCSPX-[A-Za-z0-9_-]{24,}"),
    ("google_refresh_token", _key(r"1//0[A-Za-z0-9_-]{30,}")),
    ("google_express_key", _NO_WORD + r"(?P<secret>AQ\.Ab[A-Za-z0-9_-]{40,})"),
    ("aws_access_key", _NO_WORD + r"(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})"),
    (
        "aws_bedrock_key",
        _key(rf"ABSK{_B64}{{100,}}={{0,2}}|bedrock-api-key-{_B64}{{40,}}={{0,2}}"),
    ),
    (
        "aws_session_token",
        _NO_WORD + rf"(?P<secret>(?:IQoJb3JpZ2lu|F[Qw]oGZXIvYXdz){_B64}{{60,}}={{0,2}})",
    ),
    (
        "aws_service_key",
        _NO_WORD + rf"(?P<secret>da2-[a-z0-9]{{26}}|amzn\.mws\.{_UUID})\b",
    ),
    (
        "aws_secret_key",
        r"(?i)(?:aws|secret)[a-z_. -]{0,30}key[\"'\s]{0,4}[:=]{1,2}>?\s{0,4}[\"']?"
        rf"(?P<secret>{_B64}{{40}})(?:[^A-Za-z0-9+/=]|$)",
    ),
    (
        "azure_storage_key",
        rf"(?i)(?:Account|SharedAccess|Access)Key=(?P<secret>{_B64}{{40,100}}={{0,2}})"
        rf"|(?-i:{_B64}{{76}}\+ASt{_B64}{{6}}==)",
    ),
    ("azure_openai_key", r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{26}"),
    ("azure_devops_token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("azure_sas_signature", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,}(?:%3D|=){0,2})"),
    (
        "azure_client_secret",
        r"(?P<secret>[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
    ),
    (
        "github_token",
        _key(
            r"gh[opsru]_[A-Za-z0-9]{30,}|ghs_[0-9]+_eyJ[A-Za-z0-9._-]{40,}|github_pat_[A-Za-z0-9_]{30,}"
        ),
    ),
    (
        "gitlab_token",
        _key(
            r"gl(?:pat|ptt|dt|rtr?|cbt|soat|ft|ffct|imt|agent|oas|wt)-[A-Za-z0-9_.-]{20,}"
            r"|GR1348941[A-Za-z0-9_-]{20}"
        ),
    ),
    (
        "slack_token",
        _key(
            r"(?:xoxe\.)?xox[abceprs]-(?:[0-9][A-Za-z0-9-]{9,}|[A-Za-z0-9]{10,}[A-Za-z0-9-]*)|xoxo-[0-9]{6,}-[A-Za-z0-9-]{10,}"
            r"|xoxd-[A-Za-z0-9%/+=-]{20,}|xapp-\d-[A-Za-z0-9-]{20,}|xwfp-[A-Za-z0-9-]{20,}"
        ),
    ),
    (
        "slack_webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_]{20,})",
    ),
    ("stripe_key", _key(r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}")),
    ("huggingface_token", _NO_WORD + r"(?P<secret>(?:hf_|api_org_)[A-Za-z0-9]{30,})"),
    ("groq_key", _key(r"gsk_[A-Za-z0-9]{20,}")),
    ("xai_key", _key(r"xai-[A-Za-z0-9]{40,}")),
    ("perplexity_key", _key(r"pplx-[A-Za-z0-9]{32,}")),
    ("nvidia_key", _key(r"nvapi-[A-Za-z0-9_-]{40,}")),
    ("tavily_key", _key(r"tvly-[A-Za-z0-9-]{20,}")),
    ("langsmith_key", _key(r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32}")),
    ("npm_token", _key(r"npm_[A-Za-z0-9]{36}")),
    ("pypi_token", _key(r"pypi-AgE[A-Za-z0-9_-]{40,}")),
    ("sendgrid_key", _key(r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}")),
    ("twilio_key", _NO_WORD + r"(?P<secret>SK[0-9a-f]{32})\b"),
    (
        "discord_token",
        _NO_WORD + r"(?P<secret>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
    ),
    (
        "discord_webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/(?P<secret>[A-Za-z0-9_-]{60,})",
    ),
    (
        "mailgun_key",
        _NO_WORD + r"(?P<secret>key-[0-9a-z]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b",
    ),
    ("mailchimp_key", _NO_WORD + r"(?P<secret>[0-9a-f]{32}-us[0-9]{1,2})"),
    ("digitalocean_token", _key(r"do[opr]_v1_[0-9a-f]{64}")),
    ("shopify_token", _key(r"shp(?:at|ca|pa|ss)_[0-9A-Za-z]{32,}")),
    ("databricks_token", _key(r"dapi[0-9A-Fa-f]{32}(?:-\d)?")),
    ("docker_token", _key(r"dckr_[op]at_[A-Za-z0-9_-]{20,}")),
    ("vault_token", _key(r"hv[bsr]\.[A-Za-z0-9_-]{24,}")),
    ("terraform_token", _key(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}")),
    (
        "grafana_token",
        _key(
            r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}"
            r"|eyJrIjoi[A-Za-z0-9+/]{60,}={0,2}"
        ),
    ),
    ("sentry_token", _key(r"sntrys_[A-Za-z0-9+/=_]{40,}|sntryu_[0-9a-f]{64}")),
    ("atlassian_token", _key(r"AT[AC]TT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{28,32}\b")),
    ("linear_key", _key(r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}")),
    ("notion_token", _key(r"ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43}\b")),
    ("postman_key", _key(r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}")),
    ("doppler_token", _key(r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}")),
    ("replicate_token", _key(r"r8_[A-Za-z0-9]{37}")),
    ("supabase_key", _key(r"sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,}")),
    ("pinecone_key", _key(r"pcsk_[A-Za-z0-9_]{40,}")),
    ("langfuse_key", _key(r"sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    ("elevenlabs_key", _NO_WORD + r"(?P<secret>sk_[0-9a-f]{48})"),
    ("heroku_key", _key(r"HRKU-[A-Za-z0-9_-]{60,}")),
    ("newrelic_key", _key(r"NR(?:A[AK]|II|IQ|RA|SP)-[A-Za-z0-9_-]{27,}")),
    ("planetscale_token", _key(r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}")),
    ("fly_token", _key(r"fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}|fo1_[A-Za-z0-9_-]{43}")),
    ("onepassword_token", _key(r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}")),
    ("age_key", _key(r"AGE-SECRET-KEY-1[0-9A-Z]{58}")),
    ("rubygems_key", _key(r"rubygems_[0-9a-f]{48}")),
    ("figma_token", _key(r"figd_[A-Za-z0-9_-]{38,}")),
    ("square_token", _key(r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60}\b")),
    ("tailscale_key", _key(r"tskey-[a-z]{3,8}-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}")),
    ("brevo_key", _key(r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}")),
    ("cerebras_key", _key(r"csk-[a-z0-9]{40,}")),
    ("together_key", _key(r"tgp_v1_[A-Za-z0-9_-]{40,}")),
    ("posthog_key", _key(r"phx_[A-Za-z0-9]{40,}")),
    (
        "sourcegraph_token",
        _key(r"sgp_(?:[0-9A-Fa-f]{16}_|local_)?[0-9A-Fa-f]{40}|sgp_[0-9A-Za-z]{64}"),
    ),
    ("dynatrace_token", _key(r"dt0[cs]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}")),
    ("contentful_token", _key(r"CFPAT-[A-Za-z0-9_-]{43}")),
    ("airtable_token", _key(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}")),
    ("hubspot_token", _key(r"pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    ("mapbox_token", _key(r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}")),
    ("netlify_token", _key(r"nfp_[A-Za-z0-9]{36,}")),
    ("telegram_token", _key(r"\d{8,10}:AA[A-Za-z0-9_-]{33}")),
    ("otp_seed", r"otpauth://\S{1,200}[?&]secret=(?P<secret>[A-Za-z2-7]{16,}=*)"),
    (
        "netrc_password",
        r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<secret>\S+)",
    ),
    (
        "kubernetes_key",
        rf"client-key-data[\"']?\s{{0,4}}:\s{{0,4}}[\"']?(?P<secret>{_B64}{{40,}}={{0,2}})",
    ),
    (
        "password_hash",
        _NO_WORD + r"(?P<secret>\$(?:[156y]|2[abxy]|apr1)\$[A-Za-z0-9./$=,]{28,}"
        r"|\$argon2(?:id?|d)\$v=[0-9]{1,3}\$[A-Za-z0-9+/=,$]{28,}"
        r"|(?:pbkdf2[_:]sha[0-9]{1,3}|scrypt)[$:][0-9:]{3,16}\$[A-Za-z0-9+/=]{4,64}\$[A-Za-z0-9+/=]{20,})",
    ),
    (
        "jwt",
        r"e(?:yJ|yA|wo)[A-Za-z0-9_-]{8,}\.e(?:yJ|yA|wo)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
        r"|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "onepassword_key",
        _key(r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"),
    ),
    ("alibaba_key", _NO_WORD + r"(?P<secret>LTAI[A-Za-z0-9]{16,22})\b"),
    ("artifactory_token", _NO_WORD + r"(?P<secret>AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56})\b"),
    ("asana_token", _NO_WORD + r"(?P<secret>[0-9]/[0-9]{10,19}(?:/[0-9]{10,19})?:[0-9a-f]{32})\b"),
    ("axiom_token", _key(rf"xa[ap]t-{_UUID}")),
    ("braintree_token", _key(r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}")),
    ("clickup_token", _key(r"pk_[0-9]{6,9}_[A-Z0-9]{32}")),
    ("cloudflare_origin_key", _key(r"v1\.0-[0-9a-f]{24}-[0-9a-f]{140,}")),
    ("dropbox_token", _key(r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,}")),
    ("easypost_key", _NO_WORD + r"(?P<secret>EZ[AT]K[A-Za-z0-9]{54})\b"),
    (
        "facebook_token",
        _NO_WORD + r"(?P<secret>EAA[B-Z][A-Za-z0-9]{20,}Z[A-D][A-Za-z0-9]{40,}"
        r"|[0-9]{15,16}\|[A-Za-z0-9_-]{27})\b",
    ),
    ("firebase_key", _NO_WORD + r"(?P<secret>AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,})"),
    ("harness_token", _key(r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}")),
    ("intercom_token", _NO_WORD + r"(?P<secret>dG9rO[A-Za-z0-9+/]{50,}={0,2})"),
    ("nuget_key", _NO_WORD + r"(?P<secret>oy2[a-z0-9]{43})\b"),
    ("octopus_key", _NO_WORD + r"(?P<secret>API-[A-Z0-9]{25,29})\b"),
    (
        "onfido_token",
        _key(r"api_(?:live|sandbox)(?:_[a-z]{2})?\.[A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{32}"),
    ),
    ("openshift_token", _key(r"sha256~[A-Za-z0-9_-]{43}")),
    ("plaid_token", _key(rf"access-(?:sandbox|development|production)-{_UUID}")),
    ("resend_key", _key(r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}")),
    (
        "salesforce_token",
        _NO_WORD
        + r"(?P<secret>00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}|5Aep861[A-Za-z0-9._]{60,})",
    ),
    ("trello_token", _NO_WORD + r"(?P<secret>ATTA[0-9A-Fa-f]{64,72})\b"),
    (
        "twitter_bearer",
        _NO_WORD + r"(?P<secret>A{18,24}[A-Za-z0-9]{4,60}%[23][0-9A-F][A-Za-z0-9%]{30,})",
    ),
    (
        "yandex_key",
        _NO_WORD
        + r"(?P<secret>AQVN[A-Za-z0-9_-]{35,38}|t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2})",
    ),
    (
        "teams_webhook",
        r"webhook\.office\.com/webhookb2/[0-9A-Za-z@-]{20,}/IncomingWebhook/(?P<secret>[0-9A-Za-z/-]{30,})",
    ),
    ("zapier_webhook", r"hooks\.zapier\.com/hooks/catch/(?P<secret>[0-9]+/[0-9a-z]{5,})"),
    ("putty_key", r"Private-Lines: [0-9]{1,3}\s+(?P<secret>(?:[A-Za-z0-9+/=]{4,64}\s+)+)"),
    ("npm_login", r":_(?:authToken|password|auth)\s?=\s?[\"']?(?P<secret>[A-Za-z0-9+/_=-]{8,})"),
)
"""Label and pattern; a group named `secret` is what gets masked, without one the whole match."""
