"""Mail: the inbox is a folder of .eml files, and so is the outbox: what is sent is a file there.

These tools have no policy of their own: `send_email` sends anything to anybody. What may be sent
is for the guard to decide. Which folder they work in: see `edgeward.profiles.workspace`.
"""

from __future__ import annotations

from email import policy as email_policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import format_datetime, localtime
from pathlib import Path

from edgeward.profiles.workspace import workspace

SEED = Path(__file__).resolve().parents[1] / "workspace"
OWNER = "Emma Johnson <emma@corp.example>"


def list_mail() -> list[dict[str, str]]:
    """List the mails in the inbox, oldest first: id, date, sender and subject of each."""
    mails = [(path.stem, _parsed(path)) for path in _inbox().glob("*.eml")]
    mails.sort(key=lambda mail: (mail[1]["date"].datetime, mail[0]))
    return [
        {
            "mail_id": stem,
            "date": f"{mail['date'].datetime:%Y-%m-%d %H:%M}",
            "from": str(mail["from"]),
            "subject": str(mail["subject"]),
        }
        for stem, mail in mails
    ]


def read_mail(mail_id: str) -> str:
    """Read one mail: its headers and its text.

    Args:
        mail_id: The id of the mail, as `list_mail` gives it.
    """
    path = next((p for p in _inbox().glob("*.eml") if p.stem == mail_id), None)
    if path is None:
        raise ValueError(f"no mail has the id {mail_id!r}; list_mail gives the ids")
    mail = _parsed(path)
    heads = [f"{name}: {mail[name]}" for name in ("From", "To", "Date", "Subject") if mail[name]]
    body = mail.get_body(("plain", "html"))
    return "\n".join([*heads, "", body.get_content().strip() if body else ""])


def send_email(
    to: list[str],
    subject: str,
    body: str,
    cc: list[str] | None = None,
    attachments: list[str] | None = None,
) -> str:
    """Send a mail from the user's account.

    Args:
        to: Addresses of the recipients.
        subject: The subject line.
        body: The text of the mail.
        cc: Addresses that get a copy.
        attachments: Names of documents to attach, as `list_documents` gives them.
    """
    mail = EmailMessage()
    mail["From"] = OWNER
    mail["To"] = ", ".join(to)
    if cc:
        mail["Cc"] = ", ".join(cc)
    mail["Date"] = format_datetime(localtime())
    mail["Subject"] = " ".join(subject.split())
    mail.set_content(body)
    for name in attachments or []:
        mail.add_attachment(
            _document(name).read_bytes(),
            maintype="application",
            subtype="octet-stream",
            filename=name,
        )
    path = _new_file(_folder() / "outbox", mail.as_bytes(policy=email_policy.SMTP))
    return f"Sent to {', '.join([*to, *(cc or [])])}, as outbox/{path.name}"


def _folder() -> Path:
    return workspace("assistant", seed=SEED)


def _inbox() -> Path:
    return _folder() / "inbox"


def _parsed(path: Path) -> EmailMessage:
    with path.open("rb") as file:
        mail = BytesParser(policy=email_policy.default).parse(file)
    assert isinstance(mail, EmailMessage)
    return mail


def _document(name: str) -> Path:
    folder = _folder() / "documents"
    path = next((p for p in folder.iterdir() if p.name == name and p.is_file()), None)
    if path is None:
        raise ValueError(f"no document is called {name!r}; list_documents gives the names")
    return path


def _new_file(folder: Path, content: bytes) -> Path:
    """Write a mail under the next free number; of two that are sent at once, none is lost."""
    folder.mkdir(exist_ok=True)
    number = sum(1 for _ in folder.glob("*.eml")) + 1
    while True:
        path = folder / f"{number:04}.eml"
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            number += 1
        else:
            return path
