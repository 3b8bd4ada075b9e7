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
        ("теперь|момента|отныне|системн", r"(?:теперь|с\s+этого\s+момента|отныне)\s+ты(?:\s|$)|системн\S+\s+(?:команда|инструкция)\s*:"),
        ("partir|instrucción", r"\ba\s+partir\s+de\s+ahora,?\s+(?:eres|debes|tu|tienes)\b|\binstrucción\s+del\s+sistema\s*:"),
        ("jetzt|sofort|systemanweisung|systembefehl", r"\bab\s+(?:jetzt|sofort)\s+(?:bist|musst|wirst|sollst)\s+du\b|\bsystem(?:anweisung|befehl)\s*:"),
        ("partir|sormais", r"à\s+partir\s+de\s+maintenant,?\s+(?:tu|vous)\b|\bd[eé]sormais,?\s+(?:tu|vous)\s+(?:es|êtes|dois|devez)\b"),
        ("partir|poi", r"\ba\s+partir\s+de\s+agora,?\s+(?:você|voce|tu)(?:\s|$)|\bd['’]ora\s+in\s+poi\s+(?:sei|devi|tu)\b"),
        ("الآن", r"من\s+الآن\s+فصاعدا|أنت\s+الآن\s+"),
        ("अब से", r"अब\s+से\s+(?:आप|तुम)"),
    )
) + tuple(
    ("override", 0.45, needs, pattern)
    for needs, pattern in (
        ("alles & vergiss|vergessen|ignorier", r"\b(?:vergiss|vergessen\s+sie|ignoriere?(?:\s+sie)?)\s+alles\b"),
        ("tout ce", r"\b(?:oublie[zr]?|ignore[zr]?)\s+tout\s+ce\s+(?:que|qui)\b"),
        ("todo lo", r"\b(?:olvid\pL*|ignor\pL*)\s+todo\s+lo\s+(?:que|anterior)\b"),
        ("tudo o", r"\b(?:esque[çc]a|ignore)\s+tudo\s+o\s+que\b"),
        ("tutto", r"\b(?:dimentica\pL*|ignora\pL*)\s+tutto\s+(?:ciò|quello)\b"),
        ("забуд|игнорир", r"(?:забудь(?:те)?|игнорируй(?:те)?)\s+вс[её],?\s+что(?:\s|$)"),
        ("meinen anweisungen|meine anweisungen|meinen befehlen", r"\bnur\s+noch\s+meine[nr]?\s+(?:anweisungen|befehle)"),
    )
) + tuple(
    ("addressed", 0.5, needs, pattern)
    for needs, pattern in (
        ("ki-|ki |ai-", r"\b(?:an|für|achtung|hinweis|liebe[rs]?|hallo)\s*[,:]?\s*(?:(?:an|für)\s+)?(?:den\s+|die\s+|das\s+|alle\s+|jede[nr]?\s+)?(?:KI|AI)[ -]?(?:assistent|modell|agent|system|bot)\pL*\s?[:,!]"),
        ("assistant|agent|modèle & ia:|ia :|ia,|ia ,|ia!|ia !", r"(?:à|pour|attention)\s*,?\s+(?:l['’](?:attention\s+)?|le\s+|tout\s+|aux?\s+|les\s+)?(?:des\s+|de\s+l['’])?(?:assistant|agent|modèle)s?\s+(?:d['’])?IA\s?[:,!]"),
        ("asistente|assistente|agente|modelo & ia:|ia :|ia,|ia ,|ia!|ia !", r"(?:\bal?|\bpara|atención|aten[çc][ãa]o|querid[oa])\s*,?\s+(?:el\s+|o\s+|la\s+)?(?:asistente|assistente|agente|modelo)\s+(?:de\s+)?IA\s?[:,!]"),
        ("助手|助理|模型|智能体", r"(?:致|给|請|请)(?:各位|所有)?(?:AI|人工智能|智能)\s?(?:助手|助理|模型|智能体)\s?[:：，,]"),
        ("アシスタント|エージェント", r"(?:AI|人工知能)\s?(?:アシスタント|エージェント|モデル)(?:へ|の皆さんへ|に告ぐ)"),
        ("어시스턴트|에이전트", r"(?:AI|인공지능)\s?(?:어시스턴트|에이전트|모델)(?:에게|님)"),
        ("ассистент|помощник|модел & ии|внимани", r"(?:внимание|для|обращение|к)\s*,?\s+(?:всем\s+|все\s+)?(?:ИИ|AI)[- ]?(?:ассистент|помощник|модел|агент)\pL*\s?[:,!]"),
    )
) + tuple(
    ("another task", 0.3, needs, pattern)
    for needs, pattern in (
        ("bevor", r"\bbevor\s+(?:du|sie)\s+(?:\S+\s+){0,3}?(?:antworte|fortf[äa]hr|weitermach)\pL*"),
        ("avant de", r"\bavant\s+de\s+(?:répondre|continuer|poursuivre)"),
        ("antes de", r"\bantes\s+de\s+(?:responder|continuar|contestar)"),
        ("prima di", r"\bprima\s+di\s+(?:rispondere|continuare)"),
        ("之前", r"(?:回答|回复|继续|答复)(?:用户|问题)?之前"),
        ("前に", r"(?:回答|返答|続行)(?:する)?前に"),
        ("전에", r"(?:답변|대답|계속)하기\s?전에"),
        ("ответ", r"(?:перед\s+(?:тем,?\s+как\s+)?ответ\pL*|прежде\s+чем\s+(?:от|про)\pL+)"),
    )
) + tuple(
    ("command", 0.3, needs, pattern)
    for needs, pattern in (
        ("_ & ruf|führ|appelle|exécute|llam|ejecut|chame|chama|chiam|esegui|вызови|выполни|запусти", r"\b(?:ruf\pL*|führ\pL*|appelle[zr]?|exécute[zr]?|llam[ae]\pL*|ejecut\pL+|cham[ae]|chiam[aia]+|esegui|вызови(?:те)?|выполни(?:те)?|запусти(?:те)?)\s+(?:\S+\s+){0,3}?[`'\"]?[a-z]+_[a-z_]+"),
        ("调用|執行|执行|運行|运行", r"(?:调用|執行|执行|運行|运行)\s?[`'\"「]?[a-z]+_[a-z_]+|必须执行(?:以下|下列)?(?:指令|命令)"),
        ("呼び出|実行", r"[a-z]+_[a-z_]+\s?(?:を|関数を|ツールを)?\s?(?:呼び出|実行)"),
        ("호출|실행", r"[a-z]+_[a-z_]+\s?(?:을|를|함수를|도구를)?\s?(?:호출|실행)"),
    )
) + tuple(
    ("let out", 0.25, needs, pattern)
    for needs, pattern in (
        ("@|http & leite|sende|schick|überweis|transf|envoi|envoy|reenv|envi|enví|encaminh|inoltra|invia|stuur|prześlij|wyślij", r"\b(?:leite[nt]?|sende[nt]?|schick\pL*|überweis\pL*|transf[eéè]\pL*|envoi\pL*|envoy\pL*|reenv[ií]\pL*|env[ií][ae]\pL*|encaminh\pL*|inoltra\pL*|invia\pL*|stuur\pL*|prześlij|wyślij)(?:\s+\S+){0,8}?\s+\S*(?:@|https?://)"),
        ("@|http & перешли|отправь|перенаправь", r"(?:перешли|отправь|перенаправь)\pL*(?:\s+\S+){0,8}?\s+\S*(?:@|https?://)"),
        ("@|http & 转发|转寄|发送|發送|轉發|發到|发到", r"(?:转发|转寄|发送|發送|轉發|發到|发到)(?:到|给|至)?\s?\S*(?:@|https?://)"),
        ("@|http & 転送|送信|送って", r"(?:@|https?://)\S*\s?(?:に|へ|宛に)\s?(?:転送|送信|送って)"),
        ("@|http & 전달|전송|보내", r"(?:@|https?://)\S*\s?(?:로|으로|에게)\s?(?:전달|전송|보내)"),
    )
) + tuple(
    ("let out", 0.45, needs, pattern)
    for needs, pattern in (
        ("systemprompt|system-prompt", r"\b(?:zeig|nenn|verrat|gib|offenbar|wiederhol)\pL*\s+(?:\S+\s+){0,4}?system-?prompt"),
        ("prompt & révèle|affiche|donne|répète|montre", r"\b(?:révèle|affiche|donne|répète|montre)\pL*\s+(?:\S+\s+){0,3}?(?:prompt|invite)\s?(?:système|initial)?"),
        ("prompt & revel|muestra|mostr|repit|repet|dime", r"\b(?:revel|muestra|mostr|repit|repet|dime)\pL*\s+(?:\S+\s+){0,3}?prompt"),
        ("提示词|提示詞|系统提示", r"(?:输出|显示|告诉|重复|泄露|透露|输出你)[^。\n]{0,10}(?:系统)?(?:提示词|提示詞|系统提示)"),
        ("プロンプト", r"システム\s?プロンプト[^。\n]{0,6}(?:表示|教え|出力|開示)"),
        ("промпт", r"(?:раскрой|покажи|выведи|повтори|сообщи)\pL*\s+(?:\S+\s+){0,3}?промпт"),
    )
) + tuple(
    ("persona", 0.35, needs, pattern)
    for needs, pattern in (
        ("du bist", r"\bdu\s+bist\s+(?:jetzt|nun|ab\s+sofort)\b"),
        ("tu es|vous êtes", r"\b(?:tu\s+es|vous\s+êtes)\s+(?:maintenant|désormais)\b"),
        ("ahora eres|eres ahora", r"\b(?:ahora\s+eres|eres\s+ahora)\b"),
        ("regeln|einschränkung|restric|restriç|限制|制限|ограничен|제한", r"\bohne\s+(?:regeln|einschränkungen)\b|\bsans\s+(?:aucune\s+)?restrictions?\b|\bsin\s+(?:ninguna\s+)?restricci(?:ones|ón)\b|\bsem\s+restrições|без\s+ограничений|(?:没有|沒有|不受)(?:任何)?限制|制限のない|제한\s?없는"),
        ("entwicklermodus|développeur|desarrollador|разработчика|开发者模式|開発者モード|개발자", r"\bentwicklermodus\b|\bmode\s+développeur\b|\bmodo\s+(?:de\s+)?desarrollador\b|режим\pL*\s+разработчика|开发者模式|開発者モード|개발자\s?모드"),
    )
) + tuple(
    ("role", 0.3, needs, pattern)
    for needs, pattern in (
        ("systemnachricht|message système|message du système|mensaje del sistema|mensagem do sistema|消息|メッセージ|системное", r"(?im)^\W{0,9}(?:systemnachricht|message\s+(?:du\s+)?système|mensaje\s+del\s+sistema|mensagem\s+do\s+sistema|系统消息|系統消息|システム\s?メッセージ|системное\s+сообщение)\s?[:：]"),
    )
) + tuple(
    ("secrecy", 0.4, needs, pattern)
    for needs, pattern in (
        ("ユーザー", r"ユーザーに(?:は)?[^。\n]{0,8}(?:伝え|知らせ|言わ)ず"),
        ("benutzer|nutzer|anwender & erwähn|verrat|sag|inform", r"\b(?:erwähn|verrat|verschweig)\pL*\s+(?:\S+\s+){0,5}?(?:be)?nutzer|\binformier\pL*\s+(?:\S+\s+){0,2}?(?:be)?nutzer\pL*\s+nicht"),
        ("usuário|usuario", r"\bnão\s+(?:conte|diga|informe|mencione)\s+(?:\S+\s+){0,3}?usu[áa]rio"),
        ("utente", r"\bnon\s+(?:dire|dirlo|informare|menzionare)\s+(?:\S+\s+){0,3}?(?:all['’])?\s?utente"),
        ("gebruiker", r"\b(?:vertel|zeg|meld)\pL*\s+(?:\S+\s+){0,2}?(?:de\s+)?gebruiker\s+(?:niets|niet)|\bzonder\s+de\s+gebruiker"),
    )
) + tuple(
    ("new orders", 0.45, needs, pattern)
    for needs, pattern in (
        ("anweisung|instructions|instrucciones|instruções|инструкци", r"(?:^|[.!?]\s)\W{0,6}(?:neue\s+(?:system)?anweisung(?:en)?|nouvelles\s+instructions|nuevas\s+instrucciones|novas\s+instruções|новые\s+инструкции)(?:\s+(?:du\s+système|del\s+sistema|do\s+sistema|für\s+dich))?\s?:"),
    )
)
# fmt: on
