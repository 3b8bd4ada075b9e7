"""The plainest sentences of an injection in languages other than English.

Rows as in `signals.py`: label, weight, needs, pattern. "Ignore the instructions", "do not tell the
user", "from now on you are".
"""

from __future__ import annotations

_W = r"(?:\s+\S+){0,5}?\s+"
_L = r"[\pL\pM]*"

# fmt: off
OTHER_LANGUAGES: tuple[tuple[str, float, str, str], ...] = tuple(
    ("override", 0.6, needs, pattern)
    for needs, pattern in (
        ("ignor|missacht|vergiss|vergessen & anweis|instrukt|vorgabe|befehl|regel", rf"\b(?:ignorier{_L}|missacht{_L}|vergiss|vergessen\s+Sie){_W}(?:anweisung|instruktion|vorgabe|befehl|regel){_L}"),
        ("ignore|oublie|compte & instructions|consignes|directives|règles", r"(?:ignore[zr]?|oublie[zr]?|pas\s+compte)\s+(?:de\s+)?(?:toutes\s+)?(?:les|tes|vos|mes|ces|des)\s+(?:\S+\s+){0,4}?(?:instructions|consignes|directives|règles)"),
        ("ignor|olvid|descart|omiso & instrucciones|indicaciones|órdenes|ordenes|reglas", rf"(?:ignor{_L}|olvid{_L}|descart{_L}|caso\s+omiso){_W}(?:instrucciones|indicaciones|órdenes|ordenes|reglas)"),
        ("ignor|esque|desconsider & instruções|instrucoes|orientações|regras|ordens", rf"(?:ignor{_L}|esque{_L}|desconsider{_L}){_W}(?:instruções|instrucoes|orientações|regras|ordens)"),
        ("ignor|dimentic & istruzioni|indicazioni|regole|direttive", rf"(?:ignor{_L}|dimentic{_L}){_W}(?:istruzioni|indicazioni|regole|direttive)"),
        ("negeer|vergeet & instructies|aanwijzingen|opdrachten|regels", rf"\b(?:negeer|vergeet){_W}(?:instructies|aanwijzingen|opdrachten|regels)"),
        ("ignor|glöm|bortse|glem|se bort & instruk|anvisning|reg", rf"\b(?:ignorera|glöm|bortse\s+från|ignorer|glem|se\s+bort\s+fra){_W}(?:instruktion|instruks|anvisning|regl|regel){_L}"),
        ("ignoruj|zapomnij & instrukcj|polece|zasad", rf"\b(?:zignoruj|ignoruj|zapomnij){_L}{_W}(?:instrukcj|polece|zasad){_L}"),
        ("ignoruj|zapome & pokyn|instrukc|příkaz", rf"\b(?:ignoruj|zapome){_L}{_W}(?:pokyn|instrukc|příkaz){_L}"),
        ("игнорир|забудь|отбрось|обращай & инструкц|указан|правил|команд", rf"(?:игнорир|проигнорир|забудь|отбрось|не\s+обращай){_L}{_W}(?:инструкц|указан|правил|команд){_L}"),
        ("ігнор|забудь & інструкц|вказів|правил|команд", rf"(?:ігнор|проігнор|забудь){_L}{_W}(?:інструкц|вказів|правил|команд){_L}"),
        ("talimat|yönerge|komut & say|gel|unut", rf"(?:talimat|yönerge|komut){_L}(?:\s+\S+){{0,3}}?\s+(?:yok\s+say|görmezden\s+gel|unut){_L}"),
        ("忽略|无视|忽視|無視|忘记|忘記|理会|抛弃|遵守", r"(?:忽略|无视|忽視|無視|忘记|忘記|不要理会|不理会|抛弃|不要遵守)[^。\n]{0,14}(?:指令|指示|说明|說明|提示|规则|規則|命令|设定)"),
        ("以前|前の|上記|これまで|すべて|全て|先ほど & 無視|忘れ|従わ", r"(?:以前|前の|上記|これまで|すべて|全て|先ほど)[^。\n]{0,12}(?:指示|命令|プロンプト|ルール|指令)[^。\n]{0,8}(?:無視|忘れ|従わな)"),
        ("무시|잊", r"(?:이전|앞|위|모든|기존)[^.\n]{0,12}(?:지시|명령|지침|프롬프트|규칙)[^.\n]{0,8}(?:무시|잊)"),
        ("تجاهل|انس|تغاضى & تعليمات|أوامر|الأوامر|التوجيهات|القواعد", r"(?:تجاهل|انس|تغاضى)[^.\n]{0,30}(?:تعليمات|التعليمات|الأوامر|أوامر|التوجيهات|القواعد)"),
        ("دستور & نادیده|فراموش", r"دستور[^.\n]{0,30}(?:نادیده|فراموش)"),
        ("התעלמ|התעלם|שכח", r"(?:התעלמ|התעלם|שכח)[^.\n]{0,30}(?:הוראות|ההוראות|הנחיות|ההנחיות)"),
        ("निर्देश|आदेश|नियम", r"(?:पिछले|पूर्व|सभी|ऊपर|पहले)[^।\n]{0,24}(?:निर्देश|आदेश|नियम)[^।\n]{0,24}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)"),
        ("bỏ|phớt|quên & hướng|chỉ|mệnh|quy", rf"(?:bỏ\s+qua|phớt\s+lờ|quên){_W}(?:hướng\s+dẫn|chỉ\s+dẫn|chỉ\s+thị|mệnh\s+lệnh|quy\s+tắc)"),
        ("abaikan|lupakan", rf"\b(?:abaikan|lupakan){_W}(?:instruksi|perintah|petunjuk|arahan|aturan)"),
        ("คำสั่ง|คำแนะนำ|กฎ", r"(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม)[^\n]{0,24}(?:คำสั่ง|คำแนะนำ|กฎ)"),
        ("αγνό|αγνοή|ξέχα & οδηγί|εντολ", rf"(?:αγνό|αγνοή|ξέχα){_L}{_W}(?:οδηγί|εντολ){_L}"),
        ("ignor|uit & instrucțiun|instructiun|regul", rf"(?:ignor{_L}|uit{_L}){_W}(?:instrucțiun|instructiun|regul){_L}"),
        ("figyelmen|felejtsd & utasítás|szabály", rf"(?:figyelmen\s+kívül|felejtsd\s+el){_W}(?:utasítás|szabály){_L}"),
        ("unohda|ohita & ohje|sääntö|käsky", rf"\b(?:unohda|ohita){_W}(?:ohje|ohjee|sääntö|käsky){_L}"),
    )
) + tuple(
    ("secrecy", 0.4, needs, pattern)
    for needs, pattern in (
        ("用户|使用者|用戶", r"(?:不要|别|勿)(?:告诉|告訴|通知|提醒)(?:用户|使用者|用戶)"),
        ("ユーザーに", r"ユーザーに(?:は)?[^。\n]{0,8}(?:言わ|知らせ|伝え|教え)な"),
        ("사용자에게", r"사용자에게[^.\n]{0,10}(?:말하지|알리지)"),
        ("nutzer|anwender", rf"(?:benutzer|nutzer|anwender){_L}\s+(?:nichts|nicht|kein){_L}|ohne\s+(?:den|die)\s+(?:benutzer|nutzer)"),
        ("utilisateur", r"(?:dis|dites|informe[zr]?|parle[zr]?)\s+(?:\S+\s+){0,4}?(?:à\s+)?l['’]utilisateur"),
        ("usuario & no", r"no\s+(?:se\s+lo\s+|le\s+)?(?:digas|diga|informes|informe|menciones|avises)\s+(?:\S+\s+){0,4}?usuario"),
        ("пользовател", rf"не\s+(?:говори|сообщай|рассказывай|упоминай){_L}\s+(?:\S+\s+){{0,3}}?пользовател{_L}"),
        ("المستخدم", r"(?:لا\s+تخبر|دون\s+إخبار|لا\s+تذكر)[^.\n]{0,20}المستخدم"),
    )
) + tuple(
    ("new orders", 0.45, needs, pattern)
    for needs, pattern in (
        ("从现在|從現在|现在是|現在是", r"(?:从现在起|从现在开始|從現在起|你现在是|你現在是)"),
        ("指令|提示|命令", r"(?:系统|系統|管理员|管理員)(?:指令|提示|命令)\s*[:：]"),
        ("これからあなたは|システム", r"これからあなたは|システム(?:指示|命令|プロンプト)\s*[:：]"),
        ("지금부터|시스템", r"지금부터\s*(?:너|당신)|시스템\s*(?:명령|지시)\s*[:：]"),
        ("теперь|момента|отныне|системн", r"(?:теперь|с\s+этого\s+момента|отныне)\s+ты\b|системн\S+\s+(?:команда|инструкция|сообщение)\s*:"),
        ("partir|instrucción", r"\ba\s+partir\s+de\s+ahora,?\s+(?:eres|debes|tu|tienes)\b|\binstrucción\s+del\s+sistema\s*:"),
        ("jetzt|sofort|systemanweisung|systembefehl", r"\bab\s+(?:jetzt|sofort)\s+(?:bist|musst|wirst|sollst)\s+du\b|\bsystem(?:anweisung|befehl)\s*:"),
        ("partir|sormais", r"à\s+partir\s+de\s+maintenant,?\s+(?:tu|vous)\b|\bd[eé]sormais,?\s+(?:tu|vous)\s+(?:es|êtes|dois|devez)\b"),
        ("partir|poi", r"\ba\s+partir\s+de\s+agora,?\s+(?:você|voce|tu)\b|\bd['’]ora\s+in\s+poi\s+(?:sei|devi|tu)\b"),
        ("الآن", r"من\s+الآن\s+فصاعدا|أنت\s+الآن\s+"),
        ("अब से", r"अब\s+से\s+(?:आप|तुम)"),
    )
)
# fmt: on
