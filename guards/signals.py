"""What an injected instruction looks like: one table of patterns, each with what it weighs.

A single ordinary sentence must not reach 0.5, from which a text is flagged: mails do say "ignore my
last note", and manuals "do not ask the user". What weighs more has hardly an honest use inside a
tool's result, save in texts about injections themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .languages import OTHER_LANGUAGES


@dataclass(frozen=True, slots=True)
class Signal:
    """One pattern. Of one label only the heaviest hit in a passage counts."""

    label: str
    weight: float
    needs: str
    """Words without which the pattern cannot match: `a|b & c` is (a or b) and c; lower case."""
    pattern: str


def _gap(words: int) -> str:
    return rf"(?:\W+[\w'’]+){{0,{words}}}?\W+"


_ORDERS = (
    r"(?:instructions?|prompts?|directions|commands?|guidelines|directives|constraints|programming"
    r"|restrictions|safeguards|protocols?|orders)"
)
_BEFORE = (
    r"(?:previous|prior|above|preceding|earlier|former|your|initial|original|system|developer)"
)
_MACHINE = (
    r"(?:a\.?i\.?|llms?|language\s+models?|chatbots?|gpt(?:-?[0-9]\w*)?|chatgpt|claude|gemini|copilot"
    r"|llama|(?:ai|automated|virtual|llm)[\s-]+(?:assistants?|agents?|models?|systems?|tools?|bots?))"
)
_HIDDEN = (
    r"(?:\x1b\[(?:[0-9]{1,3};)*0?8m|<!--|display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt)?\b"
    r"|opacity\s*:\s*0\b|color\s*:\s*(?:#fff(?:fff)?\b|white|transparent)|\[//\]:\s*#|<\w+\s[^<>]*hidden|<template\b"
    r"|(?:left|text-indent|margin-left|top)\s*:\s*-[0-9]{3}|clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\()|\bheight\s*:\s*0(?:px)?\s*[;\"']|scale\(0\)"
    r"|\balt\s*=\s*\S|\baria-label\s*=\s*\S|\btitle\s*=\s*\S|!\[|\]\(\S+\s+[\"'])"
)

_OF_TURNS = (
    r"(?:<[|\x{FF5C}](?:[A-Za-z0-9]{1,12}[_\x{2581}]){0,3}(?:im|start|end|sep|eot|eom|system|user"
    r"|human|assistant|tools?|text|endoftext|calls?|channel|message|return|constrain|observation|turn"
    r"|role|header|sentence|chatbot|id|begin|outputs?|python|tag)(?:_token)?[|\x{FF5C}]>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|<</?SYS>>"
    r"|<(?:start|end)_of_turn>|\[(?:system|assistant|user|human)\]\(#[\w-]{1,30}\))"
)
"""Where a turn begins or ends, in the templates of conversations; one in quotes is only named."""

_GARBLED = (
    r"base\s?-?(?:16|32|58|64|85)|rot-?13|ciphers?|anagram(?:s|med)?|misspell(?:ings?)?|typos|homophonic"
    r"|alphanumeric\s+substitution|backwards?|in\s+reverse|reverse\s+sequence|character\s+order"
    r"|order\s+of\s+letters|(?:scramble|jumble\s+up|rearrange|group|substitute|shift\s+each|replace)\s+"
    r"(?:the\s+)?letters?|vowels|(?:remove|without)\s+(?:any\s+)?spaces|pig\s+latin|morse(?:\s+code)?"
    r"|emojis\s+(?:only|to\s+represent)|with\s+emojis|emoji\s+substitution"
)
"""How an answer is to look so that nobody reads it, or so that it slips past who looks for it."""

_O = (
    "instruct|prompt|direction|command|guideline|directive|constraint|programming|restriction"
    "|safeguard|protocol|order"
)
_M = "ai|a.i|llm|language|chatbot|gpt|claude|gemini|copilot|llama|automated|virtual"
"""Words that patterns need: of an order, of a machine."""

# fmt: off
_TABLE: tuple[tuple[str, float, str, str], ...] = (
    # To drop what it was told.
    ("override", 0.6, f"ignor|disregard|forget|overrid|bypass|discard|abandon|neglect & {_O}|rules|polic|training|context",
     rf"\b(?:ignor|disregard|forget|discard|abandon|neglect)\w*\b{_gap(3)}"
     rf"{_BEFORE}{_gap(2)}(?:{_ORDERS}|rules|polic(?:y|ies)|training|context)\b"
     rf"|\b(?:overrid|bypass)\w*\W+(?:all\W+|any\W+|of\W+)*(?:your|my|these)\W+(?:\w+\W+)?(?:{_ORDERS}|rules|training)\b"),
    ("override", 0.6, "ignor|disregard|forget & above|before|told|instruct|learned|far|previous",
     r"\b(?:ignor|disregard|forget)\w*\W+(?:about\W+)?(?:all|everything|anything|what(?:ever)?)\b"
     r"(?:\W+\w+){0,4}?\W+(?:above|before\s+this|told|instructed|learned|so\s+far|previously)\b"),
    ("override", 0.55, f"follow|obey|adher|compl & {_O}",
     rf"\b(?:do\s+not|don'?t|never|stop|no\s+longer|cease)\s+(?:follow|obey|adher|comply)\w*{_gap(3)}"
     rf"{_BEFORE}\W+(?:\w+\W+)?{_ORDERS}\b"),
    ("override", 0.4, f"ignor|disregard|forget|overrid|bypass & {_O}",
     rf"\b(?:ignor|disregard|forget|overrid|bypass)\w*\W+(?:all|any|every)\W+(?:\w+\W+){{0,2}}?{_ORDERS}\b"),
    ("override", 0.5, "user|human|operator & ignor|disregard|forget|follow|obey",
     r"\b(?:ignor|disregard|forget)\w*\W+(?:(?:whatever|what|anything|everything|all|that|the)\W+){0,3}?(?:user|human|operator)(?:['’]s)?\W+"
     r"(?:said|says|asked|asks|wants|wrote|told|requests?|instructions?|questions?|orders?|commands?|messages?|prompts?|tasks?)\b"
     r"|\b(?:do\s+not|don'?t|stop|never)\s+(?:follow|obey)\w*\W+(?:the\W+)?(?:user|human|operator)(?:['’]s)?\W+(?:instructions?|requests?|orders?|commands?)\b"),
    ("override", 0.45, "your & void|cancel|revoked|invalid|longer|null|overridden|superseded|obsolete",
     r"\byour\s+(?:(?:previous|prior|earlier|former|original|above|initial)\s+)(?:instructions|prompts?|guidelines|rules|directives|programming)\s+"
     r"(?:are|is|were|ha(?:s|ve)\s+been)\s+(?:now\s+)?(?:void|cancell?ed|revoked|invalid|null|overridden|superseded|obsolete|no\s+longer)\b"),
    ("override", 0.5, "overrid",
     r"\bsystem\s+override\b|\boverride\s+(?:code|command|authori[sz]ation)\s*:"),
    # To be somebody else.
    ("new orders", 0.45, "instruct|objective|mission|prompt|directive|order",
     r"\b(?:new|updated|revised|real|actual|true)\W+(?:system\W+|user\W+)?"
     r"(?:instructions?|objective|mission|prompt|directives?|orders)\s*:"),
    ("new orders", 0.3, "you & have & new", r"\byou\s+(?:now\s+)?have\s+a\s+new\s+(?:goal|objective|mission|purpose)\b"),
    ("new orders", 0.45, "your & task|goal|job|role|objective|mission|instruct|purpose & new|real|actual|true|only",
     r"\byour\s+(?:new|real|actual|true|only)\s+(?:task|goal|job|role|objective|mission|instructions?|purpose)\b"),
    ("new orders", 0.45, "from & now|point & you|your|always|never|only|respond|answer|act",
     r"\bfrom\s+(?:now|this\s+point)\s+on(?:wards?)?,?\s+(?:you|your|always|never|only|respond|answer|act)\b"),
    # To drop what it has before it, and to say something else.
    ("override", 0.55, "ignor|disregard|forget|skip & print|say|reply|respond|output|repeat|answer|translat|report|return|tell",
     rf"\b(?:ignore|disregard|forget|skip)\W+(?:(?:all|any|the|these|those|other|your|this)\W+){{0,3}}(?:{_ORDERS})\W+(?:and|but|then|instead)\W+(?:\w+\W+){{0,2}}?"
     r"(?:print|say|reply|respond|output|repeat|answer|translate|report|tell)\b"),
    ("override", 0.5, "ignor|disregard|forget & print|say|reply|respond|output|repeat|answer|translat|report|tell & data|text|document|content|page|article|mail|message|snippet|info",
     r"\b(?:ignore|disregard|forget)\W+(?:all\W+)?(?:(?:the|any)\W+)?(?:(?:rest|remainder)\W+of\W+(?:this|the|these)|other|this|these)\W+"
     r"(?:data|text|documents?|content|page|article|e?mail|message|snippets?|info(?:rmation)?)\W+(?:(?:and|but|then|instead|just|only|simply)\W+){0,3}(?:print|say|reply|respond|output|repeat|answer|report|tell)\b"),
    ("override", 0.5, "ignor|disregard|forget & except|but|other than",
     r"\b(?:ignore|disregard|forget)\W+(?:all|everything|anything|any)\W+(?:\w+\W+){0,3}?(?:except|but|other\W+than)\W+(?:for\W+)?(?:the\W+|this\W+)?(?:following|information|below)\b"),
    ("override", 0.55, "stop everything", r"\bstop\s+everything\b\W+(?:now\W+)?(?:just\W+|and\W+|only\W+)?(?:print|say|reply|respond|output|repeat|answer|do)\b"),
    ("new orders", 0.35, "focus & only|exclusive|solely", r"\bfocus\s+(?:only|exclusively|solely)\s+on\s+(?:the\s+)?(?:following|information|positive)\b"),
    ("persona", 0.55, "developer|debug|admin|maintenance|god|root|unrestricted|jailb|dan|free|longer|evil & you & are",
     r"\byou\s+are\s+(?:now\s+)?(?:in\s+(?:developer|debug|admin|maintenance|god|root|unrestricted|jailbreak)\s+mode"
     r"|dan\b|unrestricted|jailbroken|free\s+from|no\s+longer\s+(?:bound|restricted|limited|an?\s+(?:\w+\s+)?(?:assistant|ai|chatbot|bot|model|language)|the\s+(?:\w+\s+)?(?:assistant|model))|evil)"),
    ("persona", 0.3, "now|pretend & you|pretend",
     r"\byou\s+are\s+now\s+(?:an?|the|my|acting|operating)\b|\bpretend\s+(?:that\s+)?(?:you|to\s+be)\b"),
    ("persona", 0.35, "assist|agent|bot|model & must|always|never|will",
     r"\byou\s+are\s+an?\s+(?:\w+\s+){0,2}?(?:assistant|agent|chatbot|bot|model)\s+(?:that|who|which)\s+(?:must|always|never|will)\b"),
    ("persona", 0.35, "you & have no", r"\byou\s+(?:now\s+)?have\s+no\s+(?:restrictions|rules|limits|limitations|filters|guidelines)\b"),
    ("role", 0.3, "role & system", r"\brole[\"']?\s*[:=]\s*[\"']?system\b"),
    ("persona", 0.3, "mode", r"\b(?:developer|debug)\s+mode\s+(?:is\s+)?(?:enabled|activated|on)\b"),
    ("persona", 0.6, "anything|mode|unrestricted|uncensored|unfiltered",
     r"\bdo\s+anything\s+now\b|\bdan\s+mode\b|\bgod\s+mode\s+(?:is\s+)?(?:enabled|activated|on)\b"
     r"|\b(?:unrestricted|uncensored|unfiltered)\s+(?:ai|mode|assistant|model)\b"),
    ("persona", 0.4, "safety|content|ethical & filter|guideline|measure|check|restriction|protocol|guardrail|polic",
     r"\b(?:disabl|turn\s+off|deactivat|remov|bypass|ignor)\w*\W+(?:all\W+|your\W+|any\W+|the\W+)*"
     r"(?:safety|content|ethical)\W+(?:filters?|guidelines|measures|checks|restrictions|protocols|guardrails|polic(?:y|ies))"),
    # The forms of a conversation, forged.
    ("role marker", 0.6, "inst]|<<|_of_turn|im_|_id|text|begin|start|end|system|user|assist|tool|channel|message|eot|turn|role|header|observation|call|return|constrain|sentence|chatbot|prompt & <|[",
     rf"(?:^|[^\"'`]){_OF_TURNS}|{_OF_TURNS}(?:[^\"'`]|$)"),
    ("role marker", 0.5, "invoke|function|tool & <", r"<(?:[a-z]{2,12}:)?(?:invoke\s+name\s*=|function_calls>|function=\w|tool_calls?>\s*[{\[<]|tool_use>)"),
    ("role marker", 0.5, "system]", r"(?:\[system\]\W{0,2}){3}"),
    ("end of the quotation", 0.5, "end of|end_of|rest|end-of",
     r"<\s{0,2}end[ _-]of[ _-](?:the[ _-])?(?:session|document|data|conversation|context|page|file|e?mail|message|text|input|user[ _-]input|prompt|results?|output)\s{0,2}>|\[rest[ _-]of[ _-][\w -]{3,20}\]"),
    ("end of the quotation", 0.5, "</",
     r"</(?:tool_(?:result|response|output|call)s?|function_(?:results?|response|calls?)|search_results?"
     r"|untrusted\w*|data-[0-9a-f]+|retrieved\w*|observation|user_data|external\w*)>"),
    ("end of the quotation", 0.5, "</",
     r"</(?:documents?|context|data|quote|content|email|page|text|result|output)>\W{0,20}"
     r"(?:system|assistant|user|human|admin|developer|instructions?|important|ignore|you|new|now)\b"),
    ("end of the quotation", 0.45, "end & data|document|context|result|tool|output|email|page|untrusted|user",
     r"(?:-{3,}|={3,}|#{3,}|\*{3,})\s*end\s+of\s+(?:the\s+)?(?:data|document|context|results?|tool|output|email|page|untrusted|user)"),
    ("role", 0.45, "system|assist|developer|admin",
     r"(?:^|[>\])|])\W{0,12}(?:system|(?:ai\s+)?assistant|developer|admin(?:istrator)?)\b[^:\n]{0,30}:\W{0,4}"
     r"(?:you|ignore|please|new|from\s+now|the\s+(?:user|assistant)|disregard|forget|do\s+not|don'?t|always|never|send|call|use"
     r"|execute|e?mail|forward|transfer|delete|run|override|urgent|important)\b"),
    ("role", 0.3, "system|assist|developer|admin",
     r"^\W{0,12}(?:system|assistant|developer)(?:\s+(?:message|prompt|instructions?|note|override|update))?\W{0,4}:\s"),
    ("role", 0.45, "overrid|instruct|prompt|directive|command & system|admin|developer|ai|llm|agent|assist",
     r"(?:\[|<|\*\*|={2,}|-{2,}|#{1,}|!{2,}|\()\s*(?:system|admin|developer|ai|llm|agent|assistant)[\s_-]*(?:-|:)?\s*"
     r"(?:override|instructions?|prompt|directive|command)s?\b"),
    ("role", 0.45, "new & system", r"\bnew\s+system\s+(?:message|prompt|instructions?)\s*:"),
    ("role", 0.35, "<",
     r"</?(?:important|information|instructions?|system(?:[-_ ]?(?:prompt|message|note|reminder|instructions?))?"
     r"|admin|override|prompt|secret|urgent)>"),
    ("turns", 0.55, "thought & action input", r"^\W{0,3}thought\s*:[^\n]{0,400}\n+\W{0,3}action\s*:\s*[\w.-]+\s*\n\W{0,3}action\s+input\s*:"),
    ("turns", 0.25, "# & response:|assistant:", r"^#{2,4}\s*(?:instruction|system|user|human)s?\s*:[^#]{0,600}^#{2,4}\s*(?:response|assistant)\s*:"),
    ("turns", 0.25, "human:|human :|user:|user : & assistant:|assistant :|ai:|ai :",
     r"^\W{0,6}(?:human|user) ?:[^\n]{0,400}\n+\W{0,6}(?:assistant|ai) ?:|^\W{0,6}(?:assistant|ai) ?:[^\n]{0,400}\n+\W{0,6}(?:human|user) ?:"),
    ("turns", 0.5, "human:|human :|user:|user : & [|<|(",
     r"(?:^|\b(?:assistant|ai|bot)\s*:)\W{0,4}[\[<(][A-Za-z]+(?: [\w'-]+){1,12}[\])>]\W{0,4}\n\W{0,6}(?:human|user) ?:"),
    # Addressed to the machine.
    ("addressed", 0.45, f"attention|note|message|instruct|notice|warning|reminder|hey|dear|request & {_M}|assist|agent",
     rf"\b(?:attention|note|message|instructions?|notice|warning|reminder|hey|dear|request)\b[\s,:!-]*"
     rf"(?:to\s+|for\s+)?(?:the\s+|any\s+|all\s+|an?\s+|you,?\s+|my\s+)?(?:{_MACHINE}|assistants?\s*[:,!]|agents?\s*[:!])\b?"),
    ("addressed", 0.5, f"if & you & {_M}|assist|reading",
     rf"\bif\s+you(?:'re|\s+are)\s+(?:(?:an?\s+|the\s+)?(?:{_MACHINE}|(?:digital\s+)?assistant)(?:\s+(?:assistant|agent|model|system|bot))?"
     r"(?:\s*[,.:;!?)\n—-]|\s+(?:and|or|reading|processing|summari[sz]ing|that|who|which|please|you|then|with|in)\b|$)|reading\s+this\s+as\b)"),
    ("addressed", 0.5, f"{_M}|assist|agent & reading|process|summar|parsing|reads|viewing|analy|handling",
     rf"\b(?:{_MACHINE}|assistants?|agents?)\s+(?:that\s+|who\s+|which\s+)?(?:is\s+|are\s+)?"
     r"(?:reading|processing|summari[sz]ing|parsing|reads?|process(?:es)?|viewing|analy[sz]ing|handling)\s+(?:this|these|it)\b"),
    ("addressed", 0.5, f"to|as & {_M}",
     rf"\bto\s+you,?\s+{_MACHINE}\b|\bas\s+an?\s+{_MACHINE}(?:\s+(?:assistant|model|agent))?,?\s+(?:you|your|please)\b"),
    ("addressed", 0.3, f"{_M}|assist|agent & must|shall|required|instruct|order|authori|need",
     rf"\b(?:{_MACHINE}|the\s+assistant|the\s+agent)\b(?:\W+\w+){{0,4}}?\W+"
     r"(?:must|shall|(?:is|are)\s+(?:required|instructed|ordered|authori[sz]ed)\s+to|needs?\s+to)\b"),
    ("addressed", 0.45, "note|message|instruct|notice|attention|metadata|profile & automat|machine |ai |llm ",
     r"\b(?:note|message|instructions?|notice|attention|metadata|profile)\b[^.:\n]{0,30}?\b(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:automated|automatic|machine|ai|llm) (?:\w+\s+)?"
     r"(?:software|systems?|screeners?|reviewers?|readers?|parsers?|scanners?|graders?|evaluators?|processors?|summari[sz]ers?)\s*:"),
    ("hidden place", 0.5, "visible & human|people|person|ai|llm|model",
     r"\binvisible\s+to\s+(?:the\s+)?(?:humans?|people|human\s+readers?)\b|\bvisible\s+only\s+to\s+(?:the\s+|an?\s+)?(?:ai|llms?|language\s+models?|machines?)\b"),
    # Before, or instead of, what the user asked.
    ("another task", 0.3, "before & please|must|first|need|have|make",
     r"\bbefore\s+(?:you\s+)?(?:can\s+)?(?:solv|answer|respond|reply|continu|proceed|complet|finish|do|summari"
     r"|perform|process|help|return)\w*\b(?:\W+\w+){0,14}?\W+(?:please|must|first|need\s+to|have\s+to|make\s+sure)\b"),
    ("another task", 0.45, "task & gave|given|assigned|asked",
     r"\b(?:the\s+)?task\s+(?:that\s+|which\s+)?(?:i|you\s+were|we|he|she|the\s+user)\s+(?:\w+\s+)?(?:gave|given|assigned|asked)\b"),
    ("another task", 0.45, "instead|rather|before|order & user|original|given|main & task|request|question|query|instruct",
     r"\b(?:instead\s+of|rather\s+than|before|in\s+order\s+to)\s+(?:\w+\s+){0,4}?(?:the\s+)?(?:user'?s?|original|given|main)\s+"
     r"(?:task|request|question|query|instructions?)\b"),
    ("another task", 0.25, "complete|order & task|request & must|should|need|have|first",
     r"\b(?:to\s+complete|in\s+order\s+to\s+(?:complete|finish|continue)\w*)\s+(?:this|the|your)\s+(?:task|request),?\s+(?:you\s+)?(?:must|should|need|have|first)\b"),
    ("another task", 0.3, "task|request & done|complet|finish & now|once|after",
     r"\b(?:now|once|after)\s+(?:that\s+)?(?:the|this|your)\s+(?:\w+\s+)?(?:task|request)\s+(?:is|has\s+been|was)\s+(?:done|completed?|finished)\b"),
    ("another task", 0.4, "important|todo & message|todo",
     r"\bimportant\s+message\s+from\s+(?:me|your|the)\b|\btodo\s*:\s*(?:send|forward|e?mail|transfer|delete|call)\b"),
    ("another task", 0.3, "if & ask|question & reply|respond|report|answer|say|tell",
     r"\bif\s+(?:(?:the|a|any)\s+)?(?:user\s+asks|users?\s+ask|asked|questioned|anyone\s+asks)\b[^.\n]{0,90}?\b(?:reply|respond|report|answer|say|tell)\b"),
    # Behind the user's back.
    ("secrecy", 0.4, "user|human|operator|owner & not|n't|dont|never|without|avoid & tell|mention|inform|reveal|show|alert|notify|disclos|ask|warn|let|say|report|explain",
     r"\b(?:do\s+not|don'?t|never|must\s+not|without|avoid)\s+(?:tell|mention|inform|reveal|show|alert|notify|disclos|ask|warn"
     r"|let|say|report|explain)\w*(?:\W+\w+){0,5}?\W+(?:user|human|operator|owner)s?\b"),
    ("secrecy", 0.5, "user|human|operator|owner & keep|hid|conceal",
     r"\b(?:keep|hide|conceal)\w*\s+(?:this|it|that|these)\b(?:\W+\w+){0,3}?\W+from\s+(?:the\s+|your\s+)?(?:user|human|owner|operator)\b"),
    ("secrecy", 0.4, "mention|reveal|disclos|acknowledge|refer & not|n't|dont|never",
     r"\b(?:do\s+not|don'?t|never)\s+(?:mention|reveal|disclose|acknowledge|refer\s+to)\s+(?:this|these|that\s+you|the\s+existence|receiving|having)\b"),
    ("secrecy", 0.35, "silently|secretly|covertly|quietly",
     r"\b(?:silently|secretly|covertly|quietly)\s+(?:\w+\s+)?(?:send|forward|e?mail|cc|bcc|add|include|append|upload|call|run|execute|delete|transfer)\b"),
    # What it should let out.
    ("let out", 0.45, "prompt|instruct|system|history|conversation|memor|context & reveal|print|repeat|output|show|display|tell|give|return|write|leak|disclos|dump|send|share|include|post|append",
     r"\b(?:reveal|print|repeat|output|show|display|tell|give|return|write|leak|disclose|dump|send|share|include|post|append)\w*\b"
     r"(?:\W+\w+){0,5}?\W+(?:system\s+prompt|your\s+(?:\w+\s+){0,2}?(?:instructions|prompts?|system\s+message|chat\s+history|conversation|memory|memories|context))\b"),
    ("let out", 0.5, "above & repeat|print|output|copy|quote",
     r"\b(?:repeat|print|output|copy|quote)\W+(?:everything|all|the\W+(?:text|words)|all\W+(?:the\W+)?(?:text|words|lines))\W+above\b[^\n]{0,40}?"
     r"(?:verbatim|word\s+for\s+word|starting\s+with|beginning\s+with|\byou\s+are\b)"),
    ("let out", 0.3, "api|password|credential|token|secret|private|ssh|environment|code|cookie|history|conversation|contact|inbox & send|forward|mail|post|upload|exfiltrate|transmit|leak|share|append|submit|copy|reveal|provide|include",
     r"\b(?:send|forward|e-?mail|mail|post|upload|exfiltrate|transmit|leak|share|append|submit|copy|reveal|provide|include)\b(?:\W+\w+){0,8}?\W+"
     r"(?:api[\s_-]?keys?|passwords?|credentials?|access[\s_-]?tokens?|secrets?|private\s+keys?|ssh\s+keys?|environment\s+variables"
     r"|(?:verification|security|2fa|otp)\s+codes?|session\s+cookies?|chat\s+history|conversation(?:\s+history)?|contacts|inbox)\b"),
    ("let out", 0.2, "http|@ & send|forward|mail|bcc|post|upload|transfer|wire|pay|share|invite|copy|exfiltrate",
     r"\b(?:send|forward|e-?mail|mail|bcc|post|upload|transfer|wire|pay|share|invite|copy|exfiltrate)\b(?:\W+[\w'.-]+){0,12}?\W+to\W+"
     r"(?:https?://|[\w.+-]+@[\w.-]+\.\w+)"),
    ("let out", 0.35, "http|![ & include|insert|append|add|embed|render|display|put & image|link|url|markdown|pixel",
     r"\b(?:include|insert|append|add|embed|render|display|put)\b(?:\W+\w+){0,6}?\W+(?:image|link|url|markdown|pixel)\b(?:\W+\w+){0,8}?\W+(?:https?://|!\[)"),
    ("let out", 0.55, "conversation|chat|message|secret|password & url|base64|percent|mime|printable",
     r"\b(?:url|percent|base64|mime|quoted-printable)[\s-]{0,2}encod\w*\b[^\n]{0,60}?\b(?:conversation|chat\s+history|previous\s+message|secrets|passwords)\b"
     r"|\b(?:summary|contents?|transcript|history|text)\s+of\s+[^\n.]{0,30}?\b(?:this|our|your|the)\s+(?:conversation|chat)\b[^\n]{0,60}?\b(?:in|as|using)\s+(?:url|percent|base64|mime|quoted-printable)"
     r"|\b(?:our|this|your)\s+conversation\s+(?:in|as)\s+(?:url|percent|base64|mime|quoted-printable)"),
    ("let out", 0.5, "replac & with & [|{|<",
     r"\breplac\w+\s+[\[{<]{1,2}[\w ]{2,30}[\]}>]{1,2}\s+with\s+(?:(?:the|a|your|all|any)\s+)?(?:user'?s?\s+)?(?:previous\s+message|(?:summary|content|text)s?\s+of\s+(?:the|this|our|your)\s+(?:conversation|chat|previous)"
     r"|conversation|chat\s+history|system\s+prompt|secrets?|passwords?|api\s+keys?)"),
    # What its answer should look like, or carry.
    ("answer", 0.5, "your & response|answer|reply|output",
     r"\b(?:add|insert|include|append|introduce)\b[^.\n]{0,60}?\b(?:sentence|line|statistic|headline|paragraph|phrase|reason|code\s+(?:snippet|block|excerpt)|advert\w*)s?\b"
     r"[^.\n]{0,60}?\b(?:in|to|into|within|throughout)\s+your\s+(?:response|output)s?\b"
     r"|\b(?:add|append|insert)\s+[\"\x{201C}][^\n\"]{5,200}[\"\x{201D}]\s[^.\n]{0,40}?\b(?:in|to|into)\s+your\s+(?:response|answer|output|reply)\b"
     r"|\b(?:integrate|embed|weave|inject|blend|slip)\s[^\n]{3,80}?\s(?:in|into|within|throughout)\s+your\s+(?:response|answer|output|reply)\b"
     r"|\b(?:augment|enhance)\s+your\s+(?:response|answer|output|reply)\s+(?:with|by|to)\b"
     r"|\bmodify\s+your\s+(?:response|answer|output|reply)\s+to\s+(?:mention|hint|promote|spread|highlight|express|suggest|recommend|advertise|claim)\b"),
    ("answer", 0.5, "your & response|answer|reply|output",
     rf"\b(?:{_GARBLED})\b[^.\n]{{0,50}}?\byour\s+(?:response|answer|output|reply)\b|\byour\s+(?:response|answer|output|reply)\b[^.\n]{{0,40}}?\b(?:{_GARBLED})\b"),
    ("let out", 0.5, "escape & spaces", r"\bescape\s+(?:all\s+)?spaces\s+(?:with|by|as)\s+(?:\+|%20)"),
    # What it should do.
    ("command", 0.25, "tool|function|command|plugin|action & call|invoke|run|execut|use|trigger",
     r"\b(?:you\s+(?:must|should|shall|need\s+to|have\s+to|are\s+to)|immediately|now|please|then|first|instead)\W+(?:\w+\W+){0,2}?"
     r"(?:call|invoke|run|execute|use|trigger)\s+(?:the\s+)?[`'\"]?[\w.-]+[`'\"]?\s+(?:tool|function|command|plugin|action)\b"),
    ("command", 0.35, "when & you & process|read|summari|open|see|handl",
     r"\bwhen(?:ever)?\s+you\s+(?:process|read|summari[sz]e|open|see|handle)\s+(?:this|these)\b[^.\n]{0,60}?\s(?:please\s+)?"
     r"(?:call|invoke|run|execute|send|forward|use|delete|transfer|include|add|append|print|reply)\b"),
    ("command", 0.25, "only & reply|respond|answer", r"\b(?:reply|respond|answer)\s+only\s+with\b"),
    ("command", 0.4, "nothing else & reply|respond|answer|output|print|say", r"\b(?:reply|respond|answer|output|print|say)\b[^.\n]{0,80}\band\s+(?:absolutely\s+)?nothing\s+else\b"),
    ("command", 0.4, "respond|reply|answer & simply|just", r"\b(?:simply|just)\s+(?:respond|reply|answer)\s+with\s+[\"'\x{201C}\x{2018}]"),
    ("command", 0.3, "must|required|instruct|order|command|imperative|mandatory & you",
     r"\b(?:you\s+must|you\s+are\s+(?:required|instructed|ordered|commanded)\s+to|it\s+is\s+(?:imperative|mandatory)\s+that\s+you)\W+(?:\w+\W+){0,2}?"
     r"(?:call|invoke|run|execute|send|forward|e?mail|transfer|delete|reply|respond|output|say|include|visit|open|download|approve|pay|buy)\b"),
    ("command", 0.2, "run|execut|pipe & curl|wget|rm -|bash|| sh",
     r"\b(?:run|execute|pipe)\W+(?:\w+\W+){0,2}?(?:curl|wget|rm\s+-|bash|sh\b)"),
    ("command", 0.45, "decod|decrypt|base64|rot13",
     r"\b(?:decod|decrypt|base64|rot13)\w*\b(?:\W+\w+){0,8}?\W+(?:and|then)\W+(?:\w+\W+){0,3}?(?:execut|follow|run|obey|perform|act|carry)\w*\b"),
    ("authority", 0.45, "developer|creator|admin|owner|operator & authori|order|command|instruct|permit|allow",
     r"\bas\s+(?:your|the)\s+(?:developer|creator|administrator|admin|owner|operator),?\s+i\s+(?:\w+\s+)?(?:authori[sz]e|order|command|instruct|permit|allow)\s+you\b"),
    ("authority", 0.4, "this|these|following & overrid|supersed|take|highest",
     r"\b(?:this|these|the\s+following)\s+(?:\w+\s+){0,3}?(?:overrides?|supersedes?|takes?\s+(?:precedence|priority)\s+over|ha(?:s|ve)\s+(?:the\s+)?highest\s+priority)\b"),
    ("authority", 0.4, "approved|authori|consent|agreed|confirmed|given & user",
     r"\b(?:the\s+)?user\s+(?:has|have)\s+(?:already\s+)?(?:pre-?)?(?:approved|authori[sz]ed|consented|agreed|confirmed|given\s+(?:permission|consent))\b"),
    ("authority", 0.3, "user & want|need|ask|expect|like & you",
     r"\b(?:the|this)\s+user\s+(?:\w+\s+)?(?:wants?|needs?|asked|expects?|would\s+like|instructed)\s+you\s+to\b"),
    ("authority", 0.4, "ask & permission|confirm|approv", r"\b(?:do\s+not|don'?t|need\s+not|no\s+need\s+to)\s+(?:(?:have|need)\s+to\s+)?ask\s+(?:(?:me|the\s+user|us|them)\s+)?for\s+(?:permission|confirmation|approval)\b"),
    ("authority", 0.35, "openai|anthropic|vendor|provider|confirmation|approval",
     r"\b(?:approved|authori[sz]ed|sent|issued|signed)\s+by\s+(?:openai|anthropic|the\s+(?:ai|llm)\s+(?:team|vendor|provider))\b|\bno\s+(?:further\s+)?(?:confirmation|approval)\s+(?:is\s+)?(?:needed|required|necessary)\b"),
    # Where a person does not look.
    ("hidden place", 0.4, "assist|llm|language|ai|prompt|must|ignor|disregard|forget|mention|instruct & \x1b[|<!--|display|visibility|font-size|opacity|color|[//]|hidden|alt|label|title|![|](|<template|indent|left|top|clip|height|scale",
     rf"{_HIDDEN}(?:[^<>]{{0,80}}>)?[^<>]{{0,300}}?\b(?:assistants?\b|llm|language\s+model|ai\s+(?:agent|model)|system\s+prompt|you\s+must"
     rf"|(?:ignore|disregard|forget)\s+(?:all|any|the|your|previous)|do\s+not\s+(?:tell|mention)|instructions?\s+(?:to|for)\s+(?:the\s+)?(?:ai|agent|model))"),
    # In a cheap disguise: the same words in rot13, or backwards.
    ("disguise", 0.6, "vtaber|qvfertneq|sbetrg|snoitcurtsni|tpmorp",
     r"\b(?:vtaber|qvfertneq|sbetrg)\b[^\n]{0,60}(?:vafgehpgvba|cebzcg|ehyrf)|(?:snoitcurtsni|tpmorp)\b[^\n]{0,60}\b(?:erongi|dragersid|tegrof)"),
)
# fmt: on


def signals() -> Iterator[Signal]:
    """The whole table, other languages included."""
    for row in (*_TABLE, *OTHER_LANGUAGES):
        yield Signal(*row)


ABOUT = (
    r"prompt[\s-]*injection|jailbreak(?:s|ing)?\b|injection\s+attack|injected\s+(?:instruction|prompt)|adversarial\s+prompt|red[\s-]?team"
    r"|\bOWASP\b|\bLLM01\b|indirect\s+injection|提示(?:词)?注入|プロンプト\s*インジェクション|프롬프트\s*인젝션"
)
"""Texts about injections quote them: such a text is flagged, never withheld for its phrases."""
